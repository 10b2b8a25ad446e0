/* How far the float normals (grid_rounding.h) are from the exact ones that their words stand for:
 * bounds from all 2^32 words of the radius and all 2^32 of the angle. Theory 0 uses them;
 * normals.txt keeps them.
 *
 *     normals                prints the table
 *     normals FILE           finds it again, and compares: "ok", "not ok" line by line
 *     normals FILE sample    likewise, as far as one word in 256 can tell
 *
 * Every kind of lanes that this processor has is held to the same bits for every word. What draws
 * do beyond that (v_fma_loose) may round once or twice, and both are allowed for. CUDA has the same
 * operations, each rounded once; only its root is made of others, and sqrt_all compares that for
 * every mantissa.
 *
 * For words x and y, u is in [x, x + 1) 2^-32 and the angle in [y, y + 1) 2^-32 turns;
 * r = sqrt(-2 log u), w = (sin, cos) of the angle, xi = r w. Float has r', w' and e = fl(r' w').
 *
 * Exact values are doubles. Assumed of libm: log, sin and cos are right to 2^-45 of themselves, sin
 * and cos on [0, pi/4]. Ends of intervals are exact in double, those of u next to 1 too; pi, its
 * multiples and roots are good to 2^-51. So SLACK, 2^-44 of a value, covers all of that.
 *
 * The cell (grid_rounding.h). For strict words let
 *     |r' - r| <= PART_R r' + b_r,   |w'_i - w_i| <= PART_W |w'_i| + b_w,   r' <= R.
 * The program takes the PARTs as given and finds the least b. Since |w'_i| <= 1,
 *     |r' w'_i - r w_i| <= r' |w'_i - w_i| + |w'_i| |r' - r| + |r' - r| |w'_i - w_i|
 *                       <= (PART_R + PART_W) |r' w'_i| + b_r + R b_w + (both bounds multiplied),
 * and e is r' w'_i rounded: |e - xi_i| <= a |e| + whole. Now y' is offset + factor e, rounded once
 * or twice, each time to 2^-24 of the result, and |offset| <= 1/2. So |factor e| is at most
 * (|y'| + 1/2)(1 + 2^-22), and
 *     |y' - y| <= part |y'| + whole |factor| + (a + 2^-24)(1 + 2^-22)/2,
 *     part = (a + 2^-24)(1 + 2^-22) + 2^-24.
 * `margin` has 2^-20 for the last term, for two roundings of itself, 2^-26 each since it is below
 * 1/2, and for one of CR_CELL_RELATIVE_ERROR |y'| < 2^-8. The difference y' - n is exact.
 *
 * Replay (theory 0.3). Let D = e - xi. The words of a quarter turn more give float normals that are
 * a quarter turn further, bit by bit, so E D = 0 and E DD' = rho^2 I for a pair. The program
 * verifies that, and a reflection by which the first eighth of a turn is enough. By Minkowski's
 * inequality for D = (r' - r) w + r'(w' - w) + (rounding of r' w'), x and y being independent,
 *     sqrt(E|D|^2) <= sqrt(E(r' - r)^2) + sqrt(E r'^2) (sqrt(E|w' - w|^2) + 2^-24 sqrt(E|w'|^2)).
 * The mean over the u of a word is at most the value at its worse end. Where that is too much,
 * words are cut: those below 2^12 into 2^10 pieces, word 0 into 32 an octave down to u = 2^-96.
 * Below, (r' - r)^2 <= r^2 and r' <= r, and r^2 has an integral below 2^-79.
 *
 * Convex order (theory 0.3). Let m be the direction of the middle angle, m' one across it, and
 * r_bar the mean of r for a word. The mean of xi for both words is r_bar m, times a number in
 * [1 - 2^-62, 1]. It and its quarter turns are corners of a square, and e/(1 + eta) lies in it if
 * |e.m| + |e.m'| <= (1 + eta) r_bar. With r' w' for e the left side is at most r'(1 + eta_w); the
 * rounding adds at most sqrt2 2^-24 r'|w'|; and r' <= (1 + eta_r) r_bar.
 * Lower bounds of r_bar: r'' = (r^2 - 1)/(u^2 r^3) as a function of u, so that r is convex for u <
 * exp(-1/2), where r of the middle is below; concave beyond, where the mean of the ends is; and
 * everywhere that mean, less 2^-64/12 times the largest r'' <= 1/(u^2 r). */
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/grid_rounding.h"
#include "backend/cpu.h"
#include "words.h"
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define SLACK 0x1p-44
#define PART_R 1.75e-7
#define PART_W 1.1e-7
#define PIECES 1024
#define HALF_STEP (PI * 0x1p-32) /* of the angle */

/* Means over u or the angle, in the order of the comment above. */
typedef struct means {
    double off, square, turn, length;
} means;
static double b_r, b_w, most_r, eta_r = -1, eta_w = -1;
static means mean;
static const recipe *lanes[4];
static int kinds;
static const char *broken;

static void raise_to(double *bound, double value)
{
    if (value > *bound) *bound = value;
}

static void demand(int holds, const char *promise)
{
    if (!holds && !broken) broken = promise;
}

/* ---- the radius */
/* r for u = at 2^-32 */
static double radius(double at)
{
    return sqrt(-2.0 * log(at * 0x1p-32));
}

/* The most by which something in [low, high] can differ from a float. */
static double farthest(double a, double low, double high)
{
    return fmax(a - low * (1 - SLACK), high * (1 + SLACK) - a);
}

/* u of probability `weight` with r in [low, high], all of one word */
static void add_piece(double r, double weight, double low, double high, means *to)
{
    const double off = farthest(r, low, high);
    to->off += weight * off * off, to->square += weight * r * r;
}

static void add_word(double r, uint32_t x, double low, double high, means *to)
{
    if (x >= CHUNK) {
        add_piece(r, 0x1p-32, low, high, to);
        return;
    }
    if (x == 0) {
        for (int i = 0; i < 32 * 64; i++) {
            const double from = exp2(-(i + 1) / 32.0), until = exp2(-i / 32.0);
            add_piece(r, (until - from) * 0x1p-32, radius(until), radius(from), to);
        }
        to->off += 0x1p-79, to->square += 0x1p-79;
        return;
    }
    for (int i = 0; i < PIECES; i++)
        add_piece(r, 0x1p-32 / PIECES, radius(x + (i + 1.0) / PIECES),
                  radius(x + (double)i / PIECES), to);
}

/* At most r_bar. */
static double mean_radius(uint32_t x, double low, double high)
{
    if (x < CHUNK) return radius(x + 0.5) * (1 - SLACK);
    const double ends = (low + high) / 2 * (1 - SLACK);
    return x >= 0xA0000000u ? ends : ends - 1 / (12 * (double)x * (double)x * low);
}

/* What float has of the words from `first` on: the same on all lanes, NaN where it ought to be, and
 * what the root on devices asks for. */
static void get_radii(uint32_t first, float r[CHUNK])
{
    static float strict[CHUNK], other[2][CHUNK];
    lanes[0]->radii(first, r, strict);
    for (int i = 1; i < kinds; i++) {
        lanes[i]->radii(first, other[0], other[1]);
        demand(!memcmp(r, other[0], sizeof other[0]), "radii have the same bits on all lanes");
        for (int j = 0; j < (int)CHUNK; j++)
            demand(isnan(strict[j]) ? isnan(other[1][j]) : strict[j] == other[1][j],
                   "the same words are strict on all lanes");
    }
    for (uint32_t j = 0; j < CHUNK; j++) {
        const uint32_t x = first + j;
        const int is_strict = x >= CR_NORMAL4_FIRST && x < CR_NORMAL4_FIRST + CR_NORMAL4_COUNT;
        demand(is_strict ? strict[j] == r[j] : isnan(strict[j]), "words that are not strict: NaN");
        demand(x == UINT32_MAX ? v_bits(r[j]) == 0 : r[j] > 0x1p-17f && r[j] < 7.0f,
               "radii are +0, or between 2^-17 and 7");
    }
}

static void look_at_radii(uint32_t first)
{
    static float r[CHUNK];
    means here = {0};
    double high = radius(first);
    get_radii(first, r);
    for (uint32_t i = 0; i < CHUNK; i++) {
        const uint32_t x = first + i;
        const double low = radius((double)x + 1), a = (double)r[i];
        add_word(a, x, low, high, &here);
        raise_to(&eta_r, a / mean_radius(x, low, high) - 1);
        if (x - CR_NORMAL4_FIRST < CR_NORMAL4_COUNT) {
            raise_to(&b_r, farthest(a, low, high) - PART_R * a);
            raise_to(&most_r, a);
        }
        high = low;
    }
    mean.off += here.off, mean.square += here.square;
}

/* ---- the angle */
/* Whether the words first, first + step, ... have these sines and cosines, on all lanes. */
static int have(uint32_t first, uint32_t step, const float *s, const float *c)
{
    static float sine[CHUNK], cosine[CHUNK];
    for (int i = 0; i < kinds; i++) {
        lanes[i]->waves(first, step, sine, cosine);
        if (memcmp(sine, s, sizeof sine) || memcmp(cosine, c, sizeof cosine)) return 0;
    }
    return 1;
}

/* A quarter turn takes (s, c) to (c, -s), a reflection at an eighth of a turn to (c, s). */
static int symmetric(uint32_t first, float wave[4][CHUNK])
{
    int holds = 1;
    for (unsigned j = 0; j < CHUNK; j++) wave[2][j] = -wave[0][j], wave[3][j] = -wave[1][j];
    for (uint32_t k = 0; k < 4; k++) {
        holds &= have(first + (k << 30), 1, wave[k], wave[(k + 1) % 4]);
        holds &=
            have(((k + 1) << 30) - 1 - first, UINT32_MAX, wave[(5 - k) % 4], wave[(4 - k) % 4]);
    }
    return holds;
}

static void look_at_angles(uint32_t first)
{
    static float wave[4][CHUNK];
    means here = {0};
    double s0 = sin(first * (2 * HALF_STEP)), c0 = cos(first * (2 * HALF_STEP));
    lanes[0]->waves(first, 1, wave[0], wave[1]);
    demand(symmetric(first, wave),
           "sine and cosine are symmetric, with the same bits on all lanes");
    for (uint32_t i = 0; i < CHUNK; i++) {
        const double angle = (first + i + 1) * (2 * HALF_STEP), s1 = sin(angle), c1 = cos(angle);
        const double s = (double)wave[0][i], c = (double)wave[1][i], ms = (s0 + s1) / 2,
                     mc = (c0 + c1) / 2;
        const double off = sqrt((s - ms) * (s - ms) + (c - mc) * (c - mc)) + HALF_STEP + SLACK;
        demand(s > 0 && s <= 1 && c > 0 && c <= 1, "sines and cosines are at most 1");
        raise_to(&b_w, farthest(s, s0, s1) - PART_W * s);
        raise_to(&b_w, farthest(c, c1, c0) - PART_W * c);
        raise_to(&eta_w, s * ms + c * mc + fabs(s * mc - c * ms) - 1 + 4 * SLACK);
        here.turn += off * off, here.length += s * s + c * c;
        s0 = s1, c0 = c1;
    }
    mean.turn += 0x1p-29 * here.turn, mean.length += 0x1p-29 * here.length;
}

/* ---- what follows */
typedef struct figure {
    const char *name, *text;
    double value;
    int seen; /* in a sample too: the largest of something, not a mean */
} figure;
enum { PART = 3, WHOLE, REST, RHO, ETA = 9, FIGURES };

static void conclude(figure to[FIGURES])
{
    const double a = (PART_R + PART_W) * (1 + 0x1p-24) + 0x1p-24,
                 b = b_r + most_r * b_w + (PART_R * most_r + b_r) * (PART_W + b_w),
                 twice = (a + 0x1p-24) * (1 + 0x1p-22);
    const double d = (1 + 0x1p-30) *
                     (sqrt(mean.off) +
                      sqrt(mean.square) * (sqrt(mean.turn) + 0x1p-24 * sqrt(mean.length))),
                 eta = (1 + eta_r) * (1 + eta_w + 0x1.6bp-24) * (1 + 0x1p-50) - 1;
    const figure all[FIGURES] = {
        {"R", "r' of strict words", most_r, 1},
        {"b_r", "|r' - r| <= 1.75e-7 r' + b_r, strict words", b_r, 1},
        {"b_w", "|w' - w| <= 1.1e-7 |w'| + b_w, of sine and cosine", b_w, 1},
        {"part", "|y' - y| <= part |y'| + ...", twice + 0x1p-24, 1},
        {"whole", "... whole |s/h| + ...", b, 1},
        {"rest", "... the rest, and roundings of the margin", twice / 2 + 0x1p-25 + 0x1p-31, 1},
        {"rho", "sqrt(E D_i^2)", d * sqrt(0.5), 0},
        {"eta_r", "r' <= (1 + eta_r) r_bar", eta_r, 1},
        {"eta_w", "|w'.m| + |w'.m'| <= 1 + eta_w", eta_w, 1},
        {"eta", "e/(1 + eta) <= xi in convex order", eta, 1}};
    memcpy(to, all, sizeof all);
}

/* To four digits, upward. */
static double rounded_up(double value)
{
    const double unit = pow(10, floor(log10(value)) - 3);
    return ceil(value / unit) * unit;
}

static int judge(int holds, const char *text)
{
    printf("%s %s\n", holds ? "ok" : "not ok", text);
    return !holds;
}

/* The bounds hold, and those of all words could not be less by more than the last digit. told: the
 * bounds. */
static int compare(FILE *kept, const figure figures[FIGURES], int sample, double told[FIGURES])
{
    char line[200], name[20];
    int bad = 0, found = 0;
    double value;
    while (kept && fgets(line, sizeof line, kept))
        for (int i = 0; i < FIGURES; i++) {
            const figure *f = figures + i;
            if (sscanf(line, "%19s %lf", name, &value) != 2 || strcmp(name, f->name)) continue;
            found++, told[i] = value;
            if (sample && !f->seen) continue;
            bad += judge(f->value <= value && (sample || value <= f->value * 1.002), f->text);
        }
    return bad + judge(found == FIGURES, "the table is complete");
}

/* What grid_rounding.h and backend.h have rounded up. */
static int judge_constants(const double told[FIGURES])
{
    return judge(told[PART] <= (double)CR_CELL_RELATIVE_ERROR,
                 "CR_CELL_RELATIVE_ERROR is large enough") +
           judge(told[WHOLE] <= (double)CR_CELL_ABSOLUTE_ERROR,
                 "CR_CELL_ABSOLUTE_ERROR is large enough") +
           judge(told[REST] <= 0x1p-20, "the margin is wide enough for the rest") +
           judge(told[RHO] <= CR_NOISE_GAP, "CR_NOISE_GAP is large enough") +
           judge(told[ETA] <= CR_NOISE_EXCESS, "CR_NOISE_EXCESS is large enough");
}

/* A sample has the first and the last 2^21 words, where bounds are attained, and some of others. */
static void go_over_words(int sample)
{
    const uint32_t chunks = 1u << 20, piece = 512;
    for (uint32_t i = 0; i < chunks; i++) {
        const int at_end = i < piece || i >= chunks - piece;
        if (sample && !at_end && i % piece && ~i % piece) continue;
        look_at_radii(i * CHUNK);
        if (i < chunks / 8) look_at_angles(i * CHUNK);
    }
}

int main(int count, char **arguments)
{
    figure figures[FIGURES];
    const int sample = count > 2;
    lanes[kinds++] = words_scalar();
#if defined(__AARCH64EL__)
    lanes[kinds++] = words_neon();
#endif
#if defined(__x86_64__)
    lanes[kinds++] = words_sse2();
    if (cr_cpu_path(CR_CPU_AVX2)) lanes[kinds++] = words_avx2();
    if (cr_cpu_path(CR_CPU_AVX512)) lanes[kinds++] = words_avx512();
#endif
    go_over_words(sample);
    conclude(figures);
    if (broken) return judge(0, broken);
    if (count == 1) {
        puts("Upper bounds; the comment that normals.c begins with says of what.");
        for (int i = 0; i < FIGURES; i++)
            printf("%-7s %10.3e   %s\n", figures[i].name, rounded_up(figures[i].value),
                   figures[i].text);
        return 0;
    }
    FILE *kept = fopen(arguments[1], "r");
    double told[FIGURES] = {0};
    const int bad = compare(kept, figures, sample, told) + judge_constants(told);
    if (kept) fclose(kept);
    return bad != 0;
}
