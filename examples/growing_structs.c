/* How structs grow between versions, seen from a program that was compiled against a later header
 * than the library's. A new field that is zero is accepted; one that is set is refused, not
 * ignored; and a new field of a result reads as zero.
 * Prints the status of each case, and of a struct whose struct_size was forgotten. */
#include <certreg/solver.h>
#include <stdio.h>
#include <string.h>

struct later_bounds { /* certreg_bounds of a later version: one more field at the end */
    certreg_bounds known;
    double novelty;
};
struct later_radius {
    certreg_radius known;
    double novelty[2];
};

static certreg_status radius_of(certreg_bisection *b, uint32_t bounds_size, double novelty,
                                struct later_radius *r)
{
    struct later_bounds w = {.known = {.struct_size = bounds_size,
                                       .constraints = CERTREG_CONSTRAINT_VARIANCE,
                                       .sigma = 1,
                                       .variance_hi = 1}};
    w.novelty = novelty;
    memset(r, 0xee, sizeof *r);
    r->known.struct_size = sizeof *r;
    return certreg_bisection_within(b, &w.known, 0, 0.5, &r->known);
}

int main(void)
{
    certreg_solver *s = NULL;
    certreg_bisection *b = NULL;
    struct later_radius r;
    if (certreg_solver_create(NULL, NULL, &s) || certreg_bisection_create(NULL, NULL, &b)) return 1;
    printf("header %d, library %u\n", CERTREG_VERSION_NUMBER, (unsigned)certreg_version());

    const certreg_status same = radius_of(b, sizeof(certreg_bounds), 0, &r);
    printf("this header's struct: %s, radius %.6f\n", certreg_status_text(same), r.known.radius);
    const certreg_status unused = radius_of(b, sizeof(struct later_bounds), 0, &r);
    printf("a later struct, novelty unused: %s, radius %.6f, novelty of the result %g\n",
           certreg_status_text(unused), r.known.radius, r.novelty[1]);
    const certreg_status used = radius_of(b, sizeof(struct later_bounds), 1, &r);
    printf("a later struct, novelty used: %s (%s)\n", certreg_status_text(used),
           certreg_bisection_error(b)->text);
    const certreg_status forgotten = radius_of(b, 0, 0, &r);
    printf("struct_size forgotten: %s (%s)\n", certreg_status_text(forgotten),
           certreg_bisection_error(b)->text);

    certreg_bisection_destroy(b);
    certreg_solver_destroy(s);
    return same || unused || used != CERTREG_E_VERSION || forgotten != CERTREG_E_INVALID ||
           r.known.radius != 0;
}
