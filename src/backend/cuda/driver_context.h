/* The context of the device, current only during an op: afterwards the calling thread has the
 * current context from before, or none. */
#ifndef CR_BACKEND_CUDA_DRIVER_CONTEXT_H
#define CR_BACKEND_CUDA_DRIVER_CONTEXT_H

typedef struct cr_cuda_context {
    int device, is_retained;
    void *context; /* the device's primary one */
    int (*push)(void *);
    int (*pop)(void **);
    int (*release)(int);
} cr_cuda_context;

/* Retains the primary context of a device. Returns 0 or CUDA's error number. */
int cr_cuda_context_open(cr_cuda_context *, int device);
/* Makes the context current. Returns 0 or CUDA's error number; only after 0 leave must follow. */
int cr_cuda_context_enter(const cr_cuda_context *);
/* Makes the context from before cr_cuda_context_enter current. */
void cr_cuda_context_leave(const cr_cuda_context *);
/* Releases the context; after a failed open it does nothing. */
void cr_cuda_context_close(cr_cuda_context *);

#endif
