/* replay PATH...: gives files, and every file of folders, by name, to a fuzzer. A file that brings
 * the program to an end is the last one named; how many there were is said at the end. */
#include "fuzz/fuzz.h"
#include <dirent.h>
#include <errno.h>

static uint8_t bytes[1 << 20];

static int replay_file(const char *path)
{
    fprintf(stderr, "%s\n", path);
    FILE *file = fopen(path, "rb");
    if (!file) return fprintf(stderr, "%s cannot be read\n", path), 1;
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* A copy of the very size, so that sanitizers see a read beyond it. */
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy) return 1;
    memcpy(copy, bytes, size);
    fuzz_one(copy, size);
    free(copy);
    return 0;
}

static int replay(const char *folder, int *files)
{
    struct dirent **names;
    const int count = scandir(folder, &names, NULL, alphasort);
    if (count < 0 && errno == ENOTDIR) return ++*files, replay_file(folder);
    if (count < 0) return fprintf(stderr, "%s cannot be read\n", folder), 1;
    int failed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.') {
            failed |= replay_file(path), ++*files;
        }
        free(names[i]);
    }
    free(names);
    return failed;
}

int main(int argc, char **argv)
{
    int files = 0, failed = 0;
    fuzz_prepare();
    for (int i = 1; i < argc; i++) failed |= replay(argv[i], &files);
    if (failed || !files) return puts("not ok inputs are missing"), 1;
    printf("ok %d inputs replayed\n", files);
    return 0;
}
