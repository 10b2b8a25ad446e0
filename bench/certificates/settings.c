#include "settings.h"

#include "../../examples/demo/environment.h"

#include <string.h>

int settings_read(struct settings *s)
{
    double attack[MOST_SIGMAS];
    size_t attacks = 0;
    *s = (struct settings){.mnist = environment_text("CERTREG_MNIST", NULL),
                           .cache = environment_text("BENCH_CACHE", NULL)};
    s->model = environment_text("BENCH_MODEL", "examples/models/rotation.onnx");
    s->out = environment_text("BENCH_OUT", "lib");
    s->rows = environment_text("BENCH_ROWS", "1234567");
    if (environment_whole("BENCH_IMAGES", "100", 1, 5000, &s->images) ||
        environment_whole("BENCH_N", "10000", 400, 10000000, &s->samples) ||
        environment_whole("BENCH_LIMIT_N", "40000", 400, 10000000, &s->limit_samples) ||
        environment_whole("BENCH_ATTACK_IMAGES", "50", 1, 5000, &s->attack_images) ||
        environment_numbers("BENCH_SIGMA", "0.06,0.12,0.25,0.35,0.5,0.75", MOST_SIGMAS, s->sigma,
                            &s->sigmas) ||
        environment_numbers("BENCH_ATTACK_SIGMA", "0.5", MOST_SIGMAS, attack, &attacks))
        return 1;
    s->attack_sigma = attack[0];
    s->attack_images = s->attack_images < s->images ? s->attack_images : s->images;
    return 0;
}

int settings_has_row(const struct settings *s, char row)
{
    return strchr(s->rows, row) != NULL;
}
