#include "canvas.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "font.h"

int canvas_open(struct canvas *c, int width, int height)
{
    const size_t bytes = 3 * (size_t)width * (size_t)height;
    *c = (struct canvas){width, height, malloc(bytes)};
    if (c->rgb == NULL) return 1;
    memset(c->rgb, 255, bytes);
    return 0;
}

void canvas_close(struct canvas *c)
{
    free(c->rgb);
    c->rgb = NULL;
}

static void blend(struct canvas *c, int x, int y, double cover, unsigned colour)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height) return;
    unsigned char *p = c->rgb + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
    for (int k = 0; k < 3; k++) {
        const double ink = (double)(colour >> (16 - 8 * k) & 255u);
        p[k] = (unsigned char)(p[k] + cover * (ink - p[k]) + 0.5);
    }
}

static double distance(double px, double py, double dx, double dy)
{
    const double square = dx * dx + dy * dy;
    const double t = square > 0.0 ? fmin(1.0, fmax(0.0, (px * dx + py * dy) / square)) : 0.0;
    return hypot(px - t * dx, py - t * dy);
}

void canvas_line(struct canvas *c, double x0, double y0, double x1, double y1, double thickness,
                 unsigned colour)
{
    const double half = 0.5 * thickness, reach = half + 1.0;
    for (int y = (int)(fmin(y0, y1) - reach); y <= (int)(fmax(y0, y1) + reach); y++)
        for (int x = (int)(fmin(x0, x1) - reach); x <= (int)(fmax(x0, x1) + reach); x++) {
            const double cover = half + 0.5 - distance(x - x0, y - y0, x1 - x0, y1 - y0);
            if (cover > 0.0) blend(c, x, y, fmin(1.0, cover), colour);
        }
}

/* The font has small letters only. */
static const unsigned char *glyph(char letter)
{
    for (size_t i = 0; i < sizeof font / sizeof *font; i++)
        if (font[i].letter == tolower((unsigned char)letter)) return font[i].row;
    return NULL;
}

static void block(struct canvas *c, int x, int y, int size, unsigned colour)
{
    for (int i = 0; i < size * size; i++) blend(c, x + i % size, y + i / size, 1.0, colour);
}

void canvas_text(struct canvas *c, int x, int y, int scale, int upright, unsigned colour,
                 const char *text)
{
    for (int at = 0; *text != '\0'; text++, at += FONT_STEP * scale) {
        const unsigned char *rows = glyph(*text);
        for (int i = 0; rows != NULL && i < FONT_WIDTH * FONT_HEIGHT; i++) {
            const int column = i % FONT_WIDTH, row = i / FONT_WIDTH;
            if (!(rows[row] >> (FONT_WIDTH - 1 - column) & 1)) continue;
            const int along = at + column * scale, down = row * scale;
            block(c, upright ? x + down : x + along, upright ? y - along - scale : y + down, scale,
                  colour);
        }
    }
}

int canvas_text_width(const char *text, int scale)
{
    return (int)strlen(text) * FONT_STEP * scale;
}

/* A PNG file is a signature and chunks: length, name, data, and the checksum of name and data. */
static void put(unsigned char *at, unsigned long v)
{
    for (int k = 0; k < 4; k++) at[k] = (unsigned char)(v >> (24 - 8 * k) & 255u);
}

static int write_chunk(FILE *f, const char *name, const unsigned char *data, size_t count)
{
    unsigned char head[8], tail[4];
    put(head, (unsigned long)count);
    memcpy(head + 4, name, 4);
    uLong sum = crc32(crc32(0, NULL, 0), head + 4, 4);
    if (count > 0) sum = crc32(sum, data, (uInt)count);
    put(tail, sum);
    return fwrite(head, 1, 8, f) != 8 || fwrite(data, 1, count, f) != count ||
           fwrite(tail, 1, 4, f) != 4;
}

/* The rows, compressed, each after a byte that means "no filter". */
static unsigned char *packed_rows(const struct canvas *c, uLongf *size)
{
    const size_t row = 3 * (size_t)c->width, bytes = (row + 1) * (size_t)c->height;
    unsigned char *rows = malloc(bytes), *packed = NULL;
    if (rows != NULL) {
        for (size_t y = 0; y < (size_t)c->height; y++) {
            rows[y * (row + 1)] = 0;
            memcpy(rows + y * (row + 1) + 1, c->rgb + y * row, row);
        }
        *size = compressBound((uLong)bytes);
        packed = malloc(*size);
        if (packed != NULL && compress2(packed, size, rows, (uLong)bytes, 9) != Z_OK) {
            free(packed);
            packed = NULL;
        }
    }
    free(rows);
    return packed;
}

int canvas_write(const struct canvas *c, const char *path)
{
    static const unsigned char signature[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    unsigned char head[13] = {0};
    uLongf size = 0;
    unsigned char *packed = packed_rows(c, &size);
    FILE *f = packed != NULL ? fopen(path, "wb") : NULL;
    int bad = f == NULL;
    put(head, (unsigned long)c->width);
    put(head + 4, (unsigned long)c->height);
    head[8] = 8; /* bits; then colour type 2: red, green, blue */
    head[9] = 2;
    if (f != NULL) {
        bad = fwrite(signature, 1, 8, f) != 8 || write_chunk(f, "IHDR", head, 13) ||
              write_chunk(f, "IDAT", packed, size) || write_chunk(f, "IEND", head, 0);
        bad = fclose(f) != 0 || bad;
    }
    free(packed);
    return bad;
}
