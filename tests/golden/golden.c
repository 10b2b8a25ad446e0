/* golden [path of the CUDA module of the emulated device]: prints the rows of rows.h, others.h and
 * recent.h. tests/golden/compare.sh holds them against tests/data/golden.txt, so that a
 * rearrangement of the library shows what it changed. With a module the same is asked of the
 * emulated device: its kernels run as fibers, which takes about a minute. */
#include "golden/others.h"
#include "golden/recent.h"
#include "golden/rows.h"
#include "emulated.h"
#include <certreg/backend.h>
#include <stdio.h>

static int enqueue(void *stream, void (*work)(void *), void *with, void (*drop)(void *))
{
    return (int)emulated_enqueue(stream, work, with, drop);
}

int main(int argc, char **argv)
{
    rows_where device = {"device", CERTREG_CONSTRAINTS_ECGM, NULL, enqueue};
    certreg_error why = {.struct_size = sizeof why};
    if (argc > 1 && certreg_backend_open(argv[1], 0, NULL, &why, &device.backend))
        return fprintf(stderr, "%s\n", why.text), 1;
    const rows_where cpu = {.name = "cpu", .constraints = CERTREG_CONSTRAINTS_ECGM};
    const int failed = rows_print(&cpu) || others_print() || recent_print() ||
                       (device.backend && rows_print(&device));
    certreg_backend_close(device.backend);
    return failed;
}
