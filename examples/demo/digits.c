#include "digits.h"

#include <math.h>
#include <string.h>

enum {
    MOST_STROKES = 3,
    MOST_POINTS = 14,
    PIECES = 8,
    MOST_SEGMENTS = MOST_STROKES * MOST_POINTS * PIECES
};

struct point {
    double x, y;
};

struct stroke {
    int count;
    struct point at[MOST_POINTS];
};

struct shape {
    int strokes;
    struct stroke stroke[MOST_STROKES];
};

struct path { /* what the pen follows, in pixels */
    int count;
    struct point from[MOST_SEGMENTS], to[MOST_SEGMENTS];
};

/* Each digit in a unit box, y downwards. Strokes of two points are straight, others are smooth
 * curves through their points. */
static const struct shape shapes[10] = {
    {1,
     {{11,
       {{.55, 0},
        {.25, .1},
        {.1, .35},
        {.1, .65},
        {.25, .92},
        {.52, 1},
        {.78, .9},
        {.92, .62},
        {.9, .32},
        {.75, .08},
        {.5, 0}}}}},
    {1, {{2, {{.5, 0}, {.5, 1}}}}},
    {2,
     {{7, {{.1, .25}, {.3, .03}, {.65, .03}, {.83, .25}, {.68, .52}, {.36, .78}, {.06, .97}}},
      {2, {{.06, .97}, {.95, .95}}}}},
    {2,
     {{5, {{.12, .12}, {.45, 0}, {.8, .14}, {.74, .38}, {.4, .47}}},
      {5, {{.4, .47}, {.82, .58}, {.87, .83}, {.5, 1}, {.08, .88}}}}},
    {3,
     {{2, {{.25, .03}, {.08, .55}}}, {2, {{.08, .55}, {.92, .52}}}, {2, {{.74, .05}, {.66, 1}}}}},
    {3,
     {{2, {{.9, .02}, {.27, .04}}},
      {2, {{.27, .04}, {.18, .45}}},
      {6, {{.18, .45}, {.5, .36}, {.83, .55}, {.8, .85}, {.45, 1}, {.08, .9}}}}},
    {1,
     {{9,
       {{.7, 0},
        {.35, .25},
        {.12, .6},
        {.2, .92},
        {.5, 1},
        {.82, .85},
        {.78, .6},
        {.48, .52},
        {.17, .72}}}}},
    {2, {{2, {{.06, .06}, {.9, .04}}}, {3, {{.9, .04}, {.62, .45}, {.42, 1}}}}},
    {1,
     {{13,
       {{.5, .47},
        {.22, .3},
        {.25, .07},
        {.5, 0},
        {.75, .07},
        {.78, .28},
        {.5, .47},
        {.17, .72},
        {.22, .95},
        {.5, 1},
        {.8, .93},
        {.83, .7},
        {.5, .47}}}}},
    {1,
     {{9,
       {{.82, .25},
        {.6, .02},
        {.3, .05},
        {.14, .28},
        {.3, .49},
        {.62, .45},
        {.82, .22},
        {.78, .6},
        {.66, 1}}}}},
};

/* SplitMix64. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t v = (*state += 0x9E3779B97F4A7C15u);
    v = (v ^ (v >> 30)) * 0xBF58476D1CE4E5B9u;
    v = (v ^ (v >> 27)) * 0x94D049BB133111EBu;
    return v ^ (v >> 31);
}

static double between(uint64_t *state, double lo, double hi)
{
    return lo + (hi - lo) * (double)(next_random(state) >> 11) * 0x1p-53;
}

/* Catmull-Rom spline through p1, p2; the neighbours give the slopes. */
static double spline(double p0, double p1, double p2, double p3, double t)
{
    const double a = 2.0 * p1, b = p2 - p0, c = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3,
                 d = 3.0 * (p1 - p2) + p3 - p0;
    return 0.5 * (a + t * (b + t * (c + t * d)));
}

static struct point along(const struct stroke *s, int segment, double t)
{
    const int before = segment > 0 ? segment - 1 : 0,
              after = segment + 2 < s->count ? segment + 2 : s->count - 1;
    const struct point *a = &s->at[before], *b = &s->at[segment], *c = &s->at[segment + 1],
                       *d = &s->at[after];
    const struct point p = {spline(a->x, b->x, c->x, d->x, t), spline(a->y, b->y, c->y, d->y, t)};
    return p;
}

/* A variant of the digit: every point is moved a little, then the digit is slanted and scaled to
 * pixels. */
static void jitter(struct shape *shape, uint64_t *state)
{
    const double height = between(state, 17.0, 20.0), width = height * between(state, 0.55, 0.95);
    const double slant = between(state, -0.1, 0.35), tilt = between(state, -0.1, 0.1);
    for (int k = 0; k < shape->strokes; k++)
        for (int i = 0; i < shape->stroke[k].count; i++) {
            struct point *p = &shape->stroke[k].at[i];
            const double x = (p->x - 0.5 + between(state, -0.05, 0.05)) * width;
            const double y = (p->y - 0.5 + between(state, -0.05, 0.05)) * height;
            p->x = x - slant * y;
            p->y = y + tilt * x;
        }
}

static void follow(const struct shape *shape, struct path *path)
{
    path->count = 0;
    for (int k = 0; k < shape->strokes; k++)
        for (int i = 0; i + 1 < shape->stroke[k].count; i++)
            for (int piece = 0; piece < PIECES; piece++) {
                path->from[path->count] = along(&shape->stroke[k], i, (double)piece / PIECES);
                path->to[path->count++] = along(&shape->stroke[k], i, (double)(piece + 1) / PIECES);
            }
}

static double distance(const struct path *path, int at, double x, double y)
{
    const double dx = path->to[at].x - path->from[at].x, dy = path->to[at].y - path->from[at].y;
    const double px = x - path->from[at].x, py = y - path->from[at].y, square = dx * dx + dy * dy;
    const double t = square > 0.0 ? fmin(1.0, fmax(0.0, (px * dx + py * dy) / square)) : 0.0;
    return hypot(px - t * dx, py - t * dy);
}

/* The ink is full within the pen and zero beyond its soft edge. */
static void ink(const struct path *path, double pen, double left, double top, float *image)
{
    for (int row = 0; row < DIGITS_SIDE; row++)
        for (int column = 0; column < DIGITS_SIDE; column++) {
            double nearest = 1e9;
            for (int at = 0; at < path->count; at++)
                nearest = fmin(nearest, distance(path, at, column - left, row - top));
            image[row * DIGITS_SIDE + column] =
                (float)fmin(1.0, fmax(0.0, (pen + 0.6 - nearest) / 1.2));
        }
}

static void center_of_mass(const float *image, double *x, double *y)
{
    double mass = 0.0;
    *x = *y = 0.0;
    for (int i = 0; i < DIGITS_PIXELS; i++) {
        mass += (double)image[i];
        *x += (double)image[i] * (i % DIGITS_SIDE);
        *y += (double)image[i] * (i / DIGITS_SIDE);
    }
    *x /= mass;
    *y /= mass;
}

void digits_draw(int digit, uint64_t seed, float *image)
{
    uint64_t state = seed * 10u + (uint64_t)digit;
    struct shape shape = shapes[digit];
    struct path path;
    const double middle = 0.5 * DIGITS_SIDE; /* where MNIST has the center of mass, to a pixel */
    double x, y;
    next_random(&state);
    jitter(&shape, &state);
    follow(&shape, &path);
    const double pen = between(&state, 0.8, 1.7);
    const double aside = between(&state, -0.5, 0.5), below = between(&state, -0.5, 0.5);
    ink(&path, pen, middle, middle, image);
    center_of_mass(image, &x, &y);
    ink(&path, pen, 2.0 * middle - x + aside, 2.0 * middle - y + below, image);
}

static float pixel(const float *image, int column, int row)
{
    const int inside = column >= 0 && column < DIGITS_SIDE && row >= 0 && row < DIGITS_SIDE;
    return inside ? image[row * DIGITS_SIDE + column] : 0.0f;
}

void digits_turn(const float *image, double angle, float *turned)
{
    const double middle = 0.5 * (DIGITS_SIDE - 1), c = cos(angle), s = sin(angle);
    for (int row = 0; row < DIGITS_SIDE; row++)
        for (int column = 0; column < DIGITS_SIDE; column++) {
            const double dx = column - middle, dy = row - middle;
            const double x = middle + c * dx - s * dy, y = middle + s * dx + c * dy;
            const int left = (int)floor(x), top = (int)floor(y);
            const float u = (float)(x - left), v = (float)(y - top);
            turned[row * DIGITS_SIDE + column] =
                (1.0f - v) *
                    ((1.0f - u) * pixel(image, left, top) + u * pixel(image, left + 1, top)) +
                v * ((1.0f - u) * pixel(image, left, top + 1) +
                     u * pixel(image, left + 1, top + 1));
        }
}
