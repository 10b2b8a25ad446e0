/* Opening and closing backends, by the public header alone. */
#include "support/suite.h"
#include <certreg/backend.h>
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static certreg_error why;

static void setup(void)
{
    memset(&why, 0, sizeof why);
    why.struct_size = sizeof why;
}

TEST_TIMES(backend_open_cpu_takes_admissible_numbers_of_threads, 6)
{
    static const int32_t threads[] = {1, 2, 3, 8, 33, 0}; /* 0: all online processors */
    certreg_backend *backend = NULL;
    ck_assert_msg(certreg_backend_open_cpu(threads[_i], &why, &backend) == CERTREG_OK, "%s",
                  why.text);
    ck_assert_ptr_nonnull(backend);
    ck_assert_int_eq(why.status, CERTREG_OK);
    ck_assert_str_eq(why.text, "");
    certreg_backend_close(backend);
}

TEST(backend_open_cpu_many_times)
{
    certreg_backend *backends[20];
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(certreg_backend_open_cpu(1 + i % 4, NULL, &backends[i]), CERTREG_OK);
    for (int i = 0; i < 20; i++) certreg_backend_close(backends[(7 * i) % 20]);
}

TEST(backend_close_accepts_null)
{
    certreg_backend_close(NULL);
}

TEST(backend_open_of_an_absent_module_is_a_status)
{
    int somewhere;
    certreg_backend *backend = (certreg_backend *)&somewhere;
    const certreg_status status =
        certreg_backend_open("/nonexistent/certreg_cuda.so", 0, NULL, &why, &backend);
    ck_assert_int_eq(status, CERTREG_E_NO_BACKEND);
    ck_assert_int_eq(why.status, status);
    ck_assert_ptr_null(backend);
    ck_assert_uint_gt(strlen(why.text), 10);
    ck_assert_int_eq(certreg_backend_open("/nonexistent/certreg_cuda.so", 0, NULL, NULL, &backend),
                     CERTREG_E_NO_BACKEND);
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

TEST_TIMES(backend_open_cpu_refuses_impossible_numbers_of_threads, 4)
{
    static const int32_t threads[] = {-1, INT32_MIN, 1025, INT32_MAX};
    int somewhere;
    certreg_backend *backend = (certreg_backend *)&somewhere;
    ck_assert_int_eq(certreg_backend_open_cpu(threads[_i], &why, &backend), CERTREG_E_INVALID);
    ck_assert_ptr_null(backend);
    ck_assert_int_eq(why.status, CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "threads"));
    ck_assert_int_eq(why.sample, -1);
    ck_assert_int_eq(certreg_backend_open_cpu(threads[_i], NULL, &backend), CERTREG_E_INVALID);
}

TEST(backend_open_refuses_a_null_out)
{
    ck_assert_int_eq(certreg_backend_open_cpu(1, &why, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "out"));
    ck_assert_int_eq(certreg_backend_open("cuda", 0, NULL, &why, NULL), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "out"));
    ck_assert_int_eq(certreg_backend_open_cpu(1, NULL, NULL), CERTREG_E_INVALID);
}

TEST(backend_open_refuses_bad_modules_and_devices)
{
    certreg_backend *backend = NULL;
    ck_assert_int_eq(certreg_backend_open("cuda", -1, NULL, &why, &backend), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "device"));
    ck_assert_int_eq(certreg_backend_open("", 0, NULL, &why, &backend), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "module"));
    ck_assert_int_eq(certreg_backend_open(NULL, 0, NULL, &why, &backend), CERTREG_E_INVALID);
    ck_assert_ptr_nonnull(strstr(why.text, "module"));
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
            ck_assert_int_eq(certreg_backend_open(path, 0, NULL, &why, &backend),
                             CERTREG_E_NO_BACKEND);
            ck_assert_msg(strstr(why.text, paths[i].reason) != NULL, "%s", why.text);
            ck_assert_msg(
                strstr(why.text, slash ? "give one that is there" : "give \"cuda\", or") != NULL,
                "%s", why.text);
        }
}

/* A name is never a file of the working directory. */
TEST(backend_open_looks_for_names_beside_the_library_alone)
{
    certreg_backend *backend = NULL;
    ck_assert_int_eq(certreg_backend_open("nothing", 0, NULL, &why, &backend),
                     CERTREG_E_NO_BACKEND);
    ck_assert_ptr_nonnull(strstr(why.text, "the module nothing cannot be opened"));
    ck_assert_ptr_nonnull(strstr(why.text, "/certreg-0/libcertreg_nothing.so"));
}

TEST(backend_open_never_writes_beyond_the_error_struct)
{
    struct {
        certreg_error error;
        unsigned char after[64];
    } larger;
    certreg_backend *backend;
    memset(&larger, 0xA5, sizeof larger);
    larger.error.struct_size = 16;
    ck_assert_int_eq(certreg_backend_open_cpu(-1, &larger.error, &backend), CERTREG_E_INVALID);
    ck_assert_int_eq(larger.error.status, CERTREG_E_INVALID);
    for (size_t i = 16; i < sizeof larger; i++)
        ck_assert_uint_eq(((unsigned char *)&larger)[i], 0xA5);
    /* of a later release: what this one does not know is zeroed */
    larger.error.struct_size = sizeof larger;
    ck_assert_int_eq(certreg_backend_open_cpu(-1, &larger.error, &backend), CERTREG_E_INVALID);
    for (size_t i = 0; i < sizeof larger.after; i++) ck_assert_uint_eq(larger.after[i], 0);
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

FIXTURE(setup, NULL)
KIT_MAIN("backend, public")
