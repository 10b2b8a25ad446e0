/* The device that an op works on, without a trace in the calling thread: whichever context is
 * current there, or none, is so afterwards. */
#ifndef CR_BACKEND_CUDA_CONTEXT_H
#define CR_BACKEND_CUDA_CONTEXT_H

typedef struct cr_cuda_context {
    int device, held;
    void *context; /* the device's primary one */
    int (*push)(void *);
    int (*pop)(void **);
    int (*release)(int);
} cr_cuda_context;

/* All of them return CUDA's number, 0 for success. After a failed open or enter there is nothing to
 * leave. */
int cr_cuda_context_open(cr_cuda_context *, int device);
int cr_cuda_context_enter(const cr_cuda_context *);
void cr_cuda_context_leave(const cr_cuda_context *);
void cr_cuda_context_close(cr_cuda_context *);

#endif
