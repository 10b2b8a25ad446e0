/* Opening and closing backends, by the public header alone, and the BLAS module of denoisers: it is
 * found beside the library when a denoiser is made, and only then; one that is missing, damaged or
 * of another version is a status with a sentence. */
#include "support/api_kit.h"
#include "support/emulated_device.h"
#include <certreg/backend.h>
#include <certreg/denoiser.h>
#include <dlfcn.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static certreg_error why;

static void set_up(void)
{
    memset(&why, 0, sizeof why);
    why.struct_size = sizeof why;
}

/* ======== the CPU */
static const int32_t admissible[] = {1, 2, 3, 8, 33, 1, 0}; /* 0: all online processors */

TEST_ROWS(backend_open_cpu_takes_admissible_numbers_of_threads, admissible)
{
    certreg_backend *backends[4] = {NULL};
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(certreg_backend_open_cpu(admissible[_i], &why, backends + i) == CERTREG_OK,
                      "%s", why.text);
        ck_assert_ptr_nonnull(backends[i]);
        ck_assert_int_eq(why.status, CERTREG_OK);
        ck_assert_str_eq(why.text, "");
    }
    for (int i = 0; i < 4; i++) certreg_backend_close(backends[(3 * i) % 4]);
    certreg_backend_close(NULL);
}

/* What is refused, of the CPU or of a module (threads are its device), and the words that say why.
 */
static const struct {
    const char *module; /* NULL: the CPU */
    int32_t number;
    certreg_status status;
    const char *words;
} refusals[] = {
    {NULL, -1, CERTREG_E_INVALID, "threads"},
    {NULL, INT32_MIN, CERTREG_E_INVALID, "threads"},
    {NULL, 1025, CERTREG_E_INVALID, "threads"},
    {NULL, INT32_MAX, CERTREG_E_INVALID, "threads"},
    {"cuda", -1, CERTREG_E_INVALID, "device is -1"},
    {"", 0, CERTREG_E_INVALID, "module is empty"},
    {"/nonexistent/certreg_cuda.so", 0, CERTREG_E_NO_BACKEND, "give one that is there"},
    /* a name is never a file of the working directory */
    {"nothing", 0, CERTREG_E_NO_BACKEND, "the module nothing cannot be opened"},
    {"nothing", 0, CERTREG_E_NO_BACKEND, "/certreg-0/libcertreg_nothing.so"},
};

static certreg_status open_backend(const char *module, int32_t number, certreg_error *error,
                                   certreg_backend **out)
{
    return module ? certreg_backend_open(module, number, NULL, error, out)
                  : certreg_backend_open_cpu(number, error, out);
}

TEST_ROWS(backend_open_refuses_with_a_reason, refusals)
{
    certreg_backend *backend = (certreg_backend *)&why, *other = backend;
    const certreg_status wanted = refusals[_i].status;
    ck_assert_int_eq(open_backend(refusals[_i].module, refusals[_i].number, &why, &backend),
                     wanted);
    ck_assert_ptr_null(backend);
    ck_assert_int_eq(why.status, wanted);
    ck_assert_int_eq(why.sample, -1);
    KIT_SAYS(&why, refusals[_i].words);
    ck_assert_int_eq(open_backend(refusals[_i].module, refusals[_i].number, NULL, &other), wanted);
    ck_assert_ptr_null(other);
    KIT_UNMADE(&why, open_backend(refusals[_i].module, 1, &why, NULL), CERTREG_E_INVALID, "out");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Stacks of 1023 threads need a gigabyte of addresses, of which this process may have a quarter. */
TEST(backend_open_cpu_without_room_for_threads_is_a_status)
{
    if (getenv("SANITIZED")) return; /* under valgrind the limit would be valgrind's */
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        const struct rlimit little = {(rlim_t)1 << 28, (rlim_t)1 << 28};
        certreg_backend *backend = NULL;
        if (setrlimit(RLIMIT_AS, &little)) _exit(0);
        int good = certreg_backend_open_cpu(1024, &why, &backend) == CERTREG_E_NO_MEMORY &&
                   !backend && why.text[0];
        /* what was taken has been given back */
        good = good && certreg_backend_open_cpu(2, &why, &backend) == CERTREG_OK;
        certreg_backend_close(backend);
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

/* ======== modules of devices */
TEST(backend_open_refuses_no_module)
{
    certreg_backend *backend = NULL;
    KIT_UNMADE(&why, certreg_backend_open(NULL, 0, NULL, &why, &backend), CERTREG_E_INVALID,
               "module is NULL");
}

/* The module lies beside the library where nvcc was there to build it. Then it is for the driver
 * to say that there is no device. */
TEST(backend_open_cuda_without_a_device_is_a_status)
{
    const char *sanitized = getenv("SANITIZED");
    /* CUDA's libraries stay in the process, and take more room than valgrind and small limits
     * have */
    if (sanitized && *sanitized) {
        puts("api_backend: skipped the CUDA module");
        return;
    }
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    ck_assert_int_gt((int)length, 0);
    path[length] = 0;
    strcpy(strrchr(path, '/'), "/../certreg-0/libcertreg_cuda.so");
    const int built = access(path, R_OK) == 0, driver = access("/dev/nvidiactl", F_OK) == 0;
    certreg_backend *backend = NULL;
    const certreg_status status = certreg_backend_open("cuda", 0, NULL, &why, &backend);
    if (!built) ck_assert_int_eq(status, CERTREG_E_NO_BACKEND);
    else if (!driver)
        ck_assert_msg(status == CERTREG_E_NO_DEVICE && why.code > 0, "%d: %s", (int)status,
                      why.text);
    else ck_assert_msg(status == CERTREG_OK, "%s", why.text);
    ck_assert_int_eq(status == CERTREG_OK, backend != NULL);
    if (built && !driver)
        ck_assert_int_eq(certreg_backend_open(path, 3, NULL, &why, &backend), CERTREG_E_NO_DEVICE);
    certreg_backend_close(backend);
}

TEST(backend_open_gives_a_reason_for_paths_of_any_length)
{
    static const struct {
        size_t letters;
        const char *reason;
    } paths[] = {{20, "No such file"},
                 {3000, "oo long"}, /* one name of so many letters */
                 {4096, "more than 4095 letters"},
                 {9000, "more than 4095 letters"}};
    static char path[9001];
    for (size_t slash = 0; slash < 2; slash++)
        for (int i = 0; i < KIT_ROWS(paths); i++) {
            certreg_backend *backend = NULL;
            memset(path, 'm', paths[i].letters);
            path[paths[i].letters] = 0;
            if (slash) path[0] = '/';
            KIT_UNMADE(&why, certreg_backend_open(path, 0, NULL, &why, &backend),
                       CERTREG_E_NO_BACKEND, paths[i].reason);
            KIT_SAYS(&why, slash ? "give one that is there" : "give \"cuda\", or");
        }
}

/* ======== the BLAS module: the library is copied to a folder of its own, so that each test decides
 * what lies beside it */
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

static void make_folder(void)
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

static void remove_folder(void)
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

static certreg_status make_denoiser(void)
{
    const certreg_denoiser_plan plan = {
        .struct_size = sizeof plan, .inputs = 2, .rows = 20, .read = read_examples, .sigma = 1};
    certreg_denoiser *d = NULL;
    certreg_status (*create)(const certreg_denoiser_plan *, certreg_error *, certreg_denoiser **);
    void (*destroy)(certreg_denoiser *);
    find("certreg_denoiser_create", &create), find("certreg_denoiser_destroy", &destroy);
    set_up();
    const certreg_status status = create(&plan, &why, &d);
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
    put_module("../certreg-0/libcertreg_blas.so");
    ck_assert_int_eq(make_estimator(), CERTREG_OK);
    ck_assert(!has_opened("libcertreg_blas") && !has_opened("openblas"));
    ck_assert_msg(make_denoiser() == CERTREG_OK, "%s", why.text);
    ck_assert(has_opened("libcertreg_blas"));
    ck_assert_msg(make_denoiser() == CERTREG_OK, "%s", why.text);
}

TEST(blas_module_that_is_missing_is_named_with_the_remedy)
{
    ck_assert_int_eq(make_denoiser(), CERTREG_E_NO_BACKEND);
    ck_assert_int_eq(why.status, CERTREG_E_NO_BACKEND);
    KIT_SAYS(&why, "certreg-0/libcertreg_blas.so");
    KIT_SAYS(&why, "install them");
    ck_assert_int_eq(make_estimator(), CERTREG_OK);
    put_module("../certreg-0/libcertreg_blas.so"); /* the remedy helps at once */
    ck_assert_int_eq(make_denoiser(), CERTREG_OK);
}

static const struct {
    const char *file; /* NULL: no shared object */
    certreg_status status;
    const char *words;
} modules[] = {{NULL, CERTREG_E_NO_BACKEND, "install them"},
               {"old_module.so", CERTREG_E_NO_BACKEND, "certreg_module_blas"},
               {"old_blas.so", CERTREG_E_VERSION, "another version"}};

TEST_ROWS(blas_module_that_is_damaged_or_of_another_version, modules)
{
    FILE *out = fopen(module, "wb");
    fputs("this is no shared object", out);
    fclose(out);
    if (modules[_i].file) put_module(modules[_i].file);
    ck_assert_int_eq(make_denoiser(), modules[_i].status);
    KIT_SAYS(&why, modules[_i].words);
}

static void set_up_all(void)
{
    set_up(), make_folder();
}

FIXTURE(set_up_all, remove_folder)
/* It begins with its operations, and these with their version. */
TEST(backend_of_another_version_is_refused)
{
    const uint32_t version = 1, *other = &version;
    const certreg_model m = kit_model(kit_identity, NULL, 1, 1);
    const certreg_plan p = kit_plan(9);
    certreg_estimator *none;
    KIT_UNMADE(&why, certreg_estimator_create((void *)&other, &m, &p, &why, &none),
               CERTREG_E_VERSION, "another version of the library opened this backend");
    certreg_backend_close((void *)&other);
}

KIT_MAIN("opening backends and modules")
