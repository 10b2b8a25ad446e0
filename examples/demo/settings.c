#define _GNU_SOURCE /* sched_getaffinity */
#include "settings.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "environment.h"
#include "workers.h"

enum { FULL_IMAGES = 100, FULL_SAMPLES = 10000, FULL_SIGMAS = 6 };
static const char sigmas[] = "0.06,0.12,0.25,0.35,0.5,0.75";
static const double library_seconds = 2e-5; /* of all certificates, for one call of the network */

/* The number of cores that this process may use. */
static const char *cores(char *text, size_t room)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (count > MOST_WORKERS) count = MOST_WORKERS;
    snprintf(text, room, "%d", count);
    return text;
}

int settings_read(struct settings *s)
{
    char text[16];
    *s = (struct settings){.mnist = environment_text("CERTREG_MNIST", NULL)};
    s->model = environment_text("DEMO_MODEL", "examples/models/rotation.onnx");
    s->folder = environment_text("DEMO_OUT", "lib/demo");
    return environment_whole("DEMO_IMAGES", "20", 1, 5000, &s->images) ||
           environment_whole("DEMO_N", "4000", 80, 10000000, &s->samples) ||
           environment_whole("DEMO_THREADS", cores(text, sizeof text), 1, MOST_WORKERS,
                             &s->threads) ||
           environment_numbers("DEMO_SIGMA", sigmas, MOST_SIGMAS, s->sigma, &s->sigmas);
}

static const char *protocol(const struct settings *s)
{
    const size_t full = (size_t)FULL_IMAGES * FULL_SAMPLES * FULL_SIGMAS;
    if (s->images == FULL_IMAGES && s->samples == FULL_SAMPLES &&
        strcmp(environment_text("DEMO_SIGMA", sigmas), sigmas) == 0)
        return "Full";
    return s->images * s->samples * s->sigmas < full ? "Reduced" : "Other";
}

void settings_print(const struct settings *s, double call_seconds)
{
    const double calls = (double)FULL_IMAGES * FULL_SAMPLES * FULL_SIGMAS,
                 minutes = calls * (call_seconds + library_seconds) / 60.0 / (double)s->threads;
    const char *name = protocol(s);
    printf("%s protocol: %zu images x %zu sigmas x %zu calls", name, s->images, s->sigmas,
           s->samples);
    if (strcmp(name, "Full") != 0)
        printf(". The full one (%d x %d x %d): make demo-full", FULL_IMAGES, FULL_SIGMAS,
               FULL_SAMPLES);
    printf(", about %.0f min\n", ceil(minutes));
}
