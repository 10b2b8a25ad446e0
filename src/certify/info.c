/* What all certificates of one input have in common. */
#include "base/sizes.h"
#include "base/structs.h"
#include "estimator/work.h"

static certreg_status run_of(const cr_work *w, certreg_run *out)
{
    certreg_run run = {.struct_size = sizeof run};
    certreg_status status = cr_struct_check(out, CR_OLDEST_RUN, "run", w->why);
    if (status) return status;
    status = cr_view_begun(w->record, w->why);
    if (!status) {
        run.seed = w->record->input.noise.seed;
        run.noise_id = w->record->input.noise.noise_id, run.level = w->record->input.noise.level;
        run.samples = w->record->present, run.pilot = w->record->pilot,
        run.batch = w->record->model.batch;
        run.sigma = w->record->input.sigma;
        run.model_seconds = w->clock->model_seconds;
        run.library_seconds = w->clock->library_seconds;
    }
    cr_struct_write(out, out->struct_size, &run, sizeof run);
    return status;
}

certreg_status certreg_estimator_info(certreg_estimator *e, certreg_run *out)
{
    const certreg_run nothing = {.struct_size = sizeof nothing};
    cr_work w;
    const certreg_status refused = cr_estimator_enter(e, &w);
    if (!refused) return cr_estimator_leave(e, run_of(&w, out));
    cr_struct_refuse(out, CR_OLDEST_RUN, &nothing, sizeof nothing);
    return refused;
}
