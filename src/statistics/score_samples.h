/* Samples of one recorded output, or of all, seen through a score. All statistics read outputs in
 * this form. */
#ifndef CR_STATISTICS_SCORE_SAMPLES_H
#define CR_STATISTICS_SCORE_SAMPLES_H
#include "base/deadline.h"
#include "statistics/score.h"

typedef struct cr_samples {
    const float *y; /* of sample 0; the next sample is `stride` further */
    size_t stride;
    size_t first, count; /* samples first .. first+count-1 */
    const cr_score *score;
    double center;         /* subtracted from every score */
    cr_deadline *deadline; /* NULL: no deadline */
} cr_samples;

/* Returns score i about the center, 0 <= i < count. */
static inline double cr_samples_at(const cr_samples *s, size_t i)
{
    return cr_score_value(s->score, s->y + (s->first + i) * s->stride) - s->center;
}

/* Returns 1 if there is a sample i and the deadline has not passed. Every pass begins with
 * for (size_t i = 0; cr_samples_has(s, i); i++). */
static inline int cr_samples_has(const cr_samples *s, size_t i)
{
    return i < s->count && !cr_deadline_ends(s->deadline, i);
}

#endif
