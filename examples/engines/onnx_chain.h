/* onnx_chain.h: reads the .onnx files of straight image networks: a chain of Reshape, Conv, Relu,
 * Flatten and Gemm from the input to the output, float32 weights stored in the file, square
 * kernels, equal strides and paddings. It refuses all other files. */
#ifndef ENGINE_ONNX_CHAIN_H
#define ENGINE_ONNX_CHAIN_H
#include <stddef.h>

enum { CHAIN_LAYERS = 16 };

struct chain_layer { /* a convolution, or a dense layer: kernel 0 */
    size_t in, out;  /* channels, or widths */
    size_t kernel, stride, pad;
    int relu;      /* whether max(0, .) follows */
    float *weight; /* convolution: [out][in][row][column]; dense: [out][in] */
    float *bias;   /* [out] */
};

struct chain {
    size_t channels, height, width; /* of the input image */
    size_t layers;
    struct chain_layer layer[CHAIN_LAYERS];
};

/* Returns 0, or 1 with a sentence in `why` (ENGINE_WHY bytes); then there is nothing to free. */
int chain_read(const char *path, struct chain *chain, char *why);
void chain_free(struct chain *chain);
#endif
