/* The table of the public structs' sizes in released versions, and the set of all constraints. */
#ifndef CR_BASE_STRUCT_SIZES_H
#define CR_BASE_STRUCT_SIZES_H
#include "base/platform_checks.h"
#include "certreg/attack.h"
#include "certreg/denoiser.h"
#include "certreg/interval.h"
#include "certreg/question.h"
#include "certreg/queue.h"
#include "certreg/sampling.h"
#include "certreg/service.h"
#include "certreg/worst_function.h"

/* X(struct, name, oldest, now). oldest: the size in the first release with the struct, the smallest
 * that a caller may give; it never changes. now: the size in this version; it changes when the
 * struct grows. */
#define CR_STRUCTS(X)                                         \
    X(certreg_error, ERROR, 296, 296)                         \
    X(certreg_batch, BATCH, 80, 88)                           \
    X(certreg_model, MODEL, 80, 88)                           \
    X(certreg_plan, PLAN, 80, 88)                             \
    X(certreg_target, TARGET, 24, 32)                         \
    X(certreg_serving, SERVING, 40, 40)                       \
    X(certreg_masks, MASKS, 40, 40)                           \
    X(certreg_question, QUESTION, 104, 112)                   \
    X(certreg_certificate, CERTIFICATE, 160, 336)             \
    X(certreg_forecast, FORECAST, 24, 24)                     \
    X(certreg_run, RUN, 80, 80)                               \
    X(certreg_bounds, BOUNDS, 104, 104)                       \
    X(certreg_solver_plan, SOLVER_PLAN, 24, 24)               \
    X(certreg_mean_change, MEAN_CHANGE, 40, 40)               \
    X(certreg_worst_function, WORST_FUNCTION, 192, 192)       \
    X(certreg_solve_info, SOLVE_INFO, 40, 40)                 \
    X(certreg_bisection_plan, BISECTION_PLAN, 40, 40)         \
    X(certreg_radius, RADIUS, 32, 32)                         \
    X(certreg_calibration, CALIBRATION, 104, 104)             \
    X(certreg_coverage, COVERAGE, 56, 56)                     \
    X(certreg_rule, RULE, 64, 64)                             \
    X(certreg_interval, INTERVAL, 80, 80)                     \
    X(certreg_attack_plan, ATTACK_PLAN, 32, 32)               \
    X(certreg_attack_options, ATTACK_OPTIONS, 40, 40)         \
    X(certreg_attack_result, ATTACK_RESULT, 88, 88)           \
    X(certreg_denoiser_plan, DENOISER_PLAN, 64, 64)           \
    X(certreg_denoiser_facts, DENOISER_FACTS, 56, 56)         \
    X(certreg_queue_plan, QUEUE_PLAN, 72, 72)                 \
    X(certreg_queue_input, QUEUE_INPUT, 112, 112)             \
    X(certreg_queue_result, QUEUE_RESULT, 112, 112)           \
    X(certreg_queue_call, QUEUE_CALL, 56, 56)                 \
    X(certreg_alternatives, ALTERNATIVES, 64, 64)             \
    X(certreg_alternative, ALTERNATIVE, 64, 64)               \
    X(certreg_alternative_result, ALTERNATIVE_RESULT, 32, 32) \
    X(certreg_service_plan, SERVICE_PLAN, 56, 56)             \
    X(certreg_tick, TICK, 32, 32)                             \
    X(certreg_service_log, SERVICE_LOG, 80, 80)

#define CR_OLDEST(type, name, oldest, now) CR_OLDEST_##name = (oldest),
enum { CR_STRUCTS(CR_OLDEST) };
#undef CR_OLDEST

#define CR_CHECK(type, name, oldest, now)                                          \
    CR_STATIC_ASSERT(sizeof(type) == (now) && (now) % 8 == 0 && (oldest) <= (now), \
                     "a public struct has another size than this table says");
CR_STRUCTS(CR_CHECK)
#undef CR_CHECK

/* All constraints. */
#define CR_CONSTRAINTS_ALL ((uint32_t)CERTREG_CONSTRAINTS_ECGM | CERTREG_CONSTRAINT_MOMENT)

#endif
