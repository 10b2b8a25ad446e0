/* Our noise against cuRAND's: the function of its header, from which devices have their words, and
 * its host generator, which needs the toolkit's library but no GPU. What is not there is said, and
 * no failure; the library is loaded when the test runs.
 *
 * Found by experiment, and held here: CURAND_RNG_PSEUDO_PHILOX4_32_10 with
 * CURAND_ORDERING_PSEUDO_LEGACY acts like 65536 device generators, one subsequence each, that take
 * turns in giving four words. Words (or normals) 4q .. 4q+3 are those of key = seed and counter =
 * (block, stream) with stream = q % 65536 and block = q / 65536: block of four number q / 65536 of
 * our stream q % 65536. */
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/backend.h"
#include "backend/grid_rounding.h"
#include "support/philox_block.h"
#include "support/suite.h"
#include <dlfcn.h>

/* gpu/curand_words.cpp; NULL where there is no toolkit to build it */
extern void curand_words(const unsigned counter[4], const unsigned key[2], unsigned words[4])
    __attribute__((weak));

/* three blocks of each stream */
enum { PHILOX = 161, LEGACY = 103, STREAMS = 65536, COUNT = 12 * STREAMS };

typedef struct curand { /* the part of libcurand in use */
    void *library;
    int (*create)(void **generator, int type);
    int (*destroy)(void *generator);
    int (*set_seed)(void *generator, unsigned long long seed);
    int (*set_ordering)(void *generator, int ordering);
    int (*words)(void *generator, unsigned int *out, size_t count);
    int (*normals)(void *generator, float *out, size_t count, float mean, float deviation);
} curand;

static int find(void *library, void *function, const char *name)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

static int load(curand *c)
{
    static const char *const names[] = {"libcurand.so.10", "libcurand.so",
                                        "/usr/local/cuda/lib64/libcurand.so"};
    for (int i = 0; !c->library && i < KIT_ROWS(names); i++)
        c->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return c->library && find(c->library, &c->create, "curandCreateGeneratorHost") &&
           find(c->library, &c->destroy, "curandDestroyGenerator") &&
           find(c->library, &c->set_seed, "curandSetPseudoRandomGeneratorSeed") &&
           find(c->library, &c->set_ordering, "curandSetGeneratorOrdering") &&
           find(c->library, &c->words, "curandGenerate") &&
           find(c->library, &c->normals, "curandGenerateNormal");
}

static curand theirs;
static int loaded; /* the tests of the library end at once without it */
static const uint64_t seeds[] = {0, 1, 0x0123456789ABCDEFu, UINT64_MAX};

static void *generator_of(uint64_t seed)
{
    void *generator = NULL;
    ck_assert_int_eq(theirs.create(&generator, PHILOX), 0);
    ck_assert_int_eq(theirs.set_seed(generator, seed), 0);
    ck_assert_int_eq(theirs.set_ordering(generator, LEGACY), 0);
    return generator;
}

/* All bits of the seed, of the stream and of the block's number in turns, and the last of each. */
TEST_TIMES(philox_words_are_those_of_curands_header, 3)
{
    for (int bit = 0; curand_words && bit <= 64; bit++) {
        const uint64_t some = bit < 64 ? UINT64_C(0x0123456789ABCDEF) ^ UINT64_C(1) << bit
                                       : UINT64_MAX,
                       seed = _i == 0 ? some : 5, stream = _i == 1 ? some : 6,
                       block = _i == 2 ? some : 7;
        const unsigned key[2] = {(unsigned)seed, (unsigned)(seed >> 32)},
                       counter[4] = {(unsigned)block, (unsigned)(block >> 32), (unsigned)stream,
                                     (unsigned)(stream >> 32)};
        unsigned header[4];
        uint32_t ours[4];
        curand_words(counter, key, header);
        philox_block(seed, stream, block, ours);
        for (size_t k = 0; k < 4; k++) ck_assert_uint_eq(ours[k], header[k]);
    }
}

TEST_ROWS(philox_words_are_those_of_curands_host_generator, seeds)
{
    if (!loaded) return;
    void *generator = generator_of(seeds[_i]);
    unsigned int *words = malloc(COUNT * sizeof *words);
    ck_assert_int_eq(theirs.words(generator, words, COUNT), 0);
    size_t q = 0;
    for (int same = 1; q < COUNT / 4 && same; q += (size_t)same) {
        uint32_t ours[4];
        philox_block(seeds[_i], q % STREAMS, q / STREAMS, ours);
        same = !memcmp(ours, words + 4 * q, sizeof ours);
    }
    ck_assert_msg(q == COUNT / 4, "a word from %zu on differs", 4 * q);
    free(words);
    theirs.destroy(generator);
}

TEST_ROWS(normal4_is_that_of_curand_but_for_rounding, seeds)
{
    if (!loaded) return;
    void *generator = generator_of(seeds[_i]);
    float *normals = malloc(COUNT * sizeof *normals);
    ck_assert_int_eq(theirs.normals(generator, normals, COUNT, 0.0f, 1.0f), 0);
    double worst = 0;
    for (size_t q = 0; q < COUNT / 4; q++) {
        uint32_t words[4];
        float ours[4];
        philox_block(seeds[_i], q % STREAMS, q / STREAMS, words);
        cr_normal4_from(words, 0, ours);
        for (size_t k = 0; k < 4; k++) {
            const double r = hypot((double)ours[k & 2], (double)ours[(k & 2) + 1]),
                         off = fabs((double)ours[k] - (double)normals[4 * q + k]);
            worst = fmax(worst, off / (3e-6 + 0x1p-25 / r));
        }
    }
    /* cuRAND rounds the angle to float, r * 6e-7, and u, which counts near 1. */
    ck_assert_msg(worst < 1, "normals differ by up to %g of what they may", worst);
    free(normals);
    theirs.destroy(generator);
}

TEST(draw_has_the_normals_of_curand_to_half_a_grid_step)
{
    enum { INPUTS = 4 }; /* one block per sample: sample i of stream s is quadruple 65536 i + s */
    if (!loaded) return;
    void *generator = generator_of(7);
    float *normals = malloc(COUNT * sizeof *normals), x[3 * INPUTS];
    const float zero[INPUTS] = {0}, one[INPUTS] = {1, 1, 1, 1};
    ck_assert_int_eq(theirs.normals(generator, normals, COUNT, 0.0f, 1.0f), 0);
    for (uint64_t stream = 0; stream < STREAMS; stream += 257) {
        const cr_noise noise = {.seed = 7, .noise_id = stream, .inputs = INPUTS};
        certreg_backend *backend = cr_backend_default();
        ck_assert_int_eq(backend->ops->draw(backend, &noise, &(cr_draw){zero, one, 0, 3, x}),
                         CERTREG_OK);
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < INPUTS; j++)
                ck_assert(fabsf(x[i * INPUTS + j] - normals[4 * (STREAMS * i + stream) + j]) <
                          0x1p-9f + 3e-6f);
    }
    free(normals);
    theirs.destroy(generator);
}

int main(void)
{
    loaded = load(&theirs);
    if (!curand_words) printf("unit_philox: skipped cuRAND's header, built without a toolkit\n");
    if (!loaded)
        printf("unit_philox: skipped cuRAND's library, none is usable (%s)\n",
               theirs.library ? "functions missing" : "not found");
    return kit_run(kit_suite("philox"));
}
