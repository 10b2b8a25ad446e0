/* canvas.h: a small picture with lines and text, written as a PNG file. */
#ifndef DEMO_CANVAS_H
#define DEMO_CANVAS_H

struct canvas {
    int width, height;
    unsigned char *rgb;
};

/* A white picture. Returns 0, or 1 without memory. */
int canvas_open(struct canvas *c, int width, int height);
void canvas_close(struct canvas *c);
/* A straight line with soft edges. Colours are 0xRRGGBB, coordinates pixels from the top left. */
void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1, double thickness,
                 unsigned colour);
/* Text from its top left corner, `scale` times the size of the font; upright: it reads upwards. */
void canvas_text(struct canvas *c, int x, int y, int scale, int upright, unsigned colour,
                 const char *text);
int canvas_text_width(const char *text, int scale);
int canvas_write(const struct canvas *c, const char *path); /* returns 0 if the PNG was written */
#endif
