/* The BLAS module is found beside the library when a denoiser is made, and only then; one that is
 * missing, damaged or of another version is a status with a sentence. The library is copied to a
 * folder of its own, so that each test says what lies beside it. */
#include "support/emulated_device.h"
#include "support/suite.h"
#include <certreg/denoiser.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static char folder[64], module[128];

static void copy(const char *from, const char *to)
{
    char bytes[65536];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    ck_assert_msg(in && out, "%s to %s", from, to);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
        ck_assert_uint_eq(fwrite(bytes, 1, n, out), n);
    fclose(in);
    ck_assert_int_eq(fclose(out), 0);
}

static void put_module(const char *name)
{
    char path[4096];
    copy(path_beside(name, path), module);
}

static void setup(void)
{
    char path[4096], library[128];
    strcpy(folder, "/tmp/certreg_blas_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(module, sizeof module, "%s/certreg-0", folder);
    ck_assert_int_eq(mkdir(module, 0700), 0);
    snprintf(module, sizeof module, "%s/certreg-0/libcertreg_blas.so", folder);
    snprintf(library, sizeof library, "%s/libcertreg.so", folder);
    copy(path_beside("../libcertreg.so", path), library);
}

static void teardown(void)
{
    char path[128];
    remove(module);
    snprintf(path, sizeof path, "%s/libcertreg.so", folder), remove(path);
    snprintf(path, sizeof path, "%s/certreg-0", folder), remove(path);
    remove(folder);
}

static int read_examples(void *user, uint64_t first, size_t count, float *x)
{
    (void)user;
    for (size_t i = 0; i < 2 * count; i++) x[i] = (float)((2 * first + i) % 7);
    return 0;
}

/* A function of the copy of the library, which stays in this process: each test has one of its own.
 */
static void find(const char *name, void *to)
{
    char path[128];
    snprintf(path, sizeof path, "%s/libcertreg.so", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
}

static certreg_status make_denoiser(certreg_error *why)
{
    const certreg_denoiser_plan plan = {
        .struct_size = sizeof plan, .inputs = 2, .rows = 20, .read = read_examples, .sigma = 1};
    certreg_denoiser *d = NULL;
    certreg_status (*create)(const certreg_denoiser_plan *, certreg_error *, certreg_denoiser **);
    void (*destroy)(certreg_denoiser *);
    find("certreg_denoiser_create", &create), find("certreg_denoiser_destroy", &destroy);
    *why = (certreg_error){.struct_size = sizeof *why};
    const certreg_status status = create(&plan, why, &d);
    ck_assert_int_eq(status == CERTREG_OK, d != NULL);
    destroy(d);
    return status;
}

static certreg_status make_estimator(void)
{
    const certreg_model model = {.struct_size = sizeof model, .inputs = 5, .outputs = 1};
    const certreg_plan plan = {
        .struct_size = sizeof plan, .max_samples = 100, .constraints = CERTREG_CONSTRAINTS_ECGM};
    certreg_estimator *e = NULL;
    certreg_status (*create)(certreg_backend *, const certreg_model *, const certreg_plan *,
                             certreg_error *, certreg_estimator **);
    void (*destroy)(certreg_estimator *);
    find("certreg_estimator_create", &create), find("certreg_estimator_destroy", &destroy);
    const certreg_status status = create(NULL, &model, &plan, NULL, &e);
    destroy(e);
    return status;
}

static int has_opened(const char *name)
{
    char line[4096];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps)) found = strstr(line, name) != NULL;
    if (maps) fclose(maps);
    return found;
}

TEST(blas_module_is_opened_for_denoisers_only)
{
    certreg_error why;
    put_module("../certreg-0/libcertreg_blas.so");
    ck_assert_int_eq(make_estimator(), CERTREG_OK);
    ck_assert(!has_opened("libcertreg_blas") && !has_opened("openblas"));
    ck_assert_msg(make_denoiser(&why) == CERTREG_OK, "%s", why.text);
    ck_assert(has_opened("libcertreg_blas"));
    ck_assert_msg(make_denoiser(&why) == CERTREG_OK, "%s", why.text);
}

TEST(blas_module_that_is_missing_is_named_with_the_remedy)
{
    certreg_error why;
    ck_assert_int_eq(make_denoiser(&why), CERTREG_E_NO_BACKEND);
    ck_assert_int_eq(why.status, CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "certreg-0/libcertreg_blas.so"));
    ck_assert_ptr_nonnull(strstr(why.text, "install them"));
    ck_assert_int_eq(make_estimator(), CERTREG_OK);
    put_module("../certreg-0/libcertreg_blas.so"); /* the remedy helps at once */
    ck_assert_int_eq(make_denoiser(&why), CERTREG_OK);
}

TEST(blas_module_that_is_damaged_is_a_status)
{
    certreg_error why;
    FILE *out = fopen(module, "wb");
    fputs("this is no shared object", out);
    fclose(out);
    ck_assert_int_eq(make_denoiser(&why), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "install them"));
}

TEST(blas_module_without_its_symbol_is_a_status)
{
    certreg_error why;
    put_module("old_module.so");
    ck_assert_int_eq(make_denoiser(&why), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "certreg_module_blas"));
}

TEST(blas_module_of_another_version_is_refused)
{
    certreg_error why;
    put_module("old_blas.so");
    ck_assert_int_eq(make_denoiser(&why), CERTREG_E_VERSION);
    ck_assert_ptr_nonnull(strstr(why.text, "another version"));
}

FIXTURE(setup, teardown)
KIT_MAIN("the BLAS module")
