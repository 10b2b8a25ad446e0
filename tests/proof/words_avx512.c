#include "words.h"
#if defined(__x86_64__)
#include "backend/lanes_avx512.h"
#include <string.h>
/* after the lanes */
#include "words_body.h"

const recipe *words_avx512(void)
{
    return &here;
}
#else
const recipe *words_avx512(void)
{
    return NULL;
}
#endif
