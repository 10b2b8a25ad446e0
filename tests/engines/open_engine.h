/* open_engine.h: the engine of the test that runs, and its fixture. */
#ifndef TESTS_ENGINES_OPEN_ENGINE_H
#define TESTS_ENGINES_OPEN_ENGINE_H
#include <stdio.h>
#include <string.h>

#include "engines/engine.h"
#include "support/suite.h"

static struct engine engine; /* of the test that runs */

static inline void clear(void)
{
    memset(&engine, 0, sizeof engine);
}

static inline void tear_down(void)
{
    engine_close(&engine);
}

/* Says once why something is left out. */
static inline void skip(const char *why)
{
    static char said[4 * ENGINE_WHY];
    if (strstr(said, why) != NULL) return;
    printf("skip %s\n", why);
    strncat(said, why, sizeof said - strlen(said) - 1);
}

/* Opens a model. Returns 0 where the engine's library is not there, and says so. */
static inline int opens_with(const struct engine_options *set, const char *model)
{
    const int bad = engine_open(model, set, &engine);
    if (bad == ENGINE_ABSENT) {
        skip(engine.why);
        return 0;
    }
    ck_assert_msg(!bad, "%s", engine.why);
    ck_assert_str_eq(engine.why, "");
    return 1;
}

static inline int opens(const char *name, const char *model, const char *shape, const char *output)
{
    const struct engine_options set = {.engine = name, .shape = shape, .output = output};
    return opens_with(&set, model);
}

enum { ROWS = 8, MOST = 16 };
static float x[ROWS * MOST], y[ROWS * MOST];
#endif
