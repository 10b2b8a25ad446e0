/* Hostile models of one coordinate of the noise: steps, so that the distribution of the outputs is
 * known exactly at every shift. No shift of the same length does more than one along the
 * coordinate. Half-spaces, slabs, lattices, rare spikes and the steps of worst functions are all
 * of this kind.
 *
 * To add a family of laws, write one function in law.c, which law_draw calls; law_mutate says what
 * a search may change of it. A statistic is defined by its formula in points.c, without the
 * library; where rounding leaves a doubt, the definition takes the certificate's side. What can be
 * asked is drawn in setting.c: seeds name settings, so a change there renames them all. */
#ifndef MISSES_LAW_H
#define MISSES_LAW_H
#include "misses/points.h"
#include "support/simulate.h"

typedef struct law {
    int cells, outputs;
    double from[MOST_POINTS]; /* cell k begins here, in units of the noise; from[0] = -infinity */
    float value[MOST_POINTS][MOST_OUTPUTS]; /* NaN: failed */
    float noise_free[MOST_OUTPUTS];         /* f(z): anything, since noise never hits z */
    /* Where another input, of which nothing but the size matters, has a share `part` of its noise:
     * elsewhere the output is that of cell 0. Opposite noise is in the same place. */
    double part;
    int even; /* about some input, so that it is moved as a whole */
    /* The pilot's outputs have shares of their own. Every promise holds given the pilot, so that an
     * adversary may choose it. */
    int has_pilot;
    double pilot_share[MOST_POINTS];
    /* Cells (bits) that are made rarer, to simulate what is too rare to be seen; 0: none. */
    uint32_t tilted;
} law;

/* What laws of one setting have in common. */
typedef struct menu {
    int outputs, most_cells, ball, failures;
    int exact;   /* outputs exactly at the tolerance mean something */
    double turn; /* 0: numbers */
    double center[MOST_OUTPUTS], tolerance, lo, hi;
    int worst_functions;        /* of means */
    int falling;                /* many outputs, of which a large pilot knows the law */
    int hostile_pilot, divided; /* a failure rate, among several ways to fail */
    int even;    /* what fails for opposite noise alike may be worst; 2: all of it is one value */
    double rare; /* about one in so many samples */
} menu;

void law_draw(const menu *m, simulate_source *source, law *out);
/* Changes a little of it, of the size of `step`. */
void law_mutate(const menu *m, simulate_source *source, double step, law *l);
/* All steps moved by so much: the law seen from elsewhere. */
void law_translate(law *l, double by);

/* Probabilities of the cells at a shift, in the units of from, when the noise is `sigma` of them.
 */
void law_shares(const law *l, double sigma, double shift, double *share);
int law_cell(const law *l, double x);
/* The first cell whose outputs are the same. */
int law_like(const law *l, int cell);

/* Samples that are drawn together, and their cells, as law_like has them. */
typedef struct drawn {
    int one, other;
    double share;
} drawn;
enum { MOST_TOGETHER = MOST_POINTS + 1 };
/* All that samples of opposite noise may be; returns how many. */
int law_pairs(const law *l, double sigma, double shift, drawn *out);

#endif
