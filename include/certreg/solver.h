/** @file solver.h
 * libcertreg: from bounds to worst cases and radii, without a model.
 *
 * This header is for programs that have bounds of their own: a mean, a variance, a
 * gradient norm, a range, from another sampler, from a proof, or written down by hand.
 * The solver answers how far the mean can move within a radius. The bisection answers
 * within which radius the mean stays where it has to. certreg_certify does all of this
 * by itself and needs neither. examples/bounds_by_hand.c is a complete program.
 *
 * Throughout, u is a function of z + sigma*D*e, e standard Gaussian, and its mean is
 * the mean over e. A certreg_bounds says what is known of u. An answer holds for every
 * function with these bounds and for every shift delta with ||D^-1 delta||_2 at most
 * the radius. The rules of certreg.h for structs, threads, memory and numbers hold here
 * as well.
 */
#ifndef CERTREG_SOLVER_H
#define CERTREG_SOLVER_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- bounds: what is known of a function */

/** Bounds of one scalar function u under the noise, estimated or filled by hand. */
typedef struct certreg_bounds {
    uint32_t struct_size;
    /* CERTREG_CONSTRAINT_... that hold; one that is not named is unknown, not 0. */
    uint32_t constraints;
    double sigma;                    /* > 0; radius/sigma is in units of the noise */
    double mean_lo, mean_hi;         /* MEAN */
    double variance_hi;              /* VARIANCE, >= 0 */
    double gradient_lo, gradient_hi; /* GRADIENT, >= 0, in output units */
    double range_lo, range_hi;       /* RANGE; either end may be infinite */
    double alpha;                    /* that they do not hold. For information */
    uint64_t samples;                /* behind them. For information */
    /* MOMENT: E (u - moment_center)^2 <= moment_hi; used where mean and variance are
     * named. */
    double moment_center, moment_hi;
} certreg_bounds;

/** The bounds behind one side of a question. With side = certificate.limiting_side they
 *  are those that limit its radius. About a prediction they are bounds of a score, not
 *  of the output: LOWER is u = s(f - prediction + tolerance), UPPER is u = s(prediction
 *  + tolerance - f), with s the sign, Huber's function or the identity, and T stays on
 *  that side while E u > 0 (with serving: while E u exceeds what fresh samples need).
 *  About the true mean both sides have the bounds of the output itself. A trimmed mean
 *  and a ball have one score for both sides, 1 where an output is near the prediction
 *  and -1 elsewhere. Of a vector they are those of the direction that limits it. Where
 *  CERTREG_CONSTRAINT_LAW limits, they are a mean and a range that prove less, or of
 *  the true mean nothing; whoever names constraints in the question has no law. The
 *  call is an evaluation: see "Evaluating a record again" in question.h.
 *  @param side  CERTREG_SIDE_...; the NEAR sides for the median and Huber of an angle
 *               only
 *  @param out   constraints 0 where the method abstains
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (gaps, too few
 *          samples); CERTREG_E_VERSION  @par Source theory 5.1, 6, 7 */
CERTREG_API certreg_status certreg_estimator_bounds(
    certreg_estimator *, const certreg_question *question, int32_t side,
    certreg_bounds *out);

/* ---- solver: bounds and a radius -> how far the mean can move */

/** Answers how far a mean can move within a radius. */
typedef struct certreg_solver certreg_solver;

/* Evaluations of the dual in one call: the default limits, and the least limits that a
 * plan may set. An evaluation takes some microseconds. */
enum certreg_evaluation_limit {
    CERTREG_WORST_CASE_EVALUATIONS = 2000,       /* of a solver: the default */
    CERTREG_LEAST_WORST_CASE_EVALUATIONS = 1000, /* of a solver: the least */
    CERTREG_RADIUS_EVALUATIONS = 14000,          /* of a bisection: the default */
    CERTREG_LEAST_RADIUS_EVALUATIONS = 4000      /* of a bisection: the least */
};

/** Zero all but struct_size: the default. */
typedef struct certreg_solver_plan {
    uint32_t struct_size;
    /* The most of one call. 0: CERTREG_WORST_CASE_EVALUATIONS; at most 1000000. A call
     * that reaches the limit returns a looser bound, never a wrong one. */
    uint32_t max_evaluations;
    void *memory;        /* 64-byte aligned; NULL: create allocates */
    size_t memory_bytes; /* at least certreg_solver_size(); unused without memory */
} certreg_solver_plan;

/** How far the mean of u can move within a radius. */
typedef struct certreg_mean_change {
    uint32_t struct_size;
    uint32_t constraints; /* those that were used */
    double drop, rise;    /* at most; rounded up; infinite where nothing bounds them */
    /* The ends of the shifted mean: tighter than mean_lo - drop and mean_hi + rise. */
    double mean_least, mean_greatest;
} certreg_mean_change;

/** What the last call cost, and how sure it is that its result is the best one. The
 *  result itself is sound in any case. */
typedef struct certreg_solve_info {
    uint32_t struct_size;
    /* How often the dual was evaluated: what max_evaluations limits. A radius of
     * several functions counts all of them, while the limit is for each. */
    uint32_t evaluations;
    uint64_t points; /* of all quadratures, a closed form being taken for 20: the
                        seconds are about proportional to it */
    /* Searches whose result is not known to be the best that the constraints allow. If
     * it is not 0, a larger max_evaluations may give a tighter result. */
    uint32_t loose;
    /* How often the two final evaluations of a bound disagreed and were repeated with a
     * finer quadrature. */
    uint32_t refinements;
    /* How often they still disagreed, or contradicted the theory, and a bound in closed
     * form was used instead. If it is not 0, the bounds are extreme, such as a range of
     * many orders of magnitude. Fewer constraints may then give as much. */
    uint32_t fallbacks;
    uint32_t reserved; /* 0 */
    double seconds;    /* of CLOCK_MONOTONIC */
} certreg_solve_info;

/** Bytes of a solver.  @par Threads any */
CERTREG_API size_t certreg_solver_size(void);

/** Makes a solver, which serves any number of calls, one after the other.
 *  @param plan  NULL: the default
 *  @param why   receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID, naming the field; CERTREG_E_NO_MEMORY;
 *          CERTREG_E_SMALL_MEMORY; CERTREG_E_VERSION
 *  @par Threads any
 *  @par Memory allocates where the plan has no memory */
CERTREG_API certreg_status certreg_solver_create(
    const certreg_solver_plan *plan, certreg_error *why, certreg_solver **out);

/** Frees it. NULL is allowed. */
CERTREG_API void certreg_solver_destroy(certreg_solver *);

/** How far the mean of u can move, over all functions with these bounds and all shifts
 *  up to a radius. Call it for several radii to draw the curve.
 *  @param constraints  mask of the constraints to use; 0: all in bounds->constraints
 *  @param radius       at least 0, in the unit of the noise (as a certificate's)
 *  @return CERTREG_OK; CERTREG_E_INVALID, naming the field; CERTREG_E_VERSION;
 *          CERTREG_E_INFEASIBLE: no function has these bounds; CERTREG_E_BUSY;
 *          CERTREG_E_WRONG_STATE: in a forked child
 *  @par Threads one call at a time per solver
 *  @par Memory does not allocate
 *  @par Rounding outward. The result is a dual bound that is evaluated twice, by
 *       different quadratures. Where the two disagree, and where a search falls short,
 *       the result comes from fewer constraints. A radius between 0 and 2^-330 sigma
 *       counts as 2^-330 sigma
 *  @par Source theory 2, 3 */
CERTREG_API certreg_status certreg_solver_worst_case(
    certreg_solver *, const certreg_bounds *bounds, uint32_t constraints, double radius,
    certreg_mean_change *out);

/** What the last call on this solver cost; all 0 before the first.
 *  The error of the handle stays, unless this call itself fails.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_BUSY; CERTREG_E_WRONG_STATE
 *  @par Threads one call at a time per solver */
CERTREG_API certreg_status
certreg_solver_info(certreg_solver *, certreg_solve_info *out);

/** The error of the last call on this solver. */
CERTREG_API const certreg_error *certreg_solver_error(const certreg_solver *);

/* ---- bisection: bounds and a limit for the mean -> the largest radius */

/** Answers within which radius a mean stays where it has to. */
typedef struct certreg_bisection certreg_bisection;

/** Zero all but struct_size: the default. */
typedef struct certreg_bisection_plan {
    uint32_t struct_size;
    /* For each function. 0: CERTREG_RADIUS_EVALUATIONS; at most 1000000. A search that
     * reaches the limit returns a smaller radius, never a wrong one. */
    uint32_t max_evaluations;
    /* Relative: the radius is at most this much below the largest one that can be
     * proved, and never above it. 0: 1e-9, which is the least; at most 0.5. */
    double accuracy;
    double cap;          /* in units of sigma: the search ends here. 0: 10, the most */
    void *memory;        /* 64-byte aligned; NULL: create allocates */
    size_t memory_bytes; /* at least certreg_bisection_size(); unused without memory */
} certreg_bisection_plan;

/** The largest radius, and what limits it. */
typedef struct certreg_radius {
    uint32_t struct_size;
    /* CERTREG_OUTCOME_ABSTAINED: nothing is proved, and the radius is 0. _CERTIFIED.
     * _CAPPED: the radius is the cap, and a larger one may hold. */
    int32_t outcome;
    double radius; /* 0 unless proved; rounded down */
    /* Within: CERTREG_SIDE_LOWER where the drop limits the radius, CERTREG_SIDE_UPPER
     * where the rise does. Above: 0. */
    int32_t limiting_side;
    int32_t reserved; /* 0 */
    size_t limiting;  /* above: index of the function that limits it. Within: 0 */
} certreg_radius;

/** Bytes of a bisection.  @par Threads any */
CERTREG_API size_t certreg_bisection_size(void);

/** Makes a bisection, which serves any number of calls, one after the other.
 *  @param plan  NULL: the default
 *  @param why   receives the error, or NULL
 *  @return as certreg_solver_create
 *  @par Threads any
 *  @par Memory allocates where the plan has no memory */
CERTREG_API certreg_status certreg_bisection_create(
    const certreg_bisection_plan *plan, certreg_error *why, certreg_bisection **out);

/** Frees it. NULL is allowed. */
CERTREG_API void certreg_bisection_destroy(certreg_bisection *);

/** The largest radius at which the mean of u drops by at most `tolerance` and rises by
 *  at most `tolerance`.
 *  @param tolerance  positive and finite, in units of u
 *  @return as certreg_solver_worst_case
 *  @par Threads one call at a time per bisection
 *  @par Memory does not allocate
 *  @par Rounding down  @par Source theory 4 */
CERTREG_API certreg_status certreg_bisection_within(
    certreg_bisection *, const certreg_bounds *bounds, uint32_t constraints,
    double tolerance, certreg_radius *out);

/** The largest radius at which the mean of every one of `count` functions stays above
 *  its threshold.
 *  @param bounds     count elements, stepped by bounds[0].struct_size, of one sigma
 *  @param threshold  count numbers; NULL: all 0
 *  @return as certreg_solver_worst_case
 *  @par Threads one call at a time per bisection
 *  @par Memory does not allocate
 *  @par Rounding down  @par Source theory 1, 4 */
CERTREG_API certreg_status certreg_bisection_above(
    certreg_bisection *, const certreg_bounds *bounds, const double *threshold,
    size_t count, uint32_t constraints, certreg_radius *out);

/** What the last search of this bisection cost.
 *  @return as certreg_solver_info */
CERTREG_API certreg_status
certreg_bisection_info(certreg_bisection *, certreg_solve_info *out);

/** The error of the last call on this bisection. */
CERTREG_API const certreg_error *certreg_bisection_error(const certreg_bisection *);
#ifdef __cplusplus
}
#endif
#endif
