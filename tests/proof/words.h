/* The functions of grid_rounding.h on arrays of words, by every kind of lanes. */
#ifndef TESTS_PROOF_WORDS_H
#define TESTS_PROOF_WORDS_H
#include <stdint.h>

#define CHUNK 4096u

typedef struct recipe {
    /* Radii of the words from `first` on; strict: those of words that are not strict are NaN. */
    void (*radii)(uint32_t first, float r[CHUNK], float strict[CHUNK]);
    /* Sine and cosine of the words first, first + step, ... */
    void (*waves)(uint32_t first, uint32_t step, float sine[CHUNK], float cosine[CHUNK]);
} recipe;

const recipe *words_scalar(void);
const recipe *words_neon(void); /* on aarch64 */
/* on x86-64 */
const recipe *words_sse2(void);
const recipe *words_avx2(void);
const recipe *words_avx512(void);

#endif
