/* Parses the public structs of a question into a cr_given, and computes its digest. No other file
 * follows the pointers of a caller's question. */
#include "base/bytes.h"
#include "base/constants.h"
#include "base/fp_environment.h"
#include "base/struct_sizes.h"
#include "base/struct_versioning.h"
#include "question/question.h"
#include "statistics/group_sequential.h"
#include <math.h>
#include <string.h>

static const uint64_t max_guarantees = UINT64_C(1) << 53; /* exact in a double */

/* ---- the optional structs */
static certreg_status read_target(const certreg_target *theirs, cr_given *q, certreg_error *why)
{
    certreg_target t;
    if (!theirs) return CERTREG_OK;
    const certreg_status status =
        cr_struct_read(&t, sizeof t, CR_OLDEST_TARGET, theirs, "question.target", why);
    if (status) return status;
    if (!(t.radius > 0) || !isfinite(t.radius))
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.target->radius is %g; it must be positive and finite (no target: NULL)",
            t.radius);
    if (!t.looks && t.look_count)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.target->looks is NULL, but look_count is %u; set both or neither",
            t.look_count);
    if (t.looks && (!t.look_count || t.look_count > CR_LOOKS))
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.target->look_count is %u; it must be 1 to %u", t.look_count,
                            CR_LOOKS);
    q->target_radius = t.radius;
    q->looks = t.looks;
    q->look_count = t.look_count;
    return CERTREG_OK;
}

static certreg_status read_serving(const certreg_serving *theirs, cr_given *q, certreg_error *why)
{
    certreg_serving s;
    if (!theirs) return CERTREG_OK;
    const certreg_status status =
        cr_struct_read(&s, sizeof s, CR_OLDEST_SERVING, theirs, "question.serving", why);
    if (status) return status;
    if (s.pairs != 0 && s.pairs != 1)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving->pairs is %d; it must be 0, or 1 for pairs of opposite noise",
            (int)s.pairs);
    if (!s.samples)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.serving->samples is 0; give the number of samples behind a served "
            "value, or leave serving NULL");
    q->serving_samples = s.samples;
    q->serving_failure_rate = s.failure_rate;
    q->serving_trim = s.trim;
    q->serving_core = s.core;
    q->serving_pairs = s.pairs;
    return CERTREG_OK;
}

static certreg_status read_prediction(const certreg_question *theirs, cr_given *q,
                                      certreg_error *why)
{
    if (!theirs->prediction && theirs->prediction_count)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.prediction is NULL, but prediction_count is %zu; set both or "
                            "neither",
                            theirs->prediction_count);
    if (!theirs->prediction) return CERTREG_OK;
    q->prediction_given = 1;
    q->prediction = *theirs->prediction;
    q->predictions = theirs->prediction;
    q->prediction_count = theirs->prediction_count ? theirs->prediction_count : 1;
    return CERTREG_OK;
}

/* ---- alpha */
static certreg_status divide_alpha(uint64_t share, cr_given *q, certreg_error *why)
{
    if (!(q->alpha > 0 && q->alpha <= 0.5)) {
        cr_error_set(why, CERTREG_E_INVALID, "question.alpha is %g; it must lie in (0, 0.5]",
                     q->alpha);
        if (why) why->value = q->alpha;
        return CERTREG_E_INVALID;
    }
    if (q->bonferroni > max_guarantees / share)
        return cr_error_set(
            why, CERTREG_E_INVALID,
            "question.bonferroni is %llu; with %llu noise levels it must not exceed 2^53",
            (unsigned long long)q->bonferroni, (unsigned long long)share);
    q->alpha /= (double)(q->bonferroni * share);
    if (q->alpha < CR_MIN_ALPHA)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "question.alpha divided by bonferroni is %g; it must be at least %g",
                            q->alpha, CR_MIN_ALPHA);
    return CERTREG_OK;
}

/* ---- digests */
static uint64_t hash_looks(uint64_t h, const cr_given *q)
{
    h = cr_hash64(h, q->look_count);
    for (size_t i = 0; i < q->look_count; i++) h = cr_hash64(h, q->looks[i]);
    return h;
}

/* Digest of all fields, before alpha is divided. A target without looks has a digest of its own.
 * Optional fields enter it only if they are set, so that questions keep their digest when the
 * library gets new fields. */
static uint64_t digest_of(const cr_given *q)
{
    const int32_t words[] = {
        q->output,           q->statistic,    q->method, q->center, (int32_t)q->constraints,
        q->prediction_given, q->looks != NULL};
    const double numbers[] = {q->tolerance,  q->alpha,         q->huber_width,
                              q->prediction, q->target_radius, q->serving_failure_rate};
    uint64_t h = CR_HASH_START;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) h = cr_hash32(h, (uint32_t)words[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        h = cr_hash64(h, cr_bits_of_double(numbers[i] + 0.0)); /* -0 is 0 */
    h = hash_looks(cr_hash64(cr_hash64(h, q->bonferroni), q->serving_samples), q);
    for (size_t i = 1; i < q->prediction_count; i++)
        h = cr_hash64(h, cr_bits_of_double(q->predictions[i] + 0.0));
    if (q->prediction_count > 1) h = cr_hash64(h, q->prediction_count);
    if (q->output_count > 1) h = cr_hash64(cr_hash64(h, 0x67726f7570), q->output_count);
    if (q->serving_pairs) h = cr_hash64(h, CR_HASH_ANTITHETIC);
    if (q->serving_trim != 0 || q->serving_core != 0)
        h = cr_hash64(cr_hash64(h, cr_bits_of_double(q->serving_trim)),
                      cr_bits_of_double(q->serving_core));
    if (q->relative_tolerance != 0)
        h = cr_hash64(cr_hash64(h, 0x70657263656e74), cr_bits_of_double(q->relative_tolerance));
    h = cr_hash_end(h);
    return h ? h : 1;
}

uint64_t cr_question_looks_digest(const cr_question *q)
{
    if (!q->is_group_sequential || !q->given.looks) return 0;
    const uint64_t h = cr_hash_end(hash_looks(CR_HASH_START, &q->given));
    return h ? h : 1;
}

/* ---- a question */
certreg_status cr_question_parse(const certreg_question *questions, size_t index, uint64_t share,
                                 cr_given *out, certreg_error *why)
{
    certreg_question theirs;
    memset(out, 0, sizeof *out);
    certreg_status status =
        cr_struct_element(&theirs, sizeof theirs, questions, index, "question", why);
    if (status) return status;
    *out = (cr_given){.output = theirs.output,
                      .statistic = theirs.statistic,
                      .method = theirs.method,
                      .center = theirs.center,
                      .constraints = theirs.constraints,
                      .tolerance = theirs.tolerance,
                      .relative_tolerance = theirs.relative_tolerance,
                      .huber_width = theirs.huber_width,
                      .output_count = theirs.output_count,
                      .alpha = theirs.alpha == 0 ? 0.05 : theirs.alpha,
                      .bonferroni = theirs.bonferroni ? theirs.bonferroni : 1};
    status = read_prediction(&theirs, out, why);
    if (!status) status = read_target(theirs.target, out, why);
    if (!status) status = read_serving(theirs.serving, out, why);
    if (status) return status;
    out->digest = digest_of(out);
    return divide_alpha(share, out, why);
}

certreg_status certreg_question_digest(const certreg_question *question, certreg_error *why,
                                       uint64_t *digest)
{
    cr_given q = {0};
    certreg_error error;
    fenv_t callers;
    cr_environment_enter(&callers);
    cr_error_clear(&error);
    certreg_status status = digest
                                ? cr_struct_check(question, CR_OLDEST_QUESTION, "question", &error)
                                : cr_error_set(&error, CERTREG_E_INVALID, "digest is NULL");
    if (!status) status = cr_question_parse(question, 0, 1, &q, &error);
    cr_environment_leave(&callers);
    if (digest) *digest = status ? 0 : q.digest;
    cr_error_copy_out(why, &error);
    return status;
}
