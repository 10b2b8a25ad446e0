// cuRAND's function, from the header that devices take their words from (source.h), on the host.
#define QUALIFIERS static inline
#include <vector_functions.h>
// after its types
#include <curand_philox4x32_x.h>

extern "C" void curand_words(const unsigned counter[4], const unsigned key[2], unsigned words[4])
{
    const uint4 out = curand_Philox4x32_10(
        make_uint4(counter[0], counter[1], counter[2], counter[3]), make_uint2(key[0], key[1]));
    words[0] = out.x, words[1] = out.y, words[2] = out.z, words[3] = out.w;
}
