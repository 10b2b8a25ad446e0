/* replay FILE...: gives inputs to a fuzzer. A file is one input, or, if its name ends with .hex,
 * has one in each line (corpus.py). The last one that is named is the one that brings the program
 * to an end; how many there were is said at the end. */
#include "fuzz/fuzz.h"

static char text[1 << 20];

/* A copy of the very size, so that sanitizers see a read beyond it. */
static void replay(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) abort();
    memcpy(copy, bytes, size);
    fuzz_one(copy, size);
    free(copy);
}

static size_t from_digits(const char *digits, uint8_t *out)
{
    size_t size = 0;
    for (unsigned byte; sscanf(digits, "%2x", &byte) == 1; digits += 2) out[size++] = (uint8_t)byte;
    return size;
}

static int replay_lines(const char *path, FILE *file)
{
    static uint8_t bytes[sizeof text / 2];
    int inputs = 0;
    while (fgets(text, sizeof text, file)) {
        fprintf(stderr, "%s:%d\n", path, ++inputs);
        replay(bytes, from_digits(text + (*text == '!'), bytes));
    }
    return inputs;
}

static int replay_file(const char *path, FILE *file)
{
    fprintf(stderr, "%s\n", path);
    replay(text, fread(text, 1, sizeof text, file));
    return 1;
}

int main(int argc, char **argv)
{
    int inputs = 0;
    fuzz_prepare();
    for (int i = 1; i < argc; i++) {
        const char *ending = strrchr(argv[i], '.');
        FILE *file = fopen(argv[i], "rb");
        if (!file) return printf("not ok %s cannot be read\n", argv[i]), 1;
        const int lines = ending && !strcmp(ending, ".hex");
        inputs += lines ? replay_lines(argv[i], file) : replay_file(argv[i], file);
        fclose(file);
    }
    if (!inputs) return puts("not ok inputs are missing"), 1;
    printf("ok %d inputs replayed\n", inputs);
    return 0;
}
