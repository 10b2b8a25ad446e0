/* The simplex algorithm on the dual: maximise least*y over y >= 0 subject to rows^T*y <= cost, from
 * the basis of slacks. x is the prices. The result is a proposal: weight_function.c makes it valid
 * by the proof of tail_majorant.c. */
#include "conformal/simplex.h"
#include <math.h>

enum { STEPS = 500 };

typedef struct basis {
    const cr_linear_program *p;
    int column[CR_PROGRAM_MOST]; /* a row of the program; -1 - i: the slack of unknown i */
    double inverse[CR_PROGRAM_MOST][CR_PROGRAM_MOST];
    double value[CR_PROGRAM_MOST];
} basis;

static void begin(basis *b, const double *cost)
{
    for (int i = 0; i < b->p->unknowns; i++) {
        for (int k = 0; k < b->p->unknowns; k++) b->inverse[i][k] = i == k;
        b->column[i] = -1 - i;
        b->value[i] = cost[i];
    }
}

static void price(const basis *b, double *x)
{
    for (int k = 0; k < b->p->unknowns; k++) x[k] = 0;
    for (int i = 0; i < b->p->unknowns; i++) {
        if (b->column[i] < 0) continue;
        const double least = b->p->least[b->column[i]];
        for (int k = 0; k < b->p->unknowns; k++) x[k] += least * b->inverse[i][k];
    }
}

/* Returns the most violated row, or -1 - i if x[i] is the most negative price. */
static int worst(const basis *b, const double *x, double tolerance)
{
    int found = CR_PROGRAM_ROWS;
    for (int i = 0; i < b->p->unknowns; i++) {
        if (!(-x[i] > tolerance)) continue;
        tolerance = -x[i];
        found = -1 - i;
    }
    for (int r = 0; r < b->p->rows; r++) {
        double lack = b->p->least[r];
        for (int k = 0; k < b->p->unknowns; k++) lack -= (double)b->p->row[r][k] * x[k];
        if (!(lack > tolerance)) continue;
        tolerance = lack;
        found = r;
    }
    return found;
}

/* Sets the change of the basis by one unit of the column. Returns the place that first reaches 0,
 * or -1. */
static int leaving(const basis *b, int column, double *given)
{
    int place = -1;
    double first = INFINITY;
    for (int i = 0; i < b->p->unknowns; i++) {
        double sum = column < 0 ? b->inverse[i][-1 - column] : 0;
        for (int k = 0; column >= 0 && k < b->p->unknowns; k++)
            sum += b->inverse[i][k] * (double)b->p->row[column][k];
        given[i] = sum;
        if (!(sum > 1e-11 && b->value[i] / sum < first)) continue;
        first = b->value[i] / sum;
        place = i;
    }
    return place;
}

static void swap(basis *b, int place, int column, const double *given)
{
    const int count = b->p->unknowns;
    b->value[place] /= given[place];
    for (int k = 0; k < count; k++) b->inverse[place][k] /= given[place];
    for (int i = 0; i < count; i++) {
        if (i == place) continue;
        for (int k = 0; k < count; k++) b->inverse[i][k] -= given[i] * b->inverse[place][k];
        b->value[i] = fmax(0, b->value[i] - given[i] * b->value[place]);
    }
    b->column[place] = column;
}

void cr_simplex_solve(const cr_linear_program *p, const double *cost, double tolerance, double *x)
{
    basis b = {.p = p};
    double given[CR_PROGRAM_MOST];
    begin(&b, cost);
    price(&b, x);
    for (int step = 0; step < STEPS; step++) {
        const int column = worst(&b, x, tolerance);
        const int place = column == CR_PROGRAM_ROWS ? -1 : leaving(&b, column, given);
        if (place < 0) break;
        swap(&b, place, column, given);
        price(&b, x);
    }
    for (int k = 0; k < p->unknowns; k++) x[k] = fmax(0, x[k]);
}
