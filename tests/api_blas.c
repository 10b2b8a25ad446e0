/* The BLAS module is found beside the library when a plan names the second order, and only then;
 * one that is missing, damaged or of another version is a status with a sentence. The library is
 * copied to a folder of its own, so that each test says what lies beside it. */
#include "support/emulated_device.h"
#include "support/second_order.h"
#include "support/suite.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SECOND = CERTREG_CONSTRAINT_MEAN | CERTREG_CONSTRAINT_SECOND_ORDER };
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
    snprintf(module, sizeof module, "%s/certreg", folder);
    ck_assert_int_eq(mkdir(module, 0700), 0);
    snprintf(module, sizeof module, "%s/certreg/libcertreg_blas.so", folder);
    snprintf(library, sizeof library, "%s/libcertreg.so", folder);
    copy(path_beside("../libcertreg.so", path), library);
}

static void teardown(void)
{
    char path[128];
    remove(module);
    snprintf(path, sizeof path, "%s/libcertreg.so", folder), remove(path);
    snprintf(path, sizeof path, "%s/certreg", folder), remove(path);
    remove(folder);
}

/* By the copy of the library, which stays in this process: each test has one of its own. */
static certreg_status try(uint32_t constraints, certreg_error *why)
{
    char path[128];
    certreg_estimator *e = NULL;
    second_order_create create;
    void (*destroy)(certreg_estimator *);
    snprintf(path, sizeof path, "%s/libcertreg.so", folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(library != NULL, "%s", dlerror());
    void *symbol = dlsym(library, "certreg_estimator_create");
    memcpy(&create, &symbol, sizeof create);
    symbol = dlsym(library, "certreg_estimator_destroy");
    memcpy(&destroy, &symbol, sizeof destroy);
    const certreg_status status = second_order_try(create, constraints, why, &e);
    ck_assert_int_eq(status == CERTREG_OK, e != NULL);
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

TEST(module_is_opened_for_the_second_order_and_for_nothing_else)
{
    certreg_error why;
    put_module("../certreg/libcertreg_blas.so");
    ck_assert_int_eq(try(CERTREG_CONSTRAINTS_ECGM, &why), CERTREG_OK);
    ck_assert(!has_opened("libcertreg_blas") && !has_opened("openblas"));
    ck_assert_msg(try(SECOND, &why) == CERTREG_OK, "%s", why.text);
    ck_assert(has_opened("libcertreg_blas"));
    ck_assert_msg(try(SECOND, &why) == CERTREG_OK, "%s", why.text);
}

TEST(missing_module_is_named_with_the_remedy)
{
    certreg_error why;
    ck_assert_int_eq(try(SECOND, &why), CERTREG_E_NO_BACKEND);
    ck_assert_int_eq(why.status, CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "certreg/libcertreg_blas.so"));
    ck_assert_ptr_nonnull(strstr(why.text, "plan.constraints"));
    ck_assert_int_eq(try(CERTREG_CONSTRAINTS_ECGM, &why), CERTREG_OK);
    put_module("../certreg/libcertreg_blas.so"); /* the remedy helps at once */
    ck_assert_int_eq(try(SECOND, &why), CERTREG_OK);
}

TEST(damaged_module_is_a_status)
{
    certreg_error why;
    FILE *out = fopen(module, "wb");
    fputs("this is no shared object", out);
    fclose(out);
    ck_assert_int_eq(try(SECOND, &why), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "plan.constraints"));
}

TEST(what_is_no_such_module_is_told_so)
{
    certreg_error why;
    put_module("old_module.so");
    ck_assert_int_eq(try(SECOND, &why), CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "certreg_module_blas"));
}

TEST(module_of_another_version_is_refused)
{
    certreg_error why;
    put_module("old_blas.so");
    ck_assert_int_eq(try(SECOND, &why), CERTREG_E_VERSION);
    ck_assert_ptr_nonnull(strstr(why.text, "another version"));
}

FIXTURE(setup, teardown)
KIT_MAIN("the BLAS module")
