/* What all certificates of one input have in common. */
#include "base/sizes.h"
#include "base/structs.h"
#include "estimator/estimator.h"

static certreg_status run_of(certreg_estimator *e, certreg_run *out)
{
    certreg_run run = {.struct_size = sizeof run};
    certreg_status status = cr_struct_check(out, CR_OLDEST_RUN, "run", &e->error);
    if (status) return status;
    status = cr_estimator_ready(e);
    if (!status) {
        run.seed = e->input.noise.seed;
        run.noise_id = e->input.noise.noise_id, run.level = e->input.noise.level;
        run.samples = e->record.present, run.pilot = e->record.pilot, run.batch = e->model.batch;
        run.sigma = e->input.sigma;
        run.model_seconds = e->clock.model_seconds;
        run.library_seconds = e->clock.library_seconds;
    }
    cr_struct_write(out, out->struct_size, &run, sizeof run);
    return status;
}

certreg_status certreg_estimator_run(certreg_estimator *e, certreg_run *out)
{
    const certreg_run nothing = {.struct_size = sizeof nothing};
    const certreg_status refused = cr_estimator_enter(e);
    if (!refused) return cr_estimator_leave(e, run_of(e, out));
    cr_struct_refuse(out, CR_OLDEST_RUN, &nothing, sizeof nothing);
    return refused;
}
