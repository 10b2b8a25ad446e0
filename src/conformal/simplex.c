/* The simplex algorithm on the dual: maximise bound*y over y >= 0 subject to rows^T*y <= cost, from
 * the basis of slacks. x is the prices. The result is a proposal: weight_function.c makes it valid
 * by the proof of tail_majorant.c. */
#include "conformal/simplex.h"
#include <math.h>

enum { MAX_STEPS = 500 };

typedef struct basis {
    const cr_linear_program *program;
    int column[CR_PROGRAM_MAX_UNKNOWNS]; /* a row of the program; -1 - i: the slack of unknown i */
    double inverse[CR_PROGRAM_MAX_UNKNOWNS][CR_PROGRAM_MAX_UNKNOWNS];
    double value[CR_PROGRAM_MAX_UNKNOWNS];
} basis;

static void init_basis(basis *b, const double *cost)
{
    for (int i = 0; i < b->program->unknowns; i++) {
        for (int k = 0; k < b->program->unknowns; k++) b->inverse[i][k] = i == k;
        b->column[i] = -1 - i;
        b->value[i] = cost[i];
    }
}

static void compute_dual_prices(const basis *b, double *x)
{
    for (int k = 0; k < b->program->unknowns; k++) x[k] = 0;
    for (int i = 0; i < b->program->unknowns; i++) {
        if (b->column[i] < 0) continue;
        const double bound = b->program->bound[b->column[i]];
        for (int k = 0; k < b->program->unknowns; k++) x[k] += bound * b->inverse[i][k];
    }
}

/* Returns the most violated row, or -1 - i if x[i] is the most negative price. */
static int entering_column(const basis *b, const double *x, double tolerance)
{
    int entering = CR_PROGRAM_MAX_ROWS;
    for (int i = 0; i < b->program->unknowns; i++) {
        if (!(-x[i] > tolerance)) continue;
        tolerance = -x[i];
        entering = -1 - i;
    }
    for (int r = 0; r < b->program->rows; r++) {
        double violation = b->program->bound[r];
        for (int k = 0; k < b->program->unknowns; k++)
            violation -= (double)b->program->row[r][k] * x[k];
        if (!(violation > tolerance)) continue;
        tolerance = violation;
        entering = r;
    }
    return entering;
}

/* Sets the change of the basis by one unit of the column. Returns the row that first reaches 0,
 * or -1. */
static int ratio_test(const basis *b, int column, double *column_change)
{
    int pivot_row = -1;
    double min_ratio = INFINITY;
    for (int i = 0; i < b->program->unknowns; i++) {
        double sum = column < 0 ? b->inverse[i][-1 - column] : 0;
        for (int k = 0; column >= 0 && k < b->program->unknowns; k++)
            sum += b->inverse[i][k] * (double)b->program->row[column][k];
        column_change[i] = sum;
        if (!(sum > 1e-11 && b->value[i] / sum < min_ratio)) continue;
        min_ratio = b->value[i] / sum;
        pivot_row = i;
    }
    return pivot_row;
}

static void pivot(basis *b, int pivot_row, int column, const double *column_change)
{
    const int count = b->program->unknowns;
    b->value[pivot_row] /= column_change[pivot_row];
    for (int k = 0; k < count; k++) b->inverse[pivot_row][k] /= column_change[pivot_row];
    for (int i = 0; i < count; i++) {
        if (i == pivot_row) continue;
        for (int k = 0; k < count; k++)
            b->inverse[i][k] -= column_change[i] * b->inverse[pivot_row][k];
        b->value[i] = fmax(0, b->value[i] - column_change[i] * b->value[pivot_row]);
    }
    b->column[pivot_row] = column;
}

void cr_simplex_solve(const cr_linear_program *program, const double *cost, double tolerance,
                      double *x)
{
    basis b = {.program = program};
    double column_change[CR_PROGRAM_MAX_UNKNOWNS];
    init_basis(&b, cost);
    compute_dual_prices(&b, x);
    for (int step = 0; step < MAX_STEPS; step++) {
        const int column = entering_column(&b, x, tolerance);
        const int pivot_row = column == CR_PROGRAM_MAX_ROWS ? -1
                                                            : ratio_test(&b, column, column_change);
        if (pivot_row < 0) break;
        pivot(&b, pivot_row, column, column_change);
        compute_dual_prices(&b, x);
    }
    for (int k = 0; k < program->unknowns; k++) x[k] = fmax(0, x[k]);
}
