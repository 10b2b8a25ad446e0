/* demo.h: what the parts of the demo share. */
#ifndef DEMO_H
#define DEMO_H
#include "images.h"
#include "results.h"
#include "settings.h"
#include "workers.h"

struct demo {
    struct settings set;
    struct images images;
    struct workers workers;
    struct results results;
};

static const double demo_tolerance = 10.0, demo_alpha = 0.1; /* degrees */
#endif
