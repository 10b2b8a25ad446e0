/** @file solver.h
 * libcertreg: from bounds to worst cases and radii, without a model.
 *
 * This header is for programs that have bounds of their own: a mean, a variance, a
 * gradient norm, a range, from another sampler, from a proof, or written down by hand.
 * The solver answers how far the mean can move within a radius; the bisection answers
 * within which radius the mean stays where it has to. certreg_certify does all of this
 * itself and needs neither handle. examples/bounds_by_hand.c is a complete program.
 *
 * Throughout, u is a function of z + sigma*D*e, e standard Gaussian, and its mean is the
 * mean over e. The certreg_bounds say what is known of u. The answers hold for every
 * function with these bounds and for every shift delta with ||D^-1 delta||_2 at most the
 * radius. The rules of certreg.h for structs, threads, memory and numbers hold here too.
 */
#ifndef CERTREG_SOLVER_H
#define CERTREG_SOLVER_H
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- solver: bounds and radius -> how far the mean can move ---- */

typedef struct certreg_solver certreg_solver;

enum { /* evaluations of the dual in one call: the default limits and the least ones */
    CERTREG_WORST_CASE_EVALUATIONS = 2000,
    CERTREG_LEAST_WORST_CASE_EVALUATIONS = 1000,
    CERTREG_RADIUS_EVALUATIONS = 14000,
    CERTREG_LEAST_RADIUS_EVALUATIONS = 4000
};

/** Zero all but struct_size: the default. */
typedef struct certreg_solver_plan {
    uint32_t struct_size;
    uint32_t max_evaluations; /* of one call, 0: CERTREG_WORST_CASE_EVALUATIONS; at least
                                 CERTREG_LEAST_WORST_CASE_EVALUATIONS. An evaluation takes
                                 some microseconds. A call that reaches the limit returns
                                 a looser bound, never a wrong one */
    void *memory;             /* 64-byte aligned; NULL: create allocates */
    size_t memory_bytes;      /* at least certreg_solver_size(); ignored without memory */
} certreg_solver_plan;

/** How far the mean of u can move within a radius. */
typedef struct certreg_mean_change {
    uint32_t struct_size;
    uint32_t constraints;             /* those that were used */
    double drop, rise;                /* the largest ones, rounded up; infinite where
                                         nothing bounds them */
    double mean_least, mean_greatest; /* of the shifted mean: tighter than mean_lo - drop
                                         and mean_hi + rise */
} certreg_mean_change;

/** What the last call that computed something has cost, and how sure it is of its result. */
typedef struct certreg_solve_info {
    uint32_t struct_size;
    uint32_t evaluations; /* of the dual: what max_evaluations limits. A radius of several
                             functions counts all of them, and the limit is for each */
    uint64_t points;      /* of all quadratures: what the seconds are proportional to */
    uint32_t loose;       /* searches whose result is sound, but not known to be the best
                             that the constraints allow. Where it is not 0, a larger
                             max_evaluations may give a tighter result */
    uint32_t refinements; /* how often the two final evaluations of a bound disagreed and
                             were repeated with a finer quadrature */
    uint32_t fallbacks;   /* how often they still disagreed, or contradicted the theory, so
                             that a closed-form bound was returned instead. Where it is not
                             0, the bounds are extreme: choose other units or fewer
                             constraints */
    uint32_t warm_starts; /* searches that began at a remembered radius */
    double seconds;       /* of CLOCK_MONOTONIC */
} certreg_solve_info;

/** Bytes of a solver.  @par Threads any  @since 0.1 */
CERTREG_API size_t certreg_solver_size(void);

/** @param plan  NULL: the default
 *  @param why   receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_NO_MEMORY; CERTREG_E_SMALL_MEMORY;
 *          CERTREG_E_VERSION
 *  @par Memory allocates where the plan has no memory  @since 0.1 */
CERTREG_API certreg_status certreg_solver_create(const certreg_solver_plan *plan,
                                                 certreg_error *why, certreg_solver **out);

/** Frees it. NULL is allowed.  @since 0.1 */
CERTREG_API void certreg_solver_destroy(certreg_solver *);

/** How far the mean of u can move, over all functions with these bounds and all shifts up to
 *  a radius. Call it for several radii to draw the curve.
 *  @param constraints  mask of the constraints to use; 0: all in bounds->constraints
 *  @param radius       at least 0, in the unit of the noise scale (as a certificate's)
 *  @return CERTREG_OK; CERTREG_E_INVALID, naming the field; CERTREG_E_VERSION;
 *          CERTREG_E_INFEASIBLE: no function has these bounds; CERTREG_E_BUSY
 *  @par Threads  one call at a time per solver
 *  @par Memory   does not allocate
 *  @par Rounding outward. The result is a dual bound that is evaluated twice by different
 *       quadratures. Where the two disagree, and where a search falls short, the result
 *       comes from fewer constraints. Radii below 2^-330 sigma are taken for 2^-330 sigma
 *  @par Source   theory 2, 3  @since 0.1 */
CERTREG_API certreg_status certreg_solver_worst_case(certreg_solver *, const certreg_bounds *bounds,
                                                     uint32_t constraints, double radius,
                                                     certreg_mean_change *out);

/** What the last certreg_solver_worst_case on this solver has cost; zero before the first.
 *  Leaves the handle's error as it is, unless this call fails itself.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_BUSY  @since 0.1 */
CERTREG_API certreg_status certreg_solver_info(certreg_solver *, certreg_solve_info *out);

/** The error of the last call on this solver.  @since 0.1 */
CERTREG_API const certreg_error *certreg_solver_error(const certreg_solver *);

/* ---- bisection: bounds and a limit for the mean -> the largest radius ---- */

typedef struct certreg_bisection certreg_bisection;

enum { /* flags of certreg_bisection_plan */
    CERTREG_BISECTION_WARM_START = 1 /* each search begins at the radius that the search at
                                        the same place (drop, rise, or index in `above`)
                                        found last. It is faster where successive calls ask
                                        about similar bounds, as in a control loop or a
                                        sweep over tolerances. The remembered radius only
                                        says where to look first and proves nothing, so
                                        results agree with those of a cold start to 1e-9
                                        relative, but not bit for bit */
};

/** Zero all but struct_size: the default. */
typedef struct certreg_bisection_plan {
    uint32_t struct_size;
    uint32_t max_evaluations; /* for each function, 0: CERTREG_RADIUS_EVALUATIONS; at least
                                 CERTREG_LEAST_RADIUS_EVALUATIONS. A search that reaches
                                 the limit returns a smaller radius, never a wrong one */
    double accuracy;          /* relative: the radius is at most this much below the largest
                                 one that can be proved, and never above it. 0: 1e-9, which
                                 is the least; at most 0.5 */
    double cap;               /* in units of sigma: where the search ends. 0: 10, which is
                                 the most */
    uint32_t flags;           /* CERTREG_BISECTION_... */
    uint32_t reserved;        /* 0 */
    void *memory;             /* 64-byte aligned; NULL: create allocates */
    size_t memory_bytes;      /* at least certreg_bisection_size() */
} certreg_bisection_plan;

typedef struct certreg_radius {
    uint32_t struct_size;
    int32_t outcome;       /* CERTREG_OUTCOME_ABSTAINED: nothing is proved, the radius is 0;
                              _CERTIFIED; _CAPPED: the radius is the cap, and more may hold */
    double radius;         /* 0 unless proved; rounded down */
    int32_t limiting_side; /* within: CERTREG_SIDE_LOWER where the drop limits the radius,
                              CERTREG_SIDE_UPPER where the rise does; above: 0 */
    int32_t reserved;      /* 0 */
    size_t limiting;       /* above: index of the function that limits the radius;
                              within: 0 */
} certreg_radius;

/** Bytes of a bisection.  @par Threads any  @since 0.1 */
CERTREG_API size_t certreg_bisection_size(void);

/** @param plan  NULL: the default
 *  @param why   receives the error, or NULL
 *  @return as certreg_solver_create
 *  @par Memory allocates where the plan has no memory  @since 0.1 */
CERTREG_API certreg_status certreg_bisection_create(const certreg_bisection_plan *plan,
                                                    certreg_error *why, certreg_bisection **out);

/** Frees it. NULL is allowed.  @since 0.1 */
CERTREG_API void certreg_bisection_destroy(certreg_bisection *);

/** The largest radius at which the mean of u drops by at most `tolerance` and rises by at
 *  most `tolerance`.
 *  @param tolerance  > 0 and finite, in units of u
 *  @return as certreg_solver_worst_case
 *  @par Threads  one call at a time per bisection
 *  @par Memory   does not allocate
 *  @par Rounding down
 *  @par Source   theory 4  @since 0.1 */
CERTREG_API certreg_status certreg_bisection_within(certreg_bisection *,
                                                    const certreg_bounds *bounds,
                                                    uint32_t constraints, double tolerance,
                                                    certreg_radius *out);

/** The largest radius at which the mean of every one of `count` functions stays above its
 *  threshold.
 *  @param bounds     count elements, stepped by bounds[0].struct_size, all with one sigma
 *  @param threshold  count numbers; NULL: all 0
 *  @return as certreg_solver_worst_case
 *  @par Threads  one call at a time per bisection
 *  @par Memory   does not allocate
 *  @par Rounding down
 *  @par Source   theory 1, 4  @since 0.1 */
CERTREG_API certreg_status certreg_bisection_above(certreg_bisection *,
                                                   const certreg_bounds *bounds,
                                                   const double *threshold, size_t count,
                                                   uint32_t constraints, certreg_radius *out);

/** What the last certreg_bisection_within or certreg_bisection_above has cost, as
 *  certreg_solver_info.  @since 0.1 */
CERTREG_API certreg_status certreg_bisection_info(certreg_bisection *, certreg_solve_info *out);

/** The error of the last call on this bisection.  @since 0.1 */
CERTREG_API const certreg_error *certreg_bisection_error(const certreg_bisection *);
#ifdef __cplusplus
}
#endif
#endif
