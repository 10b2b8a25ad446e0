/** @file denoiser.h
 * libcertreg: a filter in front of a model that was not trained under noise.
 *
 * Such a model has short radii, because its training contained no noise. A denoiser W,
 * made from examples of inputs without labels, removes most of the noise before the
 * model receives the input. The callback calls certreg_denoiser_apply on its batch and
 * runs the model on the result. examples/denoiser.c is a complete program.
 *
 * The certified model is then the model behind W: every promise of certreg.h holds for
 * it, for any W. Conditions (theory 13):
 * - W is fixed before the noise of a certificate is drawn, and the server of the
 *   prediction uses the same W, with the same bytes: compare the digests of
 *   certreg_denoiser_info.
 * - W receives noisy inputs only. If an input is denoised before it gets noise, the
 *   certificate does not cover inputs that are not denoised.
 * - A certificate is about stability, not accuracy. Measure the error of the model
 *   behind W, on inputs that did not make W.
 * - Calibration points (interval.h) must not be among the examples.
 *
 * W is the best linear estimate of an input from the noisy input, given only the
 * examples and the noise: it shrinks the input towards the mean of the examples, most
 * in the directions in which they vary least. It is optimal for one sigma and one
 * scale; with different ones radii hold too, but are shorter. Host memory only.
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

/** A denoiser: constants that no call changes. */
typedef struct certreg_denoiser certreg_denoiser;

/* Number of times that the examples are read. */
enum certreg_denoiser_limit { CERTREG_DENOISER_PASSES = 7 /* in ascending order */ };

/** Writes examples first to first + count - 1 into x, count * inputs floats, row by
 *  row. They are read CERTREG_DENOISER_PASSES times, and must be the same each time.
 *  @return 0; any other number ends the call, see certreg_denoiser_create */
typedef int (*certreg_read)(void *user, uint64_t first, size_t count, float *x);

/** Settings from which a denoiser is made. */
typedef struct certreg_denoiser_plan {
    uint32_t struct_size;
    int32_t reserved;   /* 0 */
    size_t inputs;      /* features of an input, 1 to 2^27 */
    uint64_t rows;      /* number of examples, at least 2 */
    certreg_read read;  /* reads the examples */
    void *user;         /* passed to read */
    double sigma;       /* noise level > 0 of the certificates */
    const float *scale; /* inputs numbers >= 0, as in certreg_model; NULL: all 1. A
                           feature of scale 0 gets no noise: it passes bit for bit, and
                           influences no other feature */
    /* Maximum number of directions of variation that are kept, up to 4,096; 0: 256. The
     * denoiser takes the smallest number with an error on held-back examples within a
     * hundredth of the smallest error. Time of apply and memory grow with it. */
    size_t components;
} certreg_denoiser_plan;

/** Facts about a denoiser. */
typedef struct certreg_denoiser_facts {
    uint32_t struct_size;
    int32_t reserved;
    size_t inputs;     /* as in the plan */
    size_t components; /* number of directions that are kept */
    double sigma;      /* as in the plan */
    uint64_t rows;     /* as in the plan */
    uint64_t digest;   /* of all data that apply and export use */
    /* Mean squared error of denoised held-back examples, divided by the mean square of
     * their noise. 1: no use; 0: all noise is removed. An estimate, not a bound: rough
     * with few examples, too small if successive examples are nearly equal, such as
     * frames of a film. */
    double error;
} certreg_denoiser_facts;

/** Makes a denoiser by LAPACK and BLAS (certreg-0/libcertreg_blas.so). It first holds
 *  back every fourth example, to estimate how much the examples vary by chance. Time:
 *  about 18*rows*inputs*(components + 8) floating-point operations, up to three times
 *  this number if rows is about equal to components. Memory during the call:
 *  16*inputs*(components + 80) + 12*components*(components + 130) bytes; afterwards the
 *  denoiser keeps 8*inputs*(components + 2). OpenBLAS keeps 128 MiB more for each
 *  thread, without which the call fails; if a later allocation of OpenBLAS fails, about
 *  2 MiB for a product, it prints a line and ends the process (SECURITY.md). The bits
 *  depend on the machine, the BLAS and its number of threads: make a denoiser once, and
 *  export it.
 *  @return CERTREG_OK; CERTREG_E_INVALID naming the field, or the example that is not
 *          finite; CERTREG_E_MODEL_FAILED (read returned non-zero: why->code);
 *          CERTREG_E_NO_BACKEND (no BLAS module); CERTREG_E_NO_MEMORY;
 *          CERTREG_E_PLATFORM
 *  @par Source theory 13 */
CERTREG_API certreg_status certreg_denoiser_create(
    const certreg_denoiser_plan *, certreg_error *why, certreg_denoiser **out);

/** Denoises rows. A row of y depends on its own row of x only, bit for bit: not on
 *  other rows, their number, the processor or BLAS.
 *  @param x     rows * inputs floats
 *  @param rows  number of rows
 *  @param y     receives rows * inputs floats; must not overlap x
 *  @return CERTREG_OK; CERTREG_E_INVALID (a pointer is NULL, or x and y overlap)
 *  @par Threads any number at once, without a lock
 *  @par Source theory 13.2 */
CERTREG_API certreg_status
certreg_denoiser_apply(const certreg_denoiser *, const float *x, size_t rows, float *y);

/** Fills `out`.
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_VERSION
 *  @par Threads any number at once  @par Source theory 13.2 */
CERTREG_API certreg_status
certreg_denoiser_info(const certreg_denoiser *, certreg_denoiser_facts *out);

/** Writes a denoiser as bytes, the same on every machine, with a checksum.
 *  @param buffer  receives the bytes; NULL: only their number is returned
 *  @param bytes   in: size of buffer; out: bytes needed
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_SMALL_MEMORY
 *  @par Threads any number at once */
CERTREG_API certreg_status
certreg_denoiser_export(const certreg_denoiser *, void *buffer, size_t *bytes);

/** Makes a denoiser from the bytes of certreg_denoiser_export. Needs no BLAS.
 *  @param buffer  `bytes` bytes
 *  @return CERTREG_OK; CERTREG_E_INVALID; CERTREG_E_CORRUPT (other bytes, or damaged);
 *          CERTREG_E_VERSION (of another format); CERTREG_E_NO_MEMORY;
 *          CERTREG_E_PLATFORM */
CERTREG_API certreg_status certreg_denoiser_import(
    const void *buffer, size_t bytes, certreg_error *why, certreg_denoiser **out);

/** Destroys a denoiser; NULL is allowed. No call may be using it. */
CERTREG_API void certreg_denoiser_destroy(certreg_denoiser *);

#ifdef __cplusplus
}
#endif
#endif
