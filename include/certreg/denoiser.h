/** @file denoiser.h
 * libcertreg: a filter in front of a model that was not trained under noise.
 *
 * Such a model has short radii, because it sees noise that it never learned to ignore.
 * A denoiser W, made from examples of inputs without labels, takes most of that noise
 * away before the model sees it. The callback calls certreg_denoiser_apply on its batch
 * and runs the model on the result. examples/denoiser.c is a complete program.
 *
 *     certreg_denoiser_create   once, from examples
 *     certreg_denoiser_apply    in the callback of the model
 *     certreg_denoiser_export   to use the same denoiser elsewhere
 *
 * What is certified is then the model behind W, a model like any other: every promise
 * of certreg.h holds for it, whatever W does. What has to hold (theory 13):
 * - W is fixed before the noise of a certificate is drawn, and whoever serves the
 *   prediction uses the same W, with the same bytes: compare the digests of
 *   certreg_denoiser_info.
 * - W sees noisy inputs only. Denoising an input before it gets noise certifies
 *   nothing about inputs that are not denoised.
 * - Certificates tell how stable the prediction is, not how good. Measure the error of
 *   the model behind W, on inputs that did not make W.
 * - Calibration points (interval.h) must not be among the examples.
 *
 * W is the best linear estimate of an input from the noisy one, if examples and noise
 * are all that is known: it shrinks the input towards the mean of the examples, most
 * where they vary least. It is right for one sigma and one scale; with others the
 * certificates hold as well, but are shorter. The rules of certreg.h for structs,
 * threads, memory and numbers hold here as well. Host memory only.
 */
#ifndef CERTREG_DENOISER_H
#define CERTREG_DENOISER_H
#ifndef CERTREG_EXPERIMENTAL
#error "experimental (certreg.h, stability): define CERTREG_EXPERIMENTAL to use it"
#endif
#include "certreg/certreg.h"
#ifdef __cplusplus
extern "C" {
#endif

/** A denoiser: constants only, which no call changes. */
typedef struct certreg_denoiser certreg_denoiser;

/* How often the examples are read. */
enum certreg_denoiser_limit { CERTREG_DENOISER_PASSES = 7 /* in ascending order */ };

/** Writes examples first to first + count - 1 into x, count * inputs floats, row by
 *  row. They are read CERTREG_DENOISER_PASSES times, and must be the same each time.
 *  @return 0; any other number ends the call, see certreg_denoiser_create */
typedef int (*certreg_read)(void *user, uint64_t first, size_t count, float *x);

/** What a denoiser is made from. */
typedef struct certreg_denoiser_plan {
    uint32_t struct_size;
    int32_t reserved;   /* 0 */
    size_t inputs;      /* features of an input, 1 to 2^27 */
    uint64_t rows;      /* how many examples, at least 2 */
    certreg_read read;  /* gives the examples */
    void *user;         /* given to read */
    double sigma;       /* noise level > 0 of the certificates */
    const float *scale; /* inputs numbers >= 0, as in certreg_model; NULL: all 1. A
                           feature whose scale is 0 gets no noise: it is passed on bit
                           for bit, and changes no other */
    /* Most directions in which the examples vary that are kept, up to 4,096; 0: 256.
     * The fewest are kept whose error on examples that are held back is within a
     * hundredth of the least. Time of apply and memory grow with their number. */
    size_t components;
} certreg_denoiser_plan;

/** What a denoiser is. */
typedef struct certreg_denoiser_facts {
    uint32_t struct_size;
    int32_t reserved;
    size_t inputs;     /* of the plan */
    size_t components; /* directions that are kept */
    double sigma;      /* of the plan */
    uint64_t rows;     /* of the plan */
    uint64_t digest;   /* of all that apply and export use */
    /* Mean squared distance between an example that is held back and what is made of it
     * with noise, divided by that of the noise. 1: it is of no use; 0: nothing is left
     * of the noise. An estimate, not a bound: rough where examples are few, too small
     * where examples in a row are nearly equal, as frames of a film are. */
    double error;
} certreg_denoiser_facts;

/** Makes a denoiser by LAPACK and BLAS (certreg/libcertreg_blas.so). Every fourth
 *  example is held back at first, to learn how much the others vary by chance. Takes
 *  about 18*rows*inputs*(components + 8) floating-point operations, up to three times
 *  that where examples are as few as components, and 16*inputs*(components + 80) +
 *  12*components*(components + 130) bytes of memory, all but 8*inputs*(components + 2)
 *  of them only during the call. OpenBLAS keeps 128 MiB more for each thread, without
 *  which the call fails; but if a later allocation of OpenBLAS fails, about 2 MiB for a
 *  product, it prints a line and ends the process (SECURITY.md). Another machine, BLAS
 *  or number of its threads makes other bits of the same examples: make a denoiser
 *  once, and export it.
 *  @param why  receives the error, or NULL
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field, or the example that is not
 *          finite; CERTREG_E_MODEL_FAILED (read returned non-zero: why->model_code);
 *          CERTREG_E_NO_BACKEND (no BLAS module); CERTREG_E_NO_MEMORY
 *  @par Threads any  @par Source theory 13 */
CERTREG_API certreg_status certreg_denoiser_create(
    const certreg_denoiser_plan *, certreg_error *why, certreg_denoiser **out);

/** Denoises rows. A row of y depends on its own row of x only, bit for bit: not on
 *  other rows, their number, the processor or BLAS.
 *  @param x     rows * inputs floats
 *  @param rows  how many
 *  @param y     rows * inputs floats of their own
 *  @return CERTREG_OK; CERTREG_E_INVALID (something is NULL, or x and y overlap)
 *  @par Threads any number at once  @par Memory does not allocate; takes no lock */
CERTREG_API certreg_status
certreg_denoiser_apply(const certreg_denoiser *, const float *x, size_t rows, float *y);

/** Fills `out`.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_VERSION
 *  @par Threads any number at once */
CERTREG_API certreg_status
certreg_denoiser_info(const certreg_denoiser *, certreg_denoiser_facts *out);

/** A denoiser as bytes, the same on every machine, with a checksum.
 *  @param buffer  receives them; NULL: only their number is asked
 *  @param bytes   in: room in buffer; out: what is needed
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_SMALL_MEMORY
 *  @par Threads any number at once  @par Memory does not allocate */
CERTREG_API certreg_status
certreg_denoiser_export(const certreg_denoiser *, void *buffer, size_t *bytes);

/** A denoiser from bytes of certreg_denoiser_export. Needs no BLAS.
 *  @param buffer  `bytes` bytes
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_CORRUPT (other bytes, or damaged);
 *          CERTREG_E_VERSION (of another format); CERTREG_E_NO_MEMORY
 *  @par Threads any */
CERTREG_API certreg_status certreg_denoiser_import(
    const void *buffer, size_t bytes, certreg_error *why, certreg_denoiser **out);

/** Frees it; NULL is allowed. No call may be using it. */
CERTREG_API void certreg_denoiser_destroy(certreg_denoiser *);

#ifdef __cplusplus
}
#endif
#endif
