#include "plot.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = 1180, HEIGHT = 560, LEFT = 70, RIGHT = 700, TOP = 60, BOTTOM = 490 };
enum { KEY = RIGHT + 30, KEY_NAME = KEY + 40, KEY_SIGMA = 1080, KEY_MEAN = 1150, KEY_STEP = 24 };

/* A hue for each statistic, dashed for asymptotic bounds; Zhang and Frank's are grey. */
static const char *const colours[QUESTIONS] = {
    "#000",    "#b0b0b0", "#8a8a8a", "#666",    "#8e5bbf", "#1b9e8f", "#e08a00",
    "#2463b5", "#8e5bbf", "#1b9e8f", "#e08a00", "#d1252b", "#2463b5"};

static const char *stroke(size_t question)
{
    if (questions[question].method == CERTREG_METHOD_ASYMPTOTIC)
        return "stroke-width='2' stroke-dasharray='7 4'";
    return question == QUESTION_PAPER || question == QUESTION_MEDIAN ? "stroke-width='3'"
                                                                     : "stroke-width='2'";
}

/* Radii at the best sigma, in ascending order. */
static void sort_radii(const struct results *r, size_t question, double *sorted)
{
    const size_t sigma = results_best_sigma(r, question);
    for (size_t i = 0; i < r->images->count; i++)
        sorted[i] = results_record(r, sigma, i)->certificate[question].radius;
    results_sort(sorted, r->images->count);
}

static double across(double radius, double most)
{
    return LEFT + (RIGHT - LEFT) * radius / most;
}

static void draw_axes(double most, FILE *out)
{
    const double step = most > 4.0 ? 1.0 : most > 2.0 ? 0.5 : most > 1.0 ? 0.2 : 0.1;
    for (int i = 0; i * step <= most + 1e-9; i++)
        fprintf(out,
                "<path d='M%.1f %dV%d' stroke='#ddd'/>\n"
                "<text x='%.1f' y='%d' text-anchor='middle'>%.1f</text>\n",
                across(i * step, most), TOP, BOTTOM, across(i * step, most), BOTTOM + 20, i * step);
    for (int i = 0; i <= 4; i++) {
        const int y = BOTTOM - (BOTTOM - TOP) * i / 4;
        fprintf(out,
                "<path d='M%d %dH%d' stroke='#ddd'/>\n"
                "<text x='%d' y='%d' text-anchor='end'>%d</text>\n",
                LEFT, y, RIGHT, LEFT - 8, y + 5, 25 * i);
    }
    fprintf(out, "<path d='M%d %dV%dH%d' fill='none' stroke='#222' stroke-width='1.5'/>\n", LEFT,
            TOP, BOTTOM, RIGHT);
}

static void draw_titles(const struct results *r, FILE *out)
{
    fprintf(out,
            "<text x='%d' y='32' font-size='18'>Certified radii of %zu turned digits, each "
            "certificate at its best noise level</text>\n"
            "<text x='%d' y='%d' text-anchor='middle'>certified radius, 2-norm of the "
            "pixels</text>\n"
            "<text transform='translate(22 %d) rotate(-90)' text-anchor='middle'>images with a "
            "smaller radius, %%</text>\n"
            "<text x='%d' y='%d' text-anchor='end'>best sigma</text>\n"
            "<text x='%d' y='%d' text-anchor='end'>mean</text>\n",
            LEFT, r->images->count, (LEFT + RIGHT) / 2, BOTTOM + 48, (TOP + BOTTOM) / 2, KEY_SIGMA,
            TOP + 5, KEY_MEAN, TOP + 5);
}

/* The empirical distribution: a step up at every radius. */
static void draw_curve(const double *sorted, size_t count, double most, size_t question, FILE *out)
{
    fprintf(out, "<path fill='none' stroke='%s' %s d='M%.1f %d", colours[question],
            stroke(question), across(sorted[0], most), BOTTOM);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "H%.1fV%.1f", across(sorted[i], most),
                BOTTOM - (double)((BOTTOM - TOP) * (i + 1)) / (double)count);
    fprintf(out, "'/>\n");
}

/* Returns how many lines it needs: there is a heading before the first certificate of a method. */
static int draw_key(const struct results *r, size_t question, int line, FILE *out)
{
    const int first = question == 0 || questions[question].method != questions[question - 1].method;
    const int y = TOP + 5 + KEY_STEP * (line + first + 1);
    if (first)
        fprintf(out, "<text x='%d' y='%d' font-weight='bold'>%s</text>\n", KEY, y - KEY_STEP,
                method_title(questions[question].method));
    fprintf(out,
            "<path d='M%d %dh30' stroke='%s' %s/>\n"
            "<text x='%d' y='%d'>%s</text>\n"
            "<text x='%d' y='%d' text-anchor='end'>%g</text>\n"
            "<text x='%d' y='%d' text-anchor='end'>%.3f</text>\n",
            KEY, y - 5, colours[question], stroke(question), KEY_NAME, y, questions[question].name,
            KEY_SIGMA, y, r->set->sigma[results_best_sigma(r, question)], KEY_MEAN, y,
            results_best(r, question));
    return 1 + first;
}

int plot_radii(const struct results *r, FILE *out)
{
    const size_t count = r->images->count;
    double *sorted = calloc(QUESTIONS * count, sizeof *sorted), most = 0.0;
    if (sorted == NULL) {
        fprintf(stderr, "no memory for the plot\n");
        return 1;
    }
    for (size_t k = 0; k < QUESTIONS; k++) {
        sort_radii(r, k, sorted + k * count);
        most = fmax(most, sorted[k * count + count - 1]);
    }
    most = ceil(10.0 * most + 0.5) / 10.0;
    fprintf(out,
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' width='%d' height='%d' "
            "font-family='sans-serif' font-size='14' fill='#222'>\n"
            "<rect width='100%%' height='100%%' fill='#fff'/>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_axes(most, out);
    draw_titles(r, out);
    for (size_t k = QUESTIONS; k-- > 0;) draw_curve(sorted + k * count, count, most, k, out);
    for (int k = 0, line = 0; k < QUESTIONS; k++) line += draw_key(r, (size_t)k, line, out);
    fprintf(out, "</svg>\n");
    free(sorted);
    return 0;
}
