/* The cells that noise falls into are those of a reference in 60 digits from the same words
 * (data/make_cells.py): a million of all kinds, and those that are hard to tell. Float, double and
 * double-double agree with it wherever each of them decides. */
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/grid_rounding.h"
#include "support/cpu_setups.h"
#include "support/ref_backend.h"
#include "support/special_cells.h"
/* after the types that it needs */
#include "data/cells.inc"
#include <certreg/backend.h>

/* ---- a million of all kinds */
static uint64_t mixed(uint64_t a)
{
    a += 0x9E3779B97F4A7C15u;
    a = (a ^ a >> 30) * 0xBF58476D1CE4E5B9u;
    a = (a ^ a >> 27) * 0x94D049BB133111EBu;
    return a ^ a >> 31;
}

/* As make_cells.py has it: steps of noise of all sizes and signs; z at the ends of the grid, tiny,
 * zero, or of an image of 8 bits. */
static void feature(uint64_t row, uint64_t j, float *z, float *s)
{
    const uint64_t a = mixed(row << 32 | j), b = mixed(a);
    const unsigned kind = b >> 24 & 7;
    const int power = j % 4 == 0 && kind != 2 ? -126 + (int)((a >> 32) % 230) : -10;
    const double sign = b >> 23 & 1 ? -1 : 1;
    double at = kind ? -0.0 : 0.0;
    *s = (float)ldexp(0x1p23 + (double)(a & 0x7FFFFF), power - 15) * (a >> 23 & 1 ? -1.0f : 1.0f);
    if (kind == 2) at = (double)(b & 255) / 255;
    if (kind == 3) at = sign * ldexp(0x1p24 - 0x1p13 - (double)(b % 1000), power);
    if (kind > 3)
        at = sign * ldexp(0x1p23 + (double)(b & 0x7FFFFF), power - 1 - (int)((b >> 32) % 64));
    *z = (float)at;
}

static uint64_t fnv(uint64_t h, int64_t n)
{
    h = (h ^ ((uint64_t)n & UINT32_MAX)) * 0x100000001B3u;
    return (h ^ (uint64_t)n >> 32) * 0x100000001B3u;
}

static const uint64_t start = 0xCBF29CE484222325u;

/* A row of the table, and what is drawn for it. */
typedef struct job {
    const struct row *row;
    cr_noise noise;
    size_t features, sums; /* in all; before its own */
    float *z, *s;
    int32_t *n; /* cells */
} job;

static job job_of(int i)
{
    const struct row *r = &rows[i];
    job j = {.row = r, .features = r->inputs * r->count};
    j.noise =
        (cr_noise){.seed = r->seed, .noise_id = r->stream, .level = r->level, .inputs = r->inputs};
    for (int before = 0; before < i; before++)
        j.sums += (rows[before].inputs * rows[before].count + SUMMED - 1) / SUMMED;
    j.z = malloc(r->inputs * sizeof *j.z), j.s = malloc(r->inputs * sizeof *j.s);
    j.n = malloc(j.features * sizeof *j.n);
    for (size_t k = 0; k < r->inputs; k++) feature((uint64_t)i, k, j.z + k, j.s + k);
    return j;
}

static void end_job(job *j)
{
    free(j->z), free(j->s), free(j->n);
}

/* Cells begin .. begin+SUMMED-1, as far as there are any. */
static void expect_sum(const job *j, const char *who, size_t begin)
{
    uint64_t h = start;
    for (size_t k = begin; k < j->features && k < begin + SUMMED; k++) h = fnv(h, j->n[k]);
    ck_assert_msg(h == sums[j->sums + begin / SUMMED],
                  "%s, %zu inputs: cells %zu to %zu are not those of the reference", who,
                  j->row->inputs, begin, begin + SUMMED - 1);
}

TEST_ROWS(cells_drawn_on_every_path_are_those_of_the_reference, rows)
{
    job j = job_of(_i);
    const size_t inputs = j.row->inputs;
    float *x = malloc(j.features * sizeof *x);
    double *by = malloc(inputs * sizeof *by);
    for (size_t k = 0; k < inputs; k++) by[k] = ldexp(1, 8 - ilogbf(j.s[k]));
    for (int setup = 0; setup < SETUPS; setup += 2) { /* one thread, two or three */
        certreg_backend *b = backend_of(setup);
        if (!b) continue;
        b->ops->draw(b, &j.noise, &(cr_draw){j.z, j.s, j.row->first, j.row->count, x});
        for (size_t k = 0; k < j.features; k++) j.n[k] = (int32_t)((double)x[k] * by[k % inputs]);
        for (size_t k = 0; k < j.features; k += SUMMED)
            expect_sum(&j, cr_cpu_path(setup / MOST_THREADS)->name, k);
        certreg_backend_close(b);
    }
    free(x), free(by), end_job(&j);
}

static int32_t cell_in_double(const job *j, const cr_noise_stream *s, size_t at)
{
    const size_t k = at % j->row->inputs;
    const uint64_t block = cr_noise_stream_block(s, j->row->first + at / j->row->inputs) + k / 4;
    const cr_cell c = cr_cell_of(j->z[k], j->s[k]);
    const float n = cr_cell_resolve(s, block, k % 4, c.factor, c.offset);
    return (int32_t)n + (int32_t)((double)c.base / (double)c.h);
}

TEST_ROWS(cell_find_in_double_gives_the_cells_of_the_reference, rows)
{
    job j = job_of(_i);
    const cr_noise_stream s = cr_noise_stream_of(&j.noise);
    for (size_t k = 0; k < j.features; k++) j.n[k] = cell_in_double(&j, &s, k);
    for (size_t k = 0; k < j.features; k += SUMMED) expect_sum(&j, "double", k);
    end_job(&j);
}

/* Whether float decides on a cell; it must be right where it does. */
static int float_decides(const cr_noise_stream *s, const struct special_cell *c)
{
    const cr_cell cell = cr_cell_of(c->z, c->s);
    uint32_t words[4];
    float e[4];
    unsigned doubts;
    cr_noise_stream_words(s, c->block, words);
    cr_normal4_from(words, 1, e);
    const float x = cr_cell_at(&cell, e[c->number], &doubts);
    ck_assert(doubts || x == (float)c->n * cell.h);
    return !doubts;
}

/* The same of double, for the words as cr_cell_resolve makes them. */
static int double_decides(const cr_noise_stream *s, const struct special_cell *c)
{
    const cr_cell cell = cr_cell_of(c->z, c->s);
    uint32_t first[4], second[4];
    cr_noise_stream_words(s, c->block, first);
    cr_noise_stream_words(s, c->block | CR_CELL_SECOND, second);
    const unsigned pair = c->number & 2u;
    const cr_normal e = cr_cell_normal((uint64_t)first[pair] << 32 | second[pair],
                                       (uint64_t)first[pair + 1] << 32 | second[pair + 1],
                                       c->number & 1u);
    const double at = (double)cell.factor * e.value + (double)cell.offset;
    return fabs(at - rint(at)) < 0.5 - fabs((double)cell.factor) * e.error;
}

TEST(cell_steps_decide_only_if_they_are_right)
{
    const cr_noise noise = {.seed = SPECIAL_SEED, .inputs = 4};
    const cr_noise_stream s = cr_noise_stream_of(&noise);
    int open_in_float = 0, open_in_double = 0;
    for (int i = 0; i < KIT_ROWS(special_cells); i++) {
        const struct special_cell *c = &special_cells[i];
        const cr_cell cell = cr_cell_of(c->z, c->s);
        const double base = (double)cell.base / (double)cell.h,
                     found =
                         (double)cr_cell_resolve(&s, c->block, c->number, cell.factor, cell.offset),
                     precise = cr_dd_nearest(ref_backend_precise(&noise, c->block, c->number),
                                             (double)cell.factor, (double)cell.offset);
        ck_assert_double_eq(found + base, c->n);
        ck_assert_double_eq(precise + base, c->n);
        open_in_float += !float_decides(&s, c);
        open_in_double += !double_decides(&s, c);
    }
    /* Nothing here is for float, and most is not for double: all steps were asked. */
    ck_assert_int_eq(open_in_float, KIT_ROWS(special_cells));
    ck_assert_int_gt(open_in_double, 90);
}

/* ---- double-double itself */
/* Between two whole numbers the low part decides, however small it is. */
TEST(dd_nearest_rounds_to_the_side_of_a_half)
{
    for (double n = -4; n <= 4; n++)
        for (int k = 54; k < 200; k++) {
            const double little = ldexp(1, -k);
            ck_assert_double_eq(cr_dd_nearest(cr_dd_of(n + 0.5, little), 1, 0), n + 1);
            ck_assert_double_eq(cr_dd_nearest(cr_dd_of(n + 0.5, -little), 1, 0), n);
            ck_assert_double_eq(cr_dd_nearest(cr_dd_of(n + 0.25, little), 2, -n), n + 1);
            ck_assert_double_eq(cr_dd_nearest(cr_dd_of(n + 0.25, -little), -2, n), -n);
        }
}

static void expect_precise(cr_dd e, cr_dd want)
{
    const double off = fabs((e.high - want.high) + (e.low - want.low));
    ck_assert_msg(off <= 0x1p-96 * fabs(want.high), "%a + %a is not %a + %a", e.high, e.low,
                  want.high, want.low);
}

TEST(dd_normal_is_within_2_to_the_minus_96_at_every_end)
{
    for (int i = 0; i < KIT_ROWS(precises); i++) {
        const struct precise *p = &precises[i];
        expect_precise(cr_dd_normal(p->x, p->y, 0), p->sine);
        expect_precise(cr_dd_normal(p->x, p->y, 1), p->cosine);
    }
}

/* Whole numbers are found exactly from what is closer than 1/4 to them. */
TEST(dd_normal_is_within_3_quarters_of_its_last_place)
{
    for (int row = 0; row < KIT_ROWS(many); row++) {
        uint64_t h = start;
        for (unsigned k = 0; k < 64; k++) {
            const uint64_t i = 64 * (uint64_t)row + k;
            uint64_t words[4];
            for (uint64_t l = 0; l < 4; l++) words[l] = mixed(4 * i + l);
            const uint32_t x[3] = {(uint32_t)(words[0] >> 32), (uint32_t)words[0],
                                   (uint32_t)words[1]},
                           y[3] = {(uint32_t)(words[2] >> 32), (uint32_t)words[2],
                                   (uint32_t)words[3]};
            const cr_dd e = cr_dd_normal(x, y, k & 1);
            const int places = 93 - ilogb(e.high);
            if (many[row].which >> k & 1)
                h = fnv(fnv(h, (int64_t)ldexp(e.high, places - 41)),
                        (int64_t)rint(ldexp(e.low, places)));
        }
        ck_assert_msg(h == many[row].sum, "one of the normals %d to %d is off", 64 * row,
                      64 * row + 63);
    }
}

TEST_MAIN("cells")
