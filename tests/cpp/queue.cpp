// Queues: bits of the interface in C, alternatives, failures, exceptions of the model.
#include "kit.hpp"

namespace
{
certreg_queue_plan room()
{
    auto p = certreg::make<certreg_queue_plan>();
    p.capacity = 8;
    p.questions = 2;
    p.sets = 1;
    p.alternatives = 2;
    return p;
}
certreg_queue_input input(uint64_t tag)
{
    auto in = certreg::make<certreg_queue_input>();
    in.tag = in.noise_id = tag;
    in.sigma = 0.25;
    return in;
}
template <class F> certreg::queue queue(F &&f)
{
    return {std::forward<F>(f), kit::shape(), kit::plan(), room()};
}
} // namespace

TEST(inputs_of_a_queue_have_the_bits_that_they_have_alone)
{
    const certreg_question ask[2] = {kit::question(), kit::question(0.25)};
    certreg_certificate alone[2];
    certreg::queue first = queue(kit::plain), q = std::move(first);
    size_t ended = 0;
    for (uint64_t i = 0; i < 20 || ended < 20;) {
        while (i < 20 && q.add(input(i), kit::input, ask)) i++;
        q.run();
        for (; const auto r = q.take(); ended++) {
            CHECK(r->why.status == CERTREG_OK && r->certificates.size() == 2);
            CHECK(r->alternatives.empty() && r->limiting[1] == 0);
            certreg::estimator e = kit::estimator();
            e.begin(kit::input, 0.25, r->tag);
            e.certify(1000, ask, alone);
            CHECK(kit::same(alone[0], r->certificates[0]));
            CHECK(kit::same(alone[1], r->certificates[1]));
        }
    }
    REFUSED(first.run(), CERTREG_E_INVALID, "moved from");
    REFUSED(first.take(), CERTREG_E_INVALID, "");
    REFUSED(q.add(input(30), {1, 2}, ask), CERTREG_E_INVALID, "z has 2 elements, but needs 3");
    REFUSED(q.add(input(30), kit::input, {}), CERTREG_E_INVALID, "count is 0");
}

TEST(a_queue_certifies_alternatives)
{
    certreg::queue q = queue(kit::plain);
    const std::vector<float> changed = {1.25f, 0.5f, -0.25f, 9, 0.5f, -0.25f};
    auto set = certreg::make<certreg_alternatives>();
    set.count = 2;
    set.z = changed.data();
    set.first_noise_id = 100;
    set.estimate_all = 1;
    auto in = input(4);
    in.alternatives = &set;
    CHECK(q.add(in, kit::input, {kit::question()}));
    q.run();
    const auto r = q.take();
    CHECK(r && r->tag == 4 && r->proved == 0 && r->limiting[0] == 2);
    CHECK(r->alternatives.size() == 3 && r->alternatives[2].estimate > 8);
    CHECK(r->certificates[0].reason == CERTREG_REASON_ALTERNATIVE && !q.take());
}

TEST(an_exception_leaves_the_run_of_a_queue)
{
    int calls = 0;
    certreg::queue q = queue([&](const float *x) -> float {
        if (calls++ == 0) throw std::string("lost");
        return kit::plain(x);
    });
    q.add(input(0), kit::input, {kit::question()});
    bool lost = false;
    try {
        q.run();
    } catch (const std::string &) {
        lost = true;
    }
    const auto failed = q.take();
    CHECK(lost && failed && failed->why.status == CERTREG_E_MODEL_FAILED);
    CHECK(failed->certificates[0].radius == 0);
    CHECK(q.add(input(0), kit::input, {kit::question()}));
    q.run();
    CHECK(q.take()->certificates[0].radius > 0);
}
