#include "engine.h"

#include <stdio.h>
#include <string.h>

#include "ort.h"
#include "plain.h"

/* Used instead of ONNX Runtime; `why` already says why that is missing. */
static int open_instead(const char *model, size_t inputs, size_t columns, struct engine *out,
                        char *why)
{
    char plain[ENGINE_WHY] = "the built-in engine runs instead, slower";
    const size_t length = strlen(why);
    const int bad = engine_open_plain(model, inputs, columns, out, plain);
    snprintf(why + length, ENGINE_WHY - length, "; %s", plain);
    return bad;
}

int engine_open(const char *model, size_t inputs, size_t columns, struct engine *out, char *why)
{
    const char *ending = strrchr(model, '.');
    why[0] = '\0';
    if (ending == NULL || strcmp(ending, ".onnx") != 0)
        return engine_open_plain(model, inputs, columns, out, why);
    const int bad = engine_open_ort(model, inputs, columns, out, why);
    return bad == ENGINE_ABSENT ? open_instead(model, inputs, columns, out, why) : bad;
}
