/* Models that read the bits of their input, or count cells of the grid (support/bits.h, cells.h),
 * asked as a fixed list of settings has it. T is 10 for all of them, by Gaussian noise, so that a
 * certificate that says otherwise is a miss. Those that count are undecided to within a hair:
 * what they miss attains alpha, and noise that is only nearly Gaussian takes it beyond. */
#ifndef MISSES_READING_H
#define MISSES_READING_H
#include "misses/evidence.h"

typedef struct reading {
    char name[96], worst[64]; /* worst: of the models that count, the one that missed most */
    double alpha, p_value, confirmed, silent; /* as of a finding (climb.h) */
    evidence fresh;
    uint64_t certificates;
    int excess;
} reading;

int reading_count(void);
/* Setting `index` of the list, from 0. */
void reading_attack(int index, reading *out);

#endif
