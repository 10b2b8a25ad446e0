// What is about a certificate: run, JSON, digest, forecast, levels, attacks, intervals,
// denoisers, worst cases.
#include "kit.hpp"
#include <certreg/attack.hpp>
#include <certreg/denoiser.hpp>
#include <certreg/interval.hpp>
#include <certreg/worst_function.hpp>
#include <cmath>

TEST(structs_are_those_of_c_ready_to_use)
{
    CHECK(certreg::version() == CERTREG_VERSION_NUMBER);
    static_assert(sizeof(certreg::question) == sizeof(certreg_question));
    static_assert(sizeof(certreg::model) == sizeof(certreg_model));
    static_assert(sizeof(certreg::calibration) == sizeof(certreg_calibration));
    static_assert(std::is_standard_layout_v<certreg::certificate>);
    certreg_question zeroed = certreg_question();
    zeroed.struct_size = sizeof zeroed;
    CHECK(kit::same<certreg_question>(certreg::question(), zeroed));
    zeroed.tolerance = 0.5;
    CHECK(kit::same<certreg_question>(certreg::question(0.5), zeroed));
    CHECK(certreg::target(0.25).radius == 0.25);
    CHECK(certreg::serving(101, 0.01).samples == 101);
    CHECK(certreg::serving(101, 0.01).pairs == 0 && certreg::serving().pairs == 0);
    CHECK(certreg::attack_options(7).calls == 7 && certreg::attack_plan(7).max_calls == 7);
    CHECK(certreg::model(5).outputs == 1 && certreg::model(5, 2).outputs == 2);
}

TEST(a_run_and_its_certificate_are_written_as_json)
{
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 7, 2);
    const certreg::question q(0.5);
    const certreg::certificate c = e.certify(1000, q);
    const certreg::run run = e.info();
    CHECK(run.noise_id == 7 && run.level == 2 && run.samples == 1000 && run.seed == 42);
    const std::string line = certreg::write_json(&q, &run, &c);
    CHECK(line.front() == '{' && line.back() == '}');
    CHECK(line.find("\"tolerance\":0.5") != std::string::npos);
    CHECK(line.find("\"seed\"") == std::string::npos);
    CHECK(certreg::write_json(&q, &run, &c, CERTREG_JSON_SEED).find("\"42\"") != line.npos);
    CHECK(certreg::write_json(nullptr, nullptr, nullptr) == "{}");
    CHECK(certreg::question_digest(q) == c.question);
    certreg_run wrong = run;
    wrong.struct_size = 3;
    REFUSED(certreg::write_json(&q, &wrong, &c), CERTREG_E_INVALID, "");
}

TEST(levels_come_in_their_order_and_one_is_chosen)
{
    certreg::estimator e = kit::estimator();
    const double sigmas[] = {0.05, 0.25};
    const certreg::question q(0.5);
    const auto c = e.certify_sigmas(kit::input, sigmas, 3, 1000, {q});
    CHECK(c.size() == 2 && c[0].sigma == 0.05 && c[1].sigma == 0.25);
    double mean[2] = {0, 0};
    CHECK(certreg::choose_sigma(c, 2, mean) == (c[1].radius > c[0].radius ? 1 : 0));
    CHECK(mean[0] == c[0].radius && mean[1] == c[1].radius);
    CHECK(certreg::choose_sigma(c, 2) < 2);
    REFUSED(certreg::choose_sigma(c, 3), CERTREG_E_INVALID, "certificates has 2 elements");
    REFUSED(certreg::choose_sigma(c, 0), CERTREG_E_INVALID, "certificates has 2 elements");
    certreg::certificate out[1];
    REFUSED(e.certify_sigmas(kit::input, sigmas, 3, 1000, {q}, out), CERTREG_E_INVALID,
            "out has 1 elements, but needs 2");
}

TEST(certificates_are_moved)
{
    const std::vector<float> to = {1.1f, 0.5f, -0.25f};
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 0);
    const certreg::certificate c = e.certify(1000, certreg::question(0.5));
    const certreg::certificate m = certreg::move_certificate(c, kit::input, to);
    CHECK(m.radius < c.radius - 0.0999 && m.radius > c.radius - 0.1001);
    CHECK(certreg::move_certificate(m, to, kit::input, {1, 1, 1}).radius < c.radius - 0.1999);
    std::vector<float> none{7, 7, 7};
    none.clear(); /* which keeps its memory */
    CHECK(certreg::move_certificate(c, kit::input, to, none).radius == m.radius);
    REFUSED(certreg::move_certificate(m, kit::input, to), CERTREG_E_MISMATCH, "another input");
    REFUSED(certreg::move_certificate(c, kit::input, {1, 2}), CERTREG_E_INVALID, "to has 2");
    REFUSED(certreg::move_certificate(c, kit::input, to, {1}), CERTREG_E_INVALID, "scale has 1");
    REFUSED(certreg::move_certificate(c, kit::input, {1, 1, HUGE_VALF}), CERTREG_E_INVALID,
            "to[2]");
}

TEST(outputs_together_have_the_least_radius)
{
    const auto pose = [](const float *x, float *y) { y[0] = x[0], y[1] = 2 * x[1]; };
    certreg::estimator e(pose, certreg::model(3, 2), kit::plan(1000));
    e.begin(kit::input, 0.25, 0);
    std::vector<certreg::question> ask(2, certreg::question(0.5));
    ask[1].output = 1;
    std::vector<certreg::certificate> each(2);
    const certreg::certificate all = e.certify_outputs(1000, ask, each);
    CHECK(all.radius > 0 && all.radius == each[1].radius && each[0].radius > each[1].radius);
    CHECK(all.output == 1);
    REFUSED(e.certify_outputs(1000, ask, {}), CERTREG_E_INVALID, "each has 0 elements");
    std::vector<certreg::certificate> box(2);
    e.output_bounds(0, ask, 0.1, box);
    CHECK(box[0].output_lo < 1 && box[0].output_hi > 1 && box[0].radius == 0.1);
}

TEST(a_plan_without_a_seed_draws_one)
{
    certreg::estimator e(kit::plain, certreg::model(3), certreg::plan(100));
    e.begin(kit::input, 0.25, 0);
    CHECK(e.info().seed != 0);
}

TEST(a_target_is_forecast)
{
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 0);
    certreg::question q(0.5);
    const certreg::target wanted(0.1);
    q.target = &wanted;
    CHECK(e.forecast(q).least_samples > 0);
    REFUSED(e.forecast(certreg::question(0.5)), CERTREG_E_INVALID, "target");
}

TEST(bounds_give_the_radius_again)
{
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 0);
    const certreg::question q(0.5);
    const certreg::certificate c = e.certify(1000, q);
    const certreg::bounds sides[] = {e.bounds(q, CERTREG_SIDE_LOWER),
                                     e.bounds(q, CERTREG_SIDE_UPPER)};
    certreg::bisection search;
    const certreg::radius r = search.above(sides);
    CHECK(std::fabs(r.radius - c.radius) < 1e-8 * c.radius);
    CHECK(search.info().evaluations > 0 || r.radius > 0);
    REFUSED(search.above(sides, {0.0, 0.0, 0.0}), CERTREG_E_INVALID, "threshold has 3");
    certreg::solver solver;
    const certreg::mean_change change = solver.worst_case(sides[0], 0.1);
    CHECK(change.drop > 0);
    const certreg::worst_function f =
        certreg::find_worst_function(solver, sides[0], 0.1, CERTREG_SIDE_LOWER);
    CHECK(f.bound == change.drop && f.change <= f.bound);
    double t[3] = {-1, 0, 1};
    certreg::values(f, t, t);
    CHECK(t[0] >= -1 && t[0] <= 1);
    REFUSED(certreg::values(f, t, {}), CERTREG_E_INVALID, "out has 0 elements");
}

TEST(an_attack_brackets_the_radius)
{
    certreg::estimator e = kit::estimator();
    certreg::attack a(e, certreg::attack_plan(1000));
    e.begin(kit::input, 0.25, 0);
    const certreg::question q(0.5);
    const certreg::certificate c = e.certify(1000, q);
    std::vector<float> shift(3);
    const certreg::attack_result r = a.run(q, certreg::attack_options(1000), shift);
    CHECK(r.outcome == CERTREG_ATTACK_BROKEN && r.radius > c.radius);
    CHECK(std::fabs(shift[0]) > 0);
    double slope[3];
    a.gradient(q, CERTREG_SIDE_LOWER, slope);
    CHECK(slope[0] > 0);
    REFUSED(a.gradient(q, CERTREG_SIDE_LOWER, certreg::view<double>(slope, 2)), CERTREG_E_INVALID,
            "out has 2 elements, but needs 3");
    REFUSED(a.run(q, certreg::attack_options(1000), certreg::view<float>(shift.data(), 1)),
            CERTREG_E_INVALID, "shift has 1 elements");
    REFUSED(a.run(q, certreg::attack_options(2000)), CERTREG_E_INVALID, "calls");
    certreg::attack moved = std::move(a);
    REFUSED(a.run(q, certreg::attack_options(1000)), CERTREG_E_INVALID, "moved from");
    CHECK(moved.run(q, certreg::attack_options(1000)).radius == r.radius);
}

TEST(intervals_contain_the_truth)
{
    certreg::plan p = kit::plan(200);
    p.pilot = SIZE_MAX;
    certreg::estimator e(kit::plain, certreg::model(3), p);
    std::vector<double> room(40 * CERTREG_CALIBRATION_SCORES);
    certreg::calibration scores(room);
    for (uint64_t i = 0; i < 40; i++) {
        const float z[3] = {static_cast<float>(i) / 40, 0.5f, -0.25f};
        e.begin(z, 0.25, i);
        e.sample(0, 101);
        const double truth = static_cast<double>(z[0]) - 0.125;
        certreg::calibrate(e, scores, {truth});
        REFUSED(certreg::calibrate(e, scores, {truth, truth}), CERTREG_E_INVALID,
                "truth has 2 elements");
    }
    REFUSED(certreg::calibrate(e, scores, {0.0}), CERTREG_E_TOO_MANY, "");
    certreg::coverage wanted;
    wanted.alpha = 0.1;
    wanted.samples = 101;
    const certreg::rule rule = certreg::interval_rule(wanted, scores);
    CHECK(rule.alpha == 0.1 && rule.threshold < 1);
    e.begin(kit::input, 0.25, 1000);
    e.sample(0, 101);
    std::vector<double> lo(101), hi(101);
    const certreg::interval i = certreg::prediction_interval(e, scores, rule, 0, lo, hi);
    CHECK(i.lo < 0.875 && 0.875 < i.hi && i.hi - i.lo < 1);
    CHECK(certreg::covers(e, scores, rule, {0.875}));
    CHECK(!certreg::covers(e, scores, rule, {5.0}));
    REFUSED(certreg::covers(e, scores, rule, {}), CERTREG_E_INVALID, "truth has 0");
    wanted.points = 3;
    REFUSED(certreg::interval_rule(wanted, scores), CERTREG_E_INVALID, "points");
    wanted.sigma = 0.25;
    wanted.calibration_samples = 101;
    REFUSED(certreg::interval_rule(wanted), CERTREG_E_INVALID, "points");
    wanted.points = 40;
    CHECK(certreg::interval_rule(wanted).sample_rank == rule.sample_rank);
}

TEST(a_denoiser_is_made_copied_and_kept_as_bytes)
{
    constexpr size_t inputs = 6, rows = 200;
    // Examples on a line: what lies off it is noise.
    const auto read = [](uint64_t first, size_t count, float *x) {
        for (size_t i = 0; i < count * inputs; i++)
            x[i] = static_cast<float>((first + i / inputs) % 7) - 3;
    };
    const certreg::denoiser w(read, certreg::denoiser_plan(inputs, rows, 0.5));
    const certreg::denoiser_facts facts = w.info();
    CHECK(facts.inputs == inputs && facts.components == 1 && facts.rows == rows);
    CHECK(facts.sigma == 0.5 && facts.error < 0.2);
    const float noisy[2 * inputs] = {1.5f, 0.5f, 1, 1, 0.7f, 1.3f, -2, -2, -2, -2, -2, -2};
    float clean[2 * inputs], again[2 * inputs];
    w.apply(noisy, clean);
    CHECK(std::fabs(clean[0] - 1) < 0.1f && std::fabs(clean[1] - 1) < 0.1f);
    const auto bytes = w.export_bytes();
    certreg::denoiser other = certreg::denoiser::import_bytes(bytes.data(), bytes.size());
    CHECK(other.info().digest == facts.digest);
    other.apply(noisy, again);
    CHECK(std::memcmp(clean, again, sizeof clean) == 0);
    REFUSED(w.apply({1, 2}, again), CERTREG_E_INVALID, "x has 2 elements, but needs 6");
    REFUSED(w.apply(noisy, {}), CERTREG_E_INVALID, "y has 0 elements, but needs 12");
    REFUSED(certreg::denoiser::import_bytes(bytes.data(), 99), CERTREG_E_CORRUPT, "damaged");
    certreg::denoiser moved = std::move(other);
    CHECK(moved.info().digest == facts.digest);
    REFUSED(other.apply(noisy, again), CERTREG_E_INVALID, "");
    other = w;
    CHECK(other.get() == w.get());
    const auto plan = certreg::denoiser_plan(inputs, 1, 0.5);
    REFUSED(certreg::denoiser(read, plan), CERTREG_E_INVALID, "plan.rows is 1");
    REFUSED(certreg::denoiser(certreg::denoiser_plan(inputs, 9, 0.5)), CERTREG_E_INVALID,
            "plan.read is NULL");
    const auto fails = [](uint64_t, size_t, float *) { return 5; };
    const auto why =
        kit::thrown([&] { certreg::denoiser(fails, certreg::denoiser_plan(inputs, 9, 0.5)); });
    CHECK(why.status == CERTREG_E_MODEL_FAILED && why.model_code == 5);
    const auto throws = [](uint64_t, size_t, float *) { throw 7; };
    int caught = 0;
    try {
        certreg::denoiser(throws, certreg::denoiser_plan(inputs, 9, 0.5));
    } catch (int thrown) {
        caught = thrown;
    }
    CHECK(caught == 7);
}
