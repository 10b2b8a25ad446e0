/* Handles in a forked child: every one says that it is of another process, none hangs, and the
 * parent goes on. */
#include <certreg/attack.h>
#include "support/every_call.h"
#include "support/structs.h"
#include <sys/wait.h>
#include <unistd.h>

static int says_fork(const certreg_error *error)
{
    return error->status == CERTREG_E_WRONG_STATE && strstr(error->text, "fork");
}

/* Whether an estimator can be made on a backend that another process opened. */
static int backend_serves(certreg_backend *theirs)
{
    const certreg_model m = kit_model(kit_identity, NULL, INPUTS, 1);
    const certreg_plan p = kit_plan(SAMPLES);
    certreg_error why = {.struct_size = sizeof why};
    certreg_estimator *e = NULL;
    return certreg_estimator_create(theirs, &m, &p, &why, &e) != CERTREG_E_WRONG_STATE || e ||
           !says_fork(&why);
}

/* What a child finds wrong with its answers; 0: nothing. It may destroy what it cannot use. */
static int child_finds(refusals *r, certreg_solver *s, certreg_backend *threads)
{
    const certreg_bounds u =
        BOUNDS(.constraints = CERTREG_CONSTRAINT_VARIANCE, .sigma = 1, .variance_hi = 1);
    const certreg_question q = kit_question(1);
    certreg_mean_change shift = {.struct_size = sizeof shift};
    certreg_radius radius = {.struct_size = sizeof radius, .radius = 7};
    certreg_certificate c = kit_stale();
    const certreg_attack_plan plan = {.struct_size = sizeof plan};
    certreg_attack *a = NULL;
    certreg_error why = {.struct_size = sizeof why};
    certreg_solve_info info = {.struct_size = sizeof info, .points = 7};
    r->expected = CERTREG_E_WRONG_STATE;
    ask_all(r);
    if (r->wrong || !says_fork(certreg_estimator_error(r->e))) return 1;
    if (certreg_solver_info(s, &info) != CERTREG_E_WRONG_STATE || info.points != 0 ||
        !says_fork(certreg_solver_error(s)))
        return 8;
    if (certreg_attack_create(r->e, &plan, &why, &a) != CERTREG_E_WRONG_STATE || a ||
        !says_fork(&why))
        return 9;
    if (certreg_solver_worst_case(s, &u, 0, 1, &shift) != CERTREG_E_WRONG_STATE ||
        shift.drop != INFINITY || !says_fork(certreg_solver_error(s)))
        return 2;
    if (certreg_bisection_within(r->b, &u, 0, 1, &radius) != CERTREG_E_WRONG_STATE ||
        radius.radius != 0 || !says_fork(certreg_bisection_error(r->b)))
        return 3;
    radius.radius = 7;
    if (certreg_bisection_above(r->b, &u, NULL, 1, 0, &radius) != CERTREG_E_WRONG_STATE ||
        radius.radius != 0)
        return 4;
    certreg_estimator_destroy(r->e);
    certreg_estimator *own = make(NULL, kit_identity, NULL);
    if (certreg_estimator_begin(own, z, 0.25, 1)) return 5;
    if (backend_serves(threads)) return 7;
    certreg_backend_close(threads); /* which does not hang */
    certreg_bisection_destroy(r->b);
    certreg_solver_destroy(s);
    if (certreg_certify(own, SAMPLES, &q, 1, &c) || !(c.radius > 0)) return 6;
    certreg_estimator_destroy(own);
    return 0;
}

typedef struct forked {
    refusals r;
    certreg_solver *s;
    certreg_backend *threads;
    int done, child;
} forked;

static int child_of(forked *f)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(child_finds(&f->r, f->s, f->threads));
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int forks(void *user, const certreg_batch *b)
{
    forked *f = user;
    if (!f->done++) f->child = child_of(f);
    return kit_identity(NULL, b);
}

#ifdef __SANITIZE_THREAD__
enum { WAYS = 2 }; /* it knows nothing of threads that a fork leaves behind */
#else
enum { WAYS = 4 };
#endif

/* Idle handles, and handles whose call was running at the fork; alone, and on the threads. */
TEST_TIMES(fork_makes_every_handle_a_wrong_state_in_the_child, WAYS)
{
    forked f = {.done = _i % 2 == 0, .threads = kit_backend(2)};
    kit_open_solver(&f.s, &f.r.b);
    f.r.e = make(_i / 2 ? f.threads : NULL, forks, &f);
    const certreg_certificate wanted = undisturbed();
    if (f.done) f.child = child_of(&f);
    const certreg_certificate got = certified(f.r.e); /* the parent goes on */
    ck_assert_int_eq(f.child, 0);
    ck_assert_mem_eq(&got, &wanted, sizeof got);
}

KIT_MAIN("fork")
