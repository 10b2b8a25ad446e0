/** @file solver.h
 * libcertreg: from bounds to worst cases and radii, without a model.
 *
 * This header is for programs that have bounds of their own: a mean, a variance, a
 * gradient norm, a range, from another sampler, from a proof, or written down by hand.
 * The solver computes the largest change of the mean within a radius. The bisection
 * computes the largest radius within which the mean stays above a threshold, or changes
 * by at most a tolerance. certreg_certify does all of this by itself and needs neither.
 * examples/bounds_by_hand.c is a complete program.
 *
 * Throughout, u is a function of z + sigma*D*e, e standard Gaussian, and its mean is
 * the mean over e. A certreg_bounds contains the known facts about u. A result holds
 * for every function with these bounds and for every shift delta with ||D^-1 delta||_2
 * at most the radius.
 */
#ifndef CERTREG_SOLVER_H
#define CERTREG_SOLVER_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- bounds: known facts about a function */

/** Bounds of one scalar function u under the noise, estimated or filled by hand. */
typedef struct certreg_bounds {
    uint32_t struct_size;
    /* Mask of the CERTREG_CONSTRAINT_... that hold. A constraint without its bit is
     * unknown, and its fields are not read. */
    uint32_t constraints;
    double sigma;                    /* > 0; radius/sigma is in units of the noise */
    double mean_lo, mean_hi;         /* MEAN */
    double variance_hi;              /* VARIANCE, >= 0 */
    double gradient_lo, gradient_hi; /* GRADIENT, >= 0, in output units */
    double range_lo, range_hi;       /* RANGE; either end may be infinite */
    double alpha;                    /* probability that they do not hold; not used */
    uint64_t samples;                /* number behind them; not used */
    /* MOMENT: E (u - moment_center)^2 <= moment_hi; used whenever both mean and
     * variance are used. */
    double moment_center, moment_hi;
} certreg_bounds;

/** Returns the bounds behind one side of a question; with side =
 *  certificate.limiting_side, the bounds that limit its radius. About a prediction they
 *  are bounds of a score, not of the output: LOWER is u = s(f - prediction +
 *  tolerance), UPPER is u = s(prediction + tolerance - f), with s the sign, Huber's
 *  function or the identity, and T stays on that side while E u > 0 (with serving:
 *  while E u exceeds the threshold for fresh samples). For an angle u is less by what
 *  the rounding of recorded angles may change. About the true mean both sides
 *  have the bounds of the output itself. A trimmed mean and a ball have one score for
 *  both sides, 1 if an output is near the prediction and otherwise -1. For a vector
 *  they are the bounds of the direction that limits it. If CERTREG_CONSTRAINT_LAW
 *  limits the radius, they are a mean and a range, which prove less, or nothing about
 *  the true mean; a question that names constraints does not use it. The call is an
 *  evaluation: see "Evaluating a record again" in question.h.
 *  @param side  CERTREG_SIDE_...; the NEAR sides for the median and Huber of an angle
 *               only
 *  @param out   receives the bounds; constraints 0 if the method abstains
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_WRONG_STATE (gaps, too few
 *          samples); CERTREG_E_VERSION  @par Source theory 5.1, 6, 7 */
CERTREG_API certreg_status certreg_estimator_bounds(
    certreg_estimator *, const certreg_question *question, int32_t side,
    certreg_bounds *out);

/* ---- solver: bounds and a radius -> the largest change of the mean */

/** Computes the largest change of a mean within a radius. */
typedef struct certreg_solver certreg_solver;

/* Limits for the number of dual evaluations in one call: the default, and the smallest
 * that a plan may set. An evaluation takes some microseconds. */
enum certreg_evaluation_limit {
    CERTREG_WORST_CASE_EVALUATIONS = 2000,       /* of a solver: the default */
    CERTREG_LEAST_WORST_CASE_EVALUATIONS = 1000, /* of a solver: the smallest */
    CERTREG_RADIUS_EVALUATIONS = 14000,          /* of a bisection: the default */
    CERTREG_LEAST_RADIUS_EVALUATIONS = 4000      /* of a bisection: the smallest */
};

/** Settings of a solver. All zero but struct_size: the default. */
typedef struct certreg_solver_plan {
    uint32_t struct_size;
    /* Maximum for one call. 0: CERTREG_WORST_CASE_EVALUATIONS; at most 1000000. A call
     * that reaches the limit returns a looser bound, never a wrong one. */
    uint32_t max_evaluations;
    void *memory;        /* 64-byte aligned, outlives the solver; NULL: allocate */
    size_t memory_bytes; /* at least certreg_solver_size(); unused without memory */
} certreg_solver_plan;

/** The largest change of the mean of u within a radius. */
typedef struct certreg_mean_change {
    uint32_t struct_size;
    uint32_t constraints; /* that were used */
    double drop, rise;    /* at most; rounded up; infinite if nothing bounds them */
    /* Bounds of the shifted mean, tighter than mean_lo - drop and mean_hi + rise. */
    double mean_least, mean_greatest;
} certreg_mean_change;

/** The cost of the last call, and counts that show if its result may not be the best.
 *  The result is sound in any case. */
typedef struct certreg_solve_info {
    uint32_t struct_size;
    /* Number of dual evaluations, which max_evaluations limits. For a radius of several
     * functions it is their total, while the limit is for each function. */
    uint32_t evaluations;
    uint64_t points; /* nodes of all quadratures; a closed form counts as 20. The time
                        is about proportional to it */
    /* Number of searches without proof that their result is the best for the
     * constraints. If it is not 0, a larger max_evaluations may give a tighter one. */
    uint32_t loose;
    /* Number of times that the two final evaluations of a bound disagreed and were
     * repeated with a finer quadrature. */
    uint32_t refinements;
    /* Number of times that they still disagreed, or contradicted the theory, so that a
     * bound in closed form was used instead. If it is not 0, the bounds are extreme,
     * such as a range of many orders of magnitude. Fewer constraints may then give the
     * same result. */
    uint32_t fallbacks;
    uint32_t reserved; /* 0 */
    double seconds;    /* by CLOCK_MONOTONIC */
} certreg_solve_info;

/** Returns the bytes of a solver. */
CERTREG_API size_t certreg_solver_size(void);

/** Makes a solver, which serves any number of calls, one at a time.
 *  @param plan  NULL: the default
 *  @return CERTREG_OK; CERTREG_E_INVALID, naming the field; CERTREG_E_NO_MEMORY;
 *          CERTREG_E_SMALL_MEMORY; CERTREG_E_VERSION; CERTREG_E_PLATFORM */
CERTREG_API certreg_status certreg_solver_create(
    const certreg_solver_plan *plan, certreg_error *why, certreg_solver **out);

/** Destroys a solver. NULL is allowed. */
CERTREG_API void certreg_solver_destroy(certreg_solver *);

/** Computes the largest change of the mean of u, over all functions with these bounds
 *  and all shifts up to a radius. Call it for several radii to draw the curve.
 *  @param constraints  mask of the constraints to use; 0: all in bounds->constraints
 *  @param radius       at least 0, in the unit of sigma, as a certificate's radius
 *  @return CERTREG_OK; CERTREG_E_INVALID, naming the field; CERTREG_E_INFEASIBLE: no
 *          function has these bounds
 *  @par Rounding outward. The result is a dual bound that is evaluated twice, by
 *       different quadratures. If the two disagree, or a search falls short, the result
 *       comes from fewer constraints. A radius between 0 and 2^-330 sigma counts as
 *       2^-330 sigma
 *  @par Source theory 2, 3; propositions 5.1 to 5.3 of the paper */
CERTREG_API certreg_status certreg_solver_worst_case(
    certreg_solver *, const certreg_bounds *bounds, uint32_t constraints, double radius,
    certreg_mean_change *out);

/** Returns the cost of the last call on this solver; all 0 before the first call.
 *  The error of the handle stays, unless this call itself fails.
 *  @return CERTREG_OK; CERTREG_E_INVALID */
CERTREG_API certreg_status
certreg_solver_info(certreg_solver *, certreg_solve_info *out);

/** Returns the error of the last call on this solver, as certreg_estimator_error. */
CERTREG_API const certreg_error *certreg_solver_error(const certreg_solver *);

/* ---- bisection: bounds and a limit for the mean -> the largest radius */

/** Computes the largest radius within which a mean stays within its limits. */
typedef struct certreg_bisection certreg_bisection;

/** Settings of a bisection. All zero but struct_size: the default. */
typedef struct certreg_bisection_plan {
    uint32_t struct_size;
    /* Maximum for each function. 0: CERTREG_RADIUS_EVALUATIONS; at most 1000000. A
     * search that reaches the limit returns a smaller radius, never a wrong one. */
    uint32_t max_evaluations;
    /* Relative: the radius is at most this much below the largest radius that can be
     * proved, and never above it. 0: 1e-9, which is the smallest; at most 0.5. */
    double accuracy;
    double cap;          /* in units of sigma: end of the search. 0: 10, the largest */
    void *memory;        /* 64-byte aligned, outlives the bisection; NULL: allocate */
    size_t memory_bytes; /* at least certreg_bisection_size(); unused without memory */
} certreg_bisection_plan;

/** The largest radius, and the condition that limits it. */
typedef struct certreg_radius {
    uint32_t struct_size;
    /* CERTREG_OUTCOME_ABSTAINED: nothing is proved, and the radius is 0. _CERTIFIED.
     * _CAPPED: the radius is the cap, and a larger one may hold. */
    int32_t outcome;
    double radius; /* 0 unless proved; rounded down */
    /* Within: CERTREG_SIDE_LOWER if the drop limits the radius, CERTREG_SIDE_UPPER if
     * the rise does. Above: 0. */
    int32_t limiting_side;
    int32_t reserved; /* 0 */
    size_t limiting;  /* above: index of the function that limits it. Within: 0 */
} certreg_radius;

/** Returns the bytes of a bisection. */
CERTREG_API size_t certreg_bisection_size(void);

/** Makes a bisection, which serves any number of calls, one at a time.
 *  @param plan  NULL: the default
 *  @return as certreg_solver_create */
CERTREG_API certreg_status certreg_bisection_create(
    const certreg_bisection_plan *plan, certreg_error *why, certreg_bisection **out);

/** Destroys a bisection. NULL is allowed. */
CERTREG_API void certreg_bisection_destroy(certreg_bisection *);

/** Finds the largest radius at which the mean of u drops by at most `tolerance` and
 *  rises by at most `tolerance`.
 *  @param bounds       of u
 *  @param constraints  as for certreg_solver_worst_case
 *  @param tolerance    positive and finite, in units of u
 *  @return as certreg_solver_worst_case
 *  @par Rounding down  @par Source theory 4 */
CERTREG_API certreg_status certreg_bisection_within(
    certreg_bisection *, const certreg_bounds *bounds, uint32_t constraints,
    double tolerance, certreg_radius *out);

/** Finds the largest radius at which the mean of every one of `count` functions stays
 *  above its threshold.
 *  @param bounds       count elements, stepped by bounds[0].struct_size, all with the
 *                      same sigma
 *  @param threshold    count numbers; NULL: all 0
 *  @param constraints  as for certreg_solver_worst_case
 *  @return as certreg_solver_worst_case
 *  @par Rounding down  @par Source theory 1, 4 */
CERTREG_API certreg_status certreg_bisection_above(
    certreg_bisection *, const certreg_bounds *bounds, const double *threshold,
    size_t count, uint32_t constraints, certreg_radius *out);

/** Returns the cost of the last search of this bisection.
 *  @return as certreg_solver_info */
CERTREG_API certreg_status
certreg_bisection_info(certreg_bisection *, certreg_solve_info *out);

/** Returns the error of the last call on this bisection, as certreg_estimator_error. */
CERTREG_API const certreg_error *certreg_bisection_error(const certreg_bisection *);
#ifdef __cplusplus
}
#endif
#endif
