/* From a seed to noise on the grid: words by the published generator, which are cuRAND's; normals
 * of them; levels that share no words; cells, which are those of a reference in 60 digits from the
 * same words (data/make_cells.py), a million of all kinds and those that are hard to tell; and the
 * law of what is drawn. That every path has the bits of the specification is in unit_cpu.c, the
 * normals of all words in proof/normals.c.
 *
 * NOISE_DRAWS: of how many millions of features the law is tested (default: 10). cuRAND's library
 * needs no GPU, and is loaded when the tests run; what is not there is said, and no failure. */
#include "backend/simd_scalar.h"
/* after the lanes */
#include "backend/grid_rounding.h"
#include "support/cpu_setups.h"
#include "support/grid.h"
#include "support/philox_block.h"
#include "support/ref_backend.h"
#include "support/special_cells.h"
/* after the types that it needs */
#include "data/cells.inc"
#include <certreg/backend.h>
#include <dlfcn.h>

/* ======== words */
/* Known answers of Random123: counter, key, and their words. */
static const struct {
    uint32_t counter[4], key[2], words[4];
} published[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

TEST_ROWS(philox_gives_the_published_words, published)
{
    const uint32_t *counter = published[_i].counter, *key = published[_i].key;
    uint32_t words[4];
    philox_block((uint64_t)key[1] << 32 | key[0], (uint64_t)counter[3] << 32 | counter[2],
                 (uint64_t)counter[1] << 32 | counter[0], words);
    ck_assert_mem_eq(words, published[_i].words, sizeof words);
}

/* gpu/curand_words.cpp, the function of cuRAND's header; NULL where there is no toolkit to build
 * it */
extern void curand_words(const unsigned counter[4], const unsigned key[2], unsigned words[4])
    __attribute__((weak));

/* All bits of the seed, of the stream and of the block's number in turns, and the last of each. */
TEST_TIMES(philox_words_are_those_of_curands_header, 3)
{
    for (int bit = 0; curand_words && bit <= 64; bit++) {
        const uint64_t some = bit < 64 ? UINT64_C(0x0123456789ABCDEF) ^ UINT64_C(1) << bit
                                       : UINT64_MAX,
                       seed = _i == 0 ? some : 5, stream = _i == 1 ? some : 6,
                       block = _i == 2 ? some : 7;
        const unsigned key[2] = {(unsigned)seed, (unsigned)(seed >> 32)},
                       counter[4] = {(unsigned)block, (unsigned)(block >> 32), (unsigned)stream,
                                     (unsigned)(stream >> 32)};
        unsigned header[4];
        uint32_t ours[4];
        curand_words(counter, key, header);
        philox_block(seed, stream, block, ours);
        for (size_t k = 0; k < 4; k++) ck_assert_uint_eq(ours[k], header[k]);
    }
}

/* ---- cuRAND's host generator
 * Found by experiment, and held here: CURAND_RNG_PSEUDO_PHILOX4_32_10 with
 * CURAND_ORDERING_PSEUDO_LEGACY acts like 65536 device generators, one subsequence each, that take
 * turns in giving four words. Words (or normals) 4q .. 4q+3 are those of key = seed and counter =
 * (block, stream) with stream = q % 65536 and block = q / 65536: block of four number q / 65536 of
 * our stream q % 65536. */
enum { PHILOX = 161, LEGACY = 103, STREAMS = 65536, COUNT = 12 * STREAMS }; /* 3 blocks of each */

typedef struct curand { /* the part of the library in use */
    void *library;
    int (*create)(void **generator, int type);
    int (*destroy)(void *generator);
    int (*set_seed)(void *generator, unsigned long long seed);
    int (*set_ordering)(void *generator, int ordering);
    int (*words)(void *generator, unsigned int *out, size_t count);
    int (*normals)(void *generator, float *out, size_t count, float mean, float deviation);
} curand;

static int find(void *library, void *function, const char *name)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function != NULL;
}

static int load(curand *c)
{
    static const char *const names[] = {"libcurand.so.10", "libcurand.so",
                                        "/usr/local/cuda/lib64/libcurand.so"};
    for (int i = 0; !c->library && i < KIT_ROWS(names); i++)
        c->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return c->library && find(c->library, &c->create, "curandCreateGeneratorHost") &&
           find(c->library, &c->destroy, "curandDestroyGenerator") &&
           find(c->library, &c->set_seed, "curandSetPseudoRandomGeneratorSeed") &&
           find(c->library, &c->set_ordering, "curandSetGeneratorOrdering") &&
           find(c->library, &c->words, "curandGenerate") &&
           find(c->library, &c->normals, "curandGenerateNormal");
}

static uint32_t their_words[COUNT];
static float their_normals[COUNT];

/* Zero where there is no library. */
static int have_theirs(uint64_t seed)
{
    curand c = {0};
    void *generator = NULL;
    if (!load(&c)) return puts("unit_grid_rounding: skipped cuRAND's library, none is usable"), 0;
    for (int normals = 0; normals < 2; normals++) {
        ck_assert_int_eq(c.create(&generator, PHILOX), 0);
        ck_assert(!c.set_seed(generator, seed) && !c.set_ordering(generator, LEGACY));
        ck_assert_int_eq(normals ? c.normals(generator, their_normals, COUNT, 0.0f, 1.0f)
                                 : c.words(generator, their_words, COUNT),
                         0);
        c.destroy(generator);
    }
    return 1;
}

static const uint64_t seeds[] = {0, 1, 0x0123456789ABCDEFu, UINT64_MAX};

TEST_ROWS(philox_and_normal4_are_those_of_curands_generator, seeds)
{
    if (!have_theirs(seeds[_i])) return;
    double worst = 0;
    for (size_t q = 0; q < COUNT / 4; q++) {
        uint32_t words[4];
        float ours[4];
        philox_block(seeds[_i], q % STREAMS, q / STREAMS, words);
        if (memcmp(words, their_words + 4 * q, sizeof words)) ck_abort_msg("word %zu", 4 * q);
        cr_normal4_from(words, 0, ours);
        for (size_t k = 0; k < 4; k++) {
            const double r = hypot((double)ours[k & 2], (double)ours[(k & 2) + 1]),
                         off = fabs((double)ours[k] - (double)their_normals[4 * q + k]);
            worst = fmax(worst, off / (3e-6 + 0x1p-25 / r));
        }
    }
    /* cuRAND rounds the angle to float, r * 6e-7, and u, which counts near 1. */
    ck_assert_msg(worst < 1, "normals differ by up to %g of what they may", worst);
}

/* ======== normals */
/* Word n: the ends of the range and of quarter turns, the ends of what is strict, and others. */
static uint32_t word(uint32_t n)
{
    static const uint32_t ends[] = {
        0x20000000u, 0x40000000u,      0x80000000u,
        0xC0000000u, CR_NORMAL4_FIRST, CR_NORMAL4_FIRST + CR_NORMAL4_COUNT,
        0,           UINT32_MAX};
    return n < 64 ? ends[n / 8] + n % 8 - 4 : n * 2654435761u;
}

/* The first of a pair is the sine; words are taken in order, and strict ones change nothing but
 * what they leave out. */
TEST(normal4_is_that_of_box_and_muller)
{
    enum { WORDS = 128 };
    for (uint32_t n = 0; n < WORDS * WORDS; n++) {
        const uint32_t a = word(n / WORDS), b = word(n % WORDS), words[4] = {a, b, b, a};
        float e[4], strict[4];
        cr_normal4_from(words, 0, e);
        cr_normal4_from(words, 1, strict);
        for (int k = 0; k < 4; k++) {
            const uint32_t x = words[k & 2];
            const double u = (x + 0.5) * 0x1p-32,
                         angle = (words[k | 1] + 0.5) * 0x1p-31 * 3.14159265358979324,
                         r = sqrt(-2.0 * log(u)), exact = r * (k % 2 ? cos(angle) : sin(angle));
            const int near_ends = x < CR_NORMAL4_FIRST || x >= UINT32_MAX - 0xFFFFu;
            /* near u = 1 the radius is that of the right end */
            ck_assert_msg(fabs((double)e[k] - exact) <= 3e-7 * r + 0x1p-32 / r,
                          "%08x %08x: %.9g, not %.9g", x, words[k | 1], (double)e[k], exact);
            ck_assert(near_ends ? isnan(strict[k]) : strict[k] == e[k]);
        }
    }
}

/* ======== levels */
/* Theory 5, Lemma 4b: the last block of the last sample that begin accepts is the last but at most
 * `row` of its level, and no level has a block that continues the words of another one. */
static const size_t inputs_of[] = {1, 3, 4, 5, 1000, 1021, 150528, 67108865};

TEST_ROWS(noise_stream_levels_share_no_blocks, inputs_of)
{
    static const uint64_t levels[] = {
        0, 1, (1 << 18) - 1, 1 << 18, (1 << 19) - 1, 1 << 19, CR_LEVELS - 2, CR_LEVELS - 1};
    ck_assert(CR_LEVELS << CR_LEVEL_BITS == CR_CELL_THIRD);
    for (int l = 0; l < KIT_ROWS(levels); l++) {
        const cr_noise noise = {.level = levels[l], .inputs = inputs_of[_i]};
        const cr_noise_stream s = cr_noise_stream_of(&noise);
        const uint64_t most = (UINT64_C(1) << CR_LEVEL_BITS) / s.blocks_per_sample,
                       last = cr_noise_stream_block(&s, most - 1) + s.blocks_per_sample - 1,
                       next = (levels[l] + 1) << CR_LEVEL_BITS;
        ck_assert(cr_noise_stream_block(&s, 0) == levels[l] << CR_LEVEL_BITS);
        ck_assert((inputs_of[_i] - 1) / 4 == s.blocks_per_sample - 1);
        ck_assert(last < next && next - last <= s.blocks_per_sample && next <= CR_CELL_THIRD);
        ck_assert((last | CR_CELL_THIRD) == last + CR_CELL_THIRD);
        ck_assert((last | CR_CELL_THIRD) < CR_CELL_SECOND);
        ck_assert((last | CR_CELL_SECOND) == last + CR_CELL_SECOND);
        ck_assert((last | CR_CELL_SECOND) > CR_CELL_SECOND);
    }
}

/* ======== cells */
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
    size_t features;
    float *z, *s;
    int32_t *n; /* cells */
} job;

static job job_of(int i)
{
    const struct row *r = &rows[i];
    job j = {.row = r, .features = r->inputs * r->count};
    j.noise =
        (cr_noise){.seed = r->seed, .noise_id = r->stream, .level = r->level, .inputs = r->inputs};
    j.z = malloc(r->inputs * sizeof *j.z), j.s = malloc(r->inputs * sizeof *j.s);
    j.n = malloc(j.features * sizeof *j.n);
    for (size_t k = 0; k < r->inputs; k++) feature((uint64_t)i, k, j.z + k, j.s + k);
    return j;
}

static void end_job(job *j)
{
    free(j->z), free(j->s), free(j->n);
}

static void expect_sum(const job *j, const char *who)
{
    uint64_t h = start;
    for (size_t k = 0; k < j->features; k++) h = fnv(h, j->n[k]);
    ck_assert_msg(h == j->row->sum, "%s, %zu inputs: cells are not those of the reference", who,
                  j->row->inputs);
}

TEST_ROWS(cells_drawn_on_every_path_are_those_of_the_reference, rows)
{
    job j = job_of(_i);
    const size_t inputs = j.row->inputs;
    float *x = malloc(j.features * sizeof *x);
    for (int setup = 0; setup < SETUPS; setup += 2) { /* one thread, two or three */
        certreg_backend *b = backend_of(setup);
        if (!b) continue;
        b->ops->draw(b, &j.noise, &(cr_draw){j.z, j.s, j.row->first, j.row->count, x, NULL});
        for (size_t k = 0; k < j.features; k++)
            j.n[k] = (int32_t)((double)x[k] * ldexp(1, 8 - ilogbf(j.s[k % inputs])));
        expect_sum(&j, cr_cpu_path(setup / MOST_THREADS)->name);
        certreg_backend_close(b);
    }
    free(x), end_job(&j);
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
    expect_sum(&j, "double");
    end_job(&j);
}

/* ---- float, double and double-double: each is right if it decides */
static int float_decides(const cr_noise_stream *s, const special_cell *c)
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
static int double_decides(const cr_noise_stream *s, const special_cell *c)
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
    for (int i = 0; i < SPECIAL_CELLS; i++) {
        const special_cell cell_of = special_cell_of(i), *c = &cell_of;
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
    ck_assert_int_eq(open_in_float, SPECIAL_CELLS);
    ck_assert_int_gt(open_in_double, 90);
}

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

TEST_ROWS(dd_normal_is_within_2_to_the_minus_96_at_every_end, precises)
{
    const struct precise *p = &precises[_i];
    expect_precise(cr_dd_normal(p->x, p->y, 0), p->sine);
    expect_precise(cr_dd_normal(p->x, p->y, 1), p->cosine);
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

/* ======== the law of what is drawn: that of exact Gaussian noise. The seed, and so the outcome, is
 * fixed. Steps h of the grid are 1: s is s/h. No cell counted is farther than MOST from z. */
enum { INPUTS = 16, BATCH = 2048, MOST = 4096, CELLS = 2 * MOST + 1 };
static const float z_of[INPUTS] = {0,    0,     0, 0,     0,       0,    0,        0,
                                   0.5f, 0.25f, 0, 1e-9f, -0.375f, 0.5f, 16769024, -1e6f},
                   s_of[INPUTS] = {256, 256,    256,  256,        256,  256,  256, 256,
                                   256, 300.7f, -362, 511.96875f, -256, -400, 511, 257};

static uint64_t cells[INPUTS][CELLS];

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
static void expect_law(pearson p, size_t which)
{
    if (p.expected > 0) add(&p, 0, 0, 0); /* the rest */
    const double k = 2.0 / 9 / (p.terms - 1),
                 off = (cbrt(p.square / (p.terms - 1)) - 1 + k) / sqrt(k);
    ck_assert_msg(fabs(off) < 4.5, "feature %zu: chi^2 of %d terms is %g, off by %.1f deviations",
                  which, p.terms, p.square, off);
}

TEST(draw_has_the_law_of_gaussian_noise)
{
    static float x[BATCH * INPUTS];
    const char *millions = getenv("NOISE_DRAWS");
    const uint64_t wanted = (millions ? strtoull(millions, NULL, 10) : 10) * 1000000 / INPUTS;
    const cr_noise noise = {.seed = 2026, .noise_id = 1, .inputs = INPUTS};
    certreg_backend *b = cr_backend_default();
    uint64_t samples = 0;
    for (; samples < wanted; samples += BATCH) {
        const cr_draw draw = {z_of, s_of, samples, BATCH, x, NULL};
        ck_assert_int_eq(b->ops->draw(b, &noise, &draw), CERTREG_OK);
        for (size_t k = 0; k < BATCH * INPUTS; k++)
            cells[k % INPUTS][MOST + (int)((double)x[k] - rint((double)z_of[k % INPUTS]))]++;
    }
    for (size_t j = 0; j < INPUTS; j++) {
        const double z = (double)z_of[j] - rint((double)z_of[j]), s = fabs((double)s_of[j]);
        pearson p = {0};
        for (int n = -MOST; n <= MOST; n++)
            add(&p, (double)cells[j][MOST + n], (double)samples * grid_share(s, z, n, n), 10);
        expect_law(p, j);
    }
}

TEST_MAIN("noise on the grid")
