// Bad input at every door: a status, and a sentence that names what is wrong.
#include "kit.hpp"
#include <cmath>
#include <limits>

TEST(creation_names_the_field)
{
    REFUSED(certreg::estimator(kit::plain, certreg::model(), kit::plan(100)), CERTREG_E_INVALID,
            "model.inputs");
    REFUSED(certreg::estimator(kit::plain, certreg::model(3), certreg::plan()), CERTREG_E_INVALID,
            "plan.max_samples");
    REFUSED(certreg::estimator(kit::plain, certreg::model(3, 2), kit::plan(100)), CERTREG_E_INVALID,
            "let it take x and y");
    const int32_t pair = CERTREG_OUTPUT_ANGLE_PAIR;
    certreg::model angle(3);
    angle.kind = &pair;
    REFUSED(certreg::estimator(kit::plain, angle, kit::plan(100)), CERTREG_E_INVALID,
            "let it take x and y");
    certreg::plan small = kit::plan(100);
    alignas(64) static unsigned char memory[64];
    small.memory = memory;
    small.memory_bytes = sizeof memory;
    REFUSED(certreg::estimator(kit::plain, certreg::model(3), small), CERTREG_E_SMALL_MEMORY,
            "memory");
    REFUSED(certreg::backend::cpu(-1), CERTREG_E_INVALID, "threads");
    REFUSED(certreg::backend::open("/no/such/module.so"), CERTREG_E_NO_BACKEND,
            "/no/such/module.so");
    REFUSED(certreg::estimator::size(certreg::model(), kit::plan(100)), CERTREG_E_INVALID,
            certreg_status_text(CERTREG_E_INVALID));
}

TEST(an_input_has_the_models_dimension)
{
    certreg::estimator e = kit::estimator();
    REFUSED(e.begin({1, 2}, 0.25, 0), CERTREG_E_INVALID, "z has 2 elements, but needs 3");
    REFUSED(e.begin(std::vector<float>(4), 0.25, 0), CERTREG_E_INVALID, "z has 4 elements");
    REFUSED(e.begin({}, 0.25, 0), CERTREG_E_INVALID, "z has 0 elements");
    e.begin(kit::input, 0.25, 0);
    e.sample(0, 1000);
    REFUSED(e.begin({1, 2}, 0.25, 1), CERTREG_E_INVALID, "z has 2 elements");
    REFUSED(e.certify(0, certreg::question(0.5)), CERTREG_E_WRONG_STATE, "begin"); // not the last
    const double none[] = {0.25};
    REFUSED(e.certify_sigmas({1, 2}, none, 0, 100, {certreg::question(1)}), CERTREG_E_INVALID,
            "z has 2 elements");
    REFUSED(e.begin({1, NAN, 0}, 0.25, 0), CERTREG_E_INVALID, "z[1]");
    REFUSED(e.begin(kit::input, 0, 0), CERTREG_E_INVALID, "sigma");
    REFUSED(e.begin(kit::input, NAN, 0), CERTREG_E_INVALID, "sigma");
}

// What libraries of matrices give for a row of a matrix that is stored by columns.
namespace
{
struct strided {
    struct iterator {
        const float *at;
        std::ptrdiff_t step;
        const float &operator*() const
        {
            return *at;
        }
        iterator operator+(std::ptrdiff_t n) const
        {
            return {at + n * step, step};
        }
    };
    const float *start;
    std::ptrdiff_t step;
    const float *data() const
    {
        return start;
    }
    std::ptrdiff_t size() const
    {
        return 3;
    }
    iterator begin() const
    {
        return {start, step};
    }
};
} // namespace

TEST(a_row_with_gaps_is_no_input)
{
    const float matrix[6] = {1, 9, 0.5f, 9, -0.25f, 9}; // 2 rows, by columns
    certreg::estimator e = kit::estimator();
    REFUSED(e.begin(strided{matrix, 2}, 0.25, 0), CERTREG_E_INVALID, "one after the other");
    REFUSED(e.certify(0, certreg::question(0.5)), CERTREG_E_WRONG_STATE, "begin");
    e.begin(strided{matrix, 1}, 0.25, 0);
}

TEST(questions_are_checked)
{
    certreg::estimator e = kit::estimator();
    REFUSED(e.certify(1000, certreg::question(0.5)), CERTREG_E_WRONG_STATE, "begin");
    e.begin(kit::input, 0.25, 0);
    for (double tolerance : {0.0, -1.0, double(NAN), double(INFINITY)})
        REFUSED(e.certify(1000, certreg::question(tolerance)), CERTREG_E_INVALID, "tolerance");
    REFUSED(e.certify(2000, certreg::question(0.5)), CERTREG_E_TOO_MANY, "max_samples");
    REFUSED(e.certify(1000, certreg::view<const certreg_question>()), CERTREG_E_INVALID, "");
    certreg::question other(0.5);
    other.output = 1;
    REFUSED(e.certify(1000, other), CERTREG_E_INVALID, "output");
    // One wrong question among two: the other is answered, also though this throws.
    certreg::certificate out[2];
    REFUSED(e.certify(1000, {certreg::question(0.5), certreg::question(-1)}, out),
            CERTREG_E_INVALID, "tolerance");
    CHECK(out[0].status == CERTREG_OK && out[0].radius > 0);
    CHECK(out[1].status == CERTREG_E_INVALID && out[1].radius == 0);
    CHECK(std::isnan(out[1].prediction) && std::isnan(out[1].tolerance));
    // A refusal of the headers for C++ leaves no answer either.
    REFUSED(e.certify(1000, {certreg::question(0.5)}, out), CERTREG_E_INVALID, "out has 2");
    for (const certreg::certificate &c : out) {
        CHECK(c.status != CERTREG_OK && c.radius == 0 && std::isnan(c.prediction));
        CHECK(std::isnan(c.tolerance) && std::isnan(c.alpha) && std::isinf(c.output_hi));
    }
}

TEST(outputs_that_are_not_finite_name_the_sample)
{
    for (float bad : {NAN, INFINITY, -INFINITY}) {
        size_t calls = 0;
        certreg::estimator e([&](const float *x) { return calls++ == 300 ? bad : kit::plain(x); },
                             certreg::model(3), kit::plan(1000));
        e.begin(kit::input, 0.25, 0);
        const certreg::error why = kit::thrown([&] { e.certify(1000, certreg::question(0.5)); });
        CHECK(why.status == CERTREG_E_NOT_FINITE);
        CHECK(why.sample == 300 && why.row == 300 - 256 && why.output == 0);
        CHECK(std::isnan(bad) ? std::isnan(why.value) : why.value == double(bad));
    }
    certreg::estimator e([](const float *, float *, size_t) {}, certreg::model(3), kit::plan(1000));
    e.begin(kit::input, 0.25, 0);
    REFUSED(e.sample(0, 100), CERTREG_E_NOT_FINITE, "row");
}

TEST(codes_and_ranges_are_carried)
{
    certreg::estimator e([](const certreg_batch &b) { return b.first ? 17 : (b.y[0] = 0, -3); },
                         certreg::model(3), kit::plan(1000));
    e.begin(kit::input, 0.25, 0);
    const certreg::error why = kit::thrown([&] { e.sample(0, 100); });
    CHECK(why.status == CERTREG_E_MODEL_FAILED && why.model_code == -3);
    const certreg::error later = kit::thrown([&] { e.sample(256, 100); });
    CHECK(later.model_code == 17 && later.sample >= 0);

    const double lo = -10, hi = 0.5;
    certreg::model bounded(3);
    bounded.lo = &lo;
    bounded.hi = &hi;
    certreg::estimator narrow(kit::plain, bounded, kit::plan(1000));
    narrow.begin(kit::input, 0.25, 0);
    const certreg::error out = kit::thrown([&] { narrow.sample(0, 100); });
    CHECK(out.status == CERTREG_E_OUT_OF_RANGE && out.value > 0.5 && out.sample == 0);
}

TEST(an_error_is_a_standard_exception_and_copies)
{
    certreg::estimator e = kit::estimator();
    try {
        e.begin(kit::input, -1, 0);
        CHECK(false);
    } catch (const std::exception &why) {
        CHECK(std::strstr(why.what(), "sigma"));
    }
    const certreg::error first = kit::thrown([&] { e.begin(kit::input, -1, 0); });
    certreg::error second = first;
    second = certreg::error(CERTREG_E_BUSY, "another");
    CHECK(second.status == CERTREG_E_BUSY && std::strcmp(second.what(), "another") == 0);
    CHECK(first.status == CERTREG_E_INVALID && std::strstr(first.what(), "sigma"));
    CHECK(std::strcmp(e.last_error().text, first.text) == 0);
    CHECK(std::strlen(certreg::error(1, std::string(999, 'x').c_str()).what()) == 255);
    static_assert(std::is_nothrow_copy_constructible_v<certreg::error>);
}

TEST(errors_of_a_shorter_struct_are_read_to_its_end)
{
    certreg_error old = certreg_error();
    std::memset(&old, 'x', sizeof old);
    old.struct_size = 48;
    old.status = CERTREG_E_CORRUPT;
    const certreg::error why(old);
    CHECK(why.status == CERTREG_E_CORRUPT && why.struct_size == sizeof(certreg_error));
    CHECK(std::strlen(why.what()) == 48 - offsetof(certreg_error, text));
}

TEST(vectors_have_as_many_numbers_as_outputs)
{
    const auto pose = [](const float *x, float *y) { y[0] = x[0], y[1] = x[1]; };
    certreg::estimator e(pose, certreg::model(3, 2), kit::plan(1000));
    e.begin(kit::input, 0.25, 0);
    certreg::question q(0.5);
    q.output = CERTREG_ALL_OUTPUTS;
    CHECK(e.certify(1000, q).radius > 0);
    REFUSED(e.prediction(q), CERTREG_E_INVALID, "out has 1 elements, but needs 2");
    REFUSED(e.estimate(q), CERTREG_E_INVALID, "out has 1 elements, but needs 2");
    double two[2] = {0, 0};
    e.prediction(q, two);
    CHECK(std::fabs(two[0] - 1) < 0.2 && std::fabs(two[1] - 0.5) < 0.2);
    e.estimate(q, two);
    CHECK(std::fabs(two[0] - 1) < 0.1 && std::fabs(two[1] - 0.5) < 0.1);
    q.output = 0;
    q.output_count = 2;
    REFUSED(e.prediction(q), CERTREG_E_INVALID, "but needs 2");
    q.output_count = 0;
    CHECK(e.prediction(q) == two[0] || std::fabs(e.prediction(q) - 1) < 0.2);
}
