#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"

enum { WIDTH = 1230, HEIGHT = 700, LEFT = 90, RIGHT = 770, TOP = 70, BOTTOM = 620, LETTERS = 2 };
enum { BLACK = 0x202020, GREY = 0x707070, PALE = 0xe4e4e4 };
/* The paper's certificates are grey; each other statistic has its hue, which is paler for
 * finite-sample bounds. The finite-sample median is red. */
static const unsigned colours[QUESTIONS] = {0x000000, 0xb8b8b8, 0x989898, 0x787878, 0x8e6bbf,
                                            0x2a9d8f, 0xe9a227, 0x2463b5, 0xc9b3e6, 0x9ad4cc,
                                            0xf3cf8b, 0xd1352b, 0x7fa8e0};

struct frame { /* from radii and shares to pixels */
    struct canvas canvas;
    double most; /* radius at the right end */
};

static double across(const struct frame *f, double radius)
{
    return LEFT + (RIGHT - LEFT) * radius / f->most;
}

static double up(double share)
{
    return BOTTOM - (BOTTOM - TOP) * share;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The radii of one certificate at one sigma, in order; the caller frees them. */
static double *sorted(const struct results *r, size_t sigma, size_t question)
{
    const size_t count = r->images->count;
    double *list = malloc(count * sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++)
        list[i] = r->radius[(sigma * count + i) * QUESTIONS + question];
    if (list != NULL) qsort(list, count, sizeof *list, ascending);
    return list;
}

/* A scale that ends on a full tenth beyond the largest radius shown. */
static double largest(const struct results *r)
{
    double most = 0.0;
    for (size_t k = 0; k < QUESTIONS; k++)
        for (size_t i = 0; i < r->images->count; i++)
            most = fmax(
                most, r->radius[(results_best_sigma(r, k) * r->images->count + i) * QUESTIONS + k]);
    return fmin(10.0, ceil(10.0 * most + 0.5) / 10.0);
}

static void centered(struct canvas *c, double x, double y, const char *text)
{
    canvas_text(c, (int)x - canvas_text_width(text, LETTERS) / 2, (int)y, LETTERS, 0, BLACK, text);
}

static void draw_axes(struct frame *f)
{
    char label[16];
    const double step = f->most > 4.0 ? 1.0 : f->most > 2.0 ? 0.5 : f->most > 1.0 ? 0.2 : 0.1;
    for (int i = 0; i * step <= f->most + 1e-9; i++) {
        const double x = across(f, i * step);
        canvas_line(&f->canvas, x, TOP, x, BOTTOM, 1.0, PALE);
        snprintf(label, sizeof label, "%.1f", i * step);
        centered(&f->canvas, x, BOTTOM + 12, label);
    }
    for (int i = 0; i <= 4; i++) {
        const double y = up(0.25 * i);
        canvas_line(&f->canvas, LEFT, y, RIGHT, y, 1.0, PALE);
        snprintf(label, sizeof label, "%d", 25 * i);
        canvas_text(&f->canvas, LEFT - 12 - canvas_text_width(label, LETTERS), (int)y - 8, LETTERS,
                    0, BLACK, label);
    }
    canvas_line(&f->canvas, LEFT, TOP, LEFT, BOTTOM, 2.0, BLACK);
    canvas_line(&f->canvas, LEFT, BOTTOM, RIGHT, BOTTOM, 2.0, BLACK);
}

static void draw_titles(struct frame *f, const struct results *r)
{
    char line[128];
    const char *side = "% of the images with a smaller radius";
    snprintf(line, sizeof line, "certified radius, tolerance 10 degrees, %zu images",
             r->images->count);
    canvas_text(&f->canvas, LEFT, 26, LETTERS, 0, BLACK, line);
    centered(&f->canvas, 0.5 * (LEFT + RIGHT), BOTTOM + 46,
             "certified radius, 2-norm of the pixels");
    canvas_text(&f->canvas, 14, (TOP + BOTTOM + canvas_text_width(side, LETTERS)) / 2, LETTERS, 1,
                BLACK, side);
    canvas_text(&f->canvas, RIGHT + 30, TOP - 8, LETTERS, 0, GREY, "best sigma, mean radius");
}

/* The empirical distribution: a step up at every radius. The flat ends are left out, because there
 * all curves would lie on one another. */
static void draw_curve(struct frame *f, const double *list, size_t count, double thickness,
                       unsigned colour)
{
    double x = fmin(across(f, list[0]), RIGHT), y = up(0.0);
    for (size_t i = 0; i < count; i++) {
        const double right = fmin(across(f, list[i]), RIGHT),
                     high = up((double)(i + 1) / (double)count);
        canvas_line(&f->canvas, x, y, right, y, thickness, colour);
        canvas_line(&f->canvas, right, y, right, high, thickness, colour);
        x = right;
        y = high;
    }
}

static void draw_legend(struct frame *f, const struct results *r, size_t question, int line,
                        double thickness)
{
    char text[64];
    const size_t sigma = results_best_sigma(r, question);
    const int y = TOP + 22 + 44 * line;
    canvas_line(&f->canvas, RIGHT + 32, y + 7, RIGHT + 62, y + 7, thickness + 1.0,
                colours[question]);
    canvas_text(&f->canvas, RIGHT + 76, y, LETTERS, 0, BLACK, questions[question].name);
    snprintf(text, sizeof text, "sigma %g, mean %.3f", r->sigma[sigma],
             results_mean(r, sigma, question));
    canvas_text(&f->canvas, RIGHT + 76, y + 21, LETTERS, 0, GREY, text);
}

int plot_radii(const struct results *r, const char *path)
{
    struct frame f = {.most = largest(r)};
    if (canvas_open(&f.canvas, WIDTH, HEIGHT)) return 1;
    int bad = 0;
    draw_axes(&f);
    draw_titles(&f, r);
    /* The paper's curves come last, on top of the others. */
    for (size_t k = QUESTIONS; k-- > 0 && !bad;) {
        const double thickness = k == QUESTION_PAPER || k == QUESTION_MEDIAN ? 3.0 : 2.0;
        double *list = sorted(r, results_best_sigma(r, k), k);
        bad = list == NULL;
        if (!bad) draw_curve(&f, list, r->images->count, thickness, colours[k]);
        draw_legend(&f, r, k, (int)k, thickness);
        free(list);
    }
    bad = bad || canvas_write(&f.canvas, path);
    canvas_close(&f.canvas);
    return bad;
}
