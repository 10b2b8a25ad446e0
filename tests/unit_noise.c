/* The noise of a backend: ranges may be cut, features that do not move keep their bits, points lie
 * on the grid, and neither seeds nor streams nor levels share any words. */
#include "backend/lanes_scalar.h"
/* after the lanes */
#include "backend/cell.h"
#include "support/cpu_setups.h"
#include "support/made_up.h"
#include "support/ref_backend.h"
#include <certreg/backend.h>

TEST(ranges_can_be_cut_anywhere_by_draw_and_project)
{
    const cr_noise noise = {.seed = 3, .noise_id = 4, .inputs = 21, .clean_first = 1};
    enum { COUNT = 50 };
    float z[21], step[21], mask[21], whole[COUNT * 21], piece[21];
    double dots[COUNT], norms[COUNT], dot, norm;
    for (int j = 0; j < 21; j++) z[j] = (float)j, step[j] = 0.25f, mask[j] = 1;
    certreg_backend *backend = cr_backend_default();
    backend->ops->draw(backend, &noise, z, step, 0, COUNT, whole);
    backend->ops->project(backend, &noise, 0, COUNT, step, mask, dots, norms);
    for (uint64_t i = 0; i < COUNT; i++) {
        backend->ops->draw(backend, &noise, z, step, i, 1, piece);
        backend->ops->project(backend, &noise, i, 1, step, mask, &dot, &norm);
        ck_assert(!memcmp(piece, whole + 21 * i, sizeof piece));
        ck_assert(dot == dots[i] && norm == norms[i]);
    }
}

TEST(replay_can_be_cut_between_chunks)
{
    const cr_noise noise = {.seed = 3, .noise_id = 4, .inputs = 21, .clean_first = 0};
    enum { COUNT = 5 * CR_REPLAY_CHUNK };
    float *weights = made_up_numbers(COUNT, 9);
    double whole[21] = {0}, pieces[21] = {0};
    certreg_backend *backend = cr_backend_default();
    cr_weighted w = {.first = 10, .length = COUNT, .blocks = 1, .functions = 1, .weights = weights};
    backend->ops->replay(backend, &noise, &w, NULL, whole, NULL);
    w.length = CR_REPLAY_CHUNK;
    for (; w.weights < weights + COUNT; w.first += w.length, w.weights += w.length)
        backend->ops->replay(backend, &noise, &w, NULL, pieces, NULL);
    ck_assert(!memcmp(whole, pieces, sizeof whole));
    free(weights);
}

TEST_TIMES(unmoved_features_and_the_center_keep_every_bit, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    enum { INPUTS = 37, COUNT = 9 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS, .clean_first = 1};
    float z[INPUTS], step[INPUTS], x[COUNT * INPUTS];
    for (int j = 0; j < INPUTS; j++)
        z[j] = j % 3 ? -0.0f : 1e-42f * (float)j, step[j] = j % 2 ? 0.0f : 1e-3f;
    ck_assert_int_eq(backend->ops->draw(backend, &noise, z, step, 0, COUNT, x), CERTREG_OK);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < INPUTS; j++)
            ck_assert_msg(!memcmp(&x[i * INPUTS + j], &z[j], sizeof *z) ==
                              (i == 0 || step[j] == 0.0f),
                          "sample %d, feature %d", i, j);
    certreg_backend_close(backend);
}

/* Within the grid's 2^24 steps at its ends as well, and never -0. */
TEST_TIMES(points_are_whole_steps_of_the_grid, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    static const float steps[] = {CR_LEAST_STEP,  -CR_LEAST_STEP, 0x1.fffffep-100f, -0.75f, 1,
                                  0x1.fffffep111f};
    enum { STEPS = sizeof steps / sizeof *steps, INPUTS = 5 * STEPS, COUNT = 2000 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS};
    float z[INPUTS], step[INPUTS], *x = malloc(COUNT * INPUTS * sizeof *x);
    for (int j = 0; j < INPUTS; j++) {
        step[j] = steps[j / 5];
        z[j] = (float)((j % 5 - 2) * cr_grid_most(step[j]) / 2); /* the most it holds; 0 */
    }
    ck_assert_int_eq(backend->ops->draw(backend, &noise, z, step, 0, COUNT, x), CERTREG_OK);
    for (int k = 0; k < COUNT * INPUTS; k++) {
        const double n = ldexp((double)x[k], 8 - ilogbf(step[k % INPUTS]));
        if (n == rint(n) && fabs(n) < 0x1p24 && !(n == 0 && signbit(x[k]))) continue;
        ck_abort_msg("feature %d is %a", k % INPUTS, (double)x[k]);
    }
    free(x);
    certreg_backend_close(backend);
}

TEST_TIMES(noise_of_negative_steps_is_opposite, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    enum { INPUTS = 21, COUNT = 100 };
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = INPUTS, .clean_first = 1};
    float zero[INPUTS] = {0}, step[2][INPUTS], x[2][COUNT * INPUTS];
    for (int j = 0; j < INPUTS; j++) step[0][j] = 0.1f * (float)j, step[1][j] = -step[0][j];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(backend->ops->draw(backend, &noise, zero, step[i], 0, COUNT, x[i]),
                         CERTREG_OK);
    for (int k = 0; k < COUNT * INPUTS; k++) ck_assert(x[0][k] == -x[1][k]);
    certreg_backend_close(backend);
}

TEST_TIMES(no_samples_change_nothing, SETUPS)
{
    certreg_backend *backend = backend_of(_i);
    if (!backend) return;
    const cr_noise noise = {.seed = 1, .noise_id = 2, .inputs = 3, .clean_first = 1};
    const float one[3] = {1, 1, 1};
    const cr_weighted none = {.blocks = 1, .functions = 1, .weights = one};
    float x = 5;
    double sums[3] = {1, 2, 3};
    ck_assert_int_eq(backend->ops->draw(backend, &noise, one, one, 0, 0, &x), CERTREG_OK);
    ck_assert_int_eq(backend->ops->replay(backend, &noise, &none, NULL, sums, NULL), CERTREG_OK);
    ck_assert_int_eq(backend->ops->project(backend, &noise, 0, 0, one, one, sums, sums),
                     CERTREG_OK);
    ck_assert(x == 5 && sums[0] == 1 && sums[1] == 2 && sums[2] == 3);
    certreg_backend_close(backend);
}

TEST(streams_and_seeds_share_no_noise)
{
    const cr_noise a = {.seed = 1, .noise_id = 2, .inputs = 8},
                   b = {.seed = 1, .noise_id = 3, .inputs = 8},
                   c = {.seed = 1 + (1ull << 32), .noise_id = 2, .inputs = 8},
                   d = {.seed = 1, .noise_id = 2 + (1ull << 32), .inputs = 8};
    for (size_t j = 0; j < 8; j++) {
        const float e = ref_backend_normal(&a, 5, j);
        ck_assert(e != ref_backend_normal(&b, 5, j));
        ck_assert(e != ref_backend_normal(&c, 5, j));
        ck_assert(e != ref_backend_normal(&d, 5, j));
    }
}

/* The last block of a level, the first of the next one, and the same place of another stream. */
TEST(levels_of_a_stream_meet_but_do_not_overlap)
{
    const uint64_t blocks = (uint64_t)1 << CR_LEVEL_BITS;
    for (uint64_t level = 0; level + 1 < CR_LEVELS; level += level < 3 ? 1 : CR_LEVELS / 5) {
        const cr_noise here = {.seed = 1, .noise_id = 2, .level = level, .inputs = 4},
                       next = {.seed = 1, .noise_id = 2, .level = level + 1, .inputs = 4},
                       plain = {.seed = 1, .noise_id = 2, .inputs = 4},
                       other = {.seed = 1, .noise_id = 3, .level = level, .inputs = 4};
        for (size_t j = 0; j < 4; j++) {
            const float e = ref_backend_normal(&next, 0, j);
            ck_assert(e == ref_backend_normal(&here, blocks, j));
            /* so all of them lie in one stream */
            ck_assert(e == ref_backend_normal(&plain, (level + 1) * blocks, j));
            ck_assert(e != ref_backend_normal(&here, blocks - 1, j));
            ck_assert(e != ref_backend_normal(&here, 0, j));
            ck_assert(e != ref_backend_normal(&other, blocks, j));
        }
    }
}

/* Theory 5, Lemma 4b: the last block of the last sample that begin accepts is the last but at most
 * `row` of its level, and no level has a block that continues the words of another one. */
TEST(levels_end_where_the_next_level_or_a_continuation_begins)
{
    static const size_t inputs[] = {1, 3, 4, 5, 1000, 1021, 150528, 67108865};
    static const uint64_t levels[] = {
        0, 1, (1 << 18) - 1, 1 << 18, (1 << 19) - 1, 1 << 19, CR_LEVELS - 2, CR_LEVELS - 1};
    ck_assert(CR_LEVELS << CR_LEVEL_BITS == CR_CELL_THIRD);
    for (int d = 0; d < KIT_ROWS(inputs); d++)
        for (int l = 0; l < KIT_ROWS(levels); l++) {
            const cr_noise noise = {.level = levels[l], .inputs = inputs[d]};
            const cr_source source = cr_source_of(&noise);
            const uint64_t most = (UINT64_C(1) << CR_LEVEL_BITS) / source.row,
                           last = cr_source_block(&source, most - 1) + source.row - 1,
                           next = (levels[l] + 1) << CR_LEVEL_BITS;
            ck_assert(cr_source_block(&source, 0) == levels[l] << CR_LEVEL_BITS);
            ck_assert((inputs[d] - 1) / 4 == source.row - 1);
            ck_assert(last < next && next - last <= source.row && next <= CR_CELL_THIRD);
            ck_assert((last | CR_CELL_THIRD) == last + CR_CELL_THIRD);
            ck_assert((last | CR_CELL_THIRD) < CR_CELL_SECOND);
            ck_assert((last | CR_CELL_SECOND) == last + CR_CELL_SECOND);
            ck_assert((last | CR_CELL_SECOND) > CR_CELL_SECOND);
        }
}

TEST_MAIN("noise")
