/* The cells that drawn features fall into have the law of exact Gaussian noise: one by one, by
 * their lowest bits, and in pairs by parity, quadrant and radius. NOISE_DRAWS: how many millions of
 * features are drawn (default: 10). The seed is fixed, so the outcome is. */
#include "backend/backend.h"
#include "support/grid.h"
#include "support/suite.h"

/* The first PLAIN features of a sample are alike, about 0. */
enum { INPUTS = 16, PLAIN = 8, BATCH = 2048 };
/* Steps h of the grid are 1, so that s is s/h; no cell counted is farther than MOST from z. */
enum { MOST = 4096, CELLS = 2 * MOST + 1, LOW = 16 };
static const float z_of[INPUTS] = {0,    0,     0, 0,     0,       0,    0,        0,
                                   0.5f, 0.25f, 0, 1e-9f, -0.375f, 0.5f, 16769024, -1e6f},
                   s_of[INPUTS] = {256, 256,    256,  256,        256,  256,  256, 256,
                                   256, 300.7f, -362, 511.96875f, -256, -400, 511, 257};

/* Classes of pairs: by parities, quadrants and squares of the radius in units of 2^15, the last one
 * open. */
enum { RADII = 16, CLASSES = RADII * 16, PAIRS = 6, PAIRED = 1600 };
static const struct {
    const char *name;
    size_t a, b; /* INPUTS and more: of the next sample */
} pairs[PAIRS] = {
    {"sine and cosine", 0, 1}, {"sine and cosine of the second pair", 6, 7},
    {"two pairs", 1, 2},       {"two sines", 4, 6},
    {"two blocks", 3, 4},      {"two samples", 5, 5 + INPUTS},
};

static uint64_t cells[INPUTS][CELLS], joint[PAIRS][CLASSES], samples, strays;

/* ---- drawing */
static size_t class_of(int a, int b)
{
    const size_t radius = (size_t)(a * a + b * b) >> 15;
    return (radius < RADII ? radius : RADII - 1) * 16 + (size_t)(a & 1) * 8 + (size_t)(b & 1) * 4 +
           (size_t)(a < 0) * 2 + (b < 0);
}

/* Samples are an even number, and pairs of them are independent. */
static void count(const float *x, size_t n)
{
    static int at[2 * INPUTS];
    for (size_t i = 0; i < n; i += 2, x += 2 * INPUTS) {
        for (size_t j = 0; j < 2 * INPUTS; j++) {
            const double beyond = (double)x[j] - rint((double)z_of[j % INPUTS]);
            at[j] = (int)beyond;
            strays += (double)at[j] != beyond;
            cells[j % INPUTS][MOST + at[j]]++;
        }
        for (size_t p = 0; p < PAIRS; p++) joint[p][class_of(at[pairs[p].a], at[pairs[p].b])]++;
    }
}

static int draw(void)
{
    static float x[BATCH * INPUTS];
    const char *millions = getenv("NOISE_DRAWS");
    const uint64_t wanted = (millions ? strtoull(millions, NULL, 10) : 10) * 1000000 / INPUTS;
    const cr_noise noise = {.seed = 2026, .noise_id = 1, .inputs = INPUTS};
    certreg_backend *b = cr_backend_default();
    for (; samples < wanted; samples += BATCH) {
        if (b->ops->draw(b, &noise, &(cr_draw){z_of, s_of, samples, BATCH, x})) return 0;
        count(x, BATCH);
    }
    return 1;
}

/* ---- the law */
/* Pearson's statistic; what has few expected draws is put together with what comes next. */
typedef struct pearson {
    double square, seen, expected; /* the latter two of what is put together */
    int terms;
} pearson;

static void add(pearson *p, double seen, double expected, double least)
{
    p->seen += seen, p->expected += expected;
    if (p->expected < least) return;
    p->square += (p->seen - p->expected) * (p->seen - p->expected) / p->expected;
    p->seen = p->expected = 0;
    p->terms++;
}

/* Wilson and Hilferty: nearly a standard normal, for either too much or too little. */
static void expect_law(pearson p, const char *what, size_t which)
{
    if (p.expected > 0) add(&p, 0, 0, 0); /* the rest */
    const double k = 2.0 / 9 / (p.terms - 1),
                 off = (cbrt(p.square / (p.terms - 1)) - 1 + k) / sqrt(k);
    ck_assert_msg(fabs(off) < 4.5, "%s %zu: chi^2 of %d terms is %g, off by %.1f deviations", what,
                  which, p.terms, p.square, off);
}

TEST_TIMES(cells_of_a_feature_are_as_likely_as_they_should_be, INPUTS)
{
    const double z = (double)z_of[_i] - rint((double)z_of[_i]), s = fabs((double)s_of[_i]);
    pearson p = {0};
    for (int n = -MOST; n <= MOST; n++)
        add(&p, (double)cells[_i][MOST + n], (double)samples * grid_share(s, z, n, n), 10);
    expect_law(p, "feature", (size_t)_i);
}

/* The least step of x: what a model may read of a cell's number. */
TEST(points_are_whole_and_their_lowest_bits_even)
{
    double seen[LOW] = {0}, expected[LOW] = {0};
    pearson p = {0};
    ck_assert_uint_eq(strays, 0);
    for (size_t j = 0; j < INPUTS; j++) {
        const double z = (double)z_of[j], s = fabs((double)s_of[j]);
        for (int n = -MOST; n <= MOST; n++) {
            seen[(unsigned)n % LOW] += (double)cells[j][MOST + n];
            expected[(unsigned)n % LOW] += (double)samples * grid_share(s, z - rint(z), n, n);
        }
    }
    for (size_t l = 0; l < LOW; l++) add(&p, seen[l], expected[l], 10);
    expect_law(p, "lowest bits of", LOW);
}

/* Those of two independent features. */
static const double *joint_chances(void)
{
    static double chances[CLASSES], one[2 * PAIRED + 1];
    for (int a = -PAIRED; a <= PAIRED; a++) one[PAIRED + a] = grid_share((double)s_of[0], 0, a, a);
    for (int a = -PAIRED; a <= PAIRED; a++)
        for (int b = -PAIRED; b <= PAIRED; b++)
            chances[class_of(a, b)] += one[PAIRED + a] * one[PAIRED + b];
    return chances;
}

TEST(features_are_independent_in_pairs)
{
    const double *chances = joint_chances();
    for (size_t k = 0; k < PAIRS; k++) {
        pearson p = {0};
        for (size_t c = 0; c < CLASSES; c++)
            add(&p, (double)joint[k][c], (double)samples / 2 * chances[c], 10);
        expect_law(p, pairs[k].name, k);
    }
}

int main(void)
{
    if (!draw()) return puts("unit_noise_distribution: drawing failed"), 1; /* once for all tests */
    return kit_run(kit_suite("law of the noise"));
}
