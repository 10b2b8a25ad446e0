/* network.h: the networks that the built-in engine evaluates: convolutions of square images with
 * square kernels, max(0, .) after each except the last. A dense layer is one whose kernel covers
 * its whole input. They are read from weight files, whose format examples/models/convert.py
 * describes and writes. */
#ifndef ENGINE_NETWORK_H
#define ENGINE_NETWORK_H
#include <stddef.h>

enum { NETWORK_LAYERS = 16 };

struct layer {
    size_t in_channels, in_side, channels, side; /* of the images before and after */
    size_t kernel, stride, padding;
    size_t window; /* numbers under the kernel: kernel * kernel * in_channels */
    float *weight; /* [channels][row][column][in_channels] */
    float *bias;   /* [channels] */
};

struct network {
    size_t layers;
    struct layer layer[NETWORK_LAYERS];
    float *numbers; /* all weights and biases */
};

/* Reads the network in a weight file. If the name ends with .onnx, it is the file with .weights
 * instead. Returns 0, or 1 with a sentence in `why` (ENGINE_WHY bytes); then there is nothing to
 * free. */
int network_read(const char *model, struct network *out, char *why);
void network_free(struct network *n);

size_t network_inputs(const struct network *n);  /* grey pixels of an image */
size_t network_columns(const struct network *n); /* numbers that it is turned into */

size_t layer_in(const struct layer *l);      /* numbers of an image before a layer, */
size_t layer_out(const struct layer *l);     /* after it, */
size_t layer_windows(const struct layer *l); /* and under all windows of it */
#endif
