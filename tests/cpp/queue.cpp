// Queues: structs, vectors and refusals of C++, exceptions of the model. C tests the rest.
#include "kit.hpp"

namespace
{
certreg_queue_input input(uint64_t tag, const certreg_alternatives *set = nullptr)
{
    auto in = certreg::make<certreg_queue_input>();
    in.tag = in.noise_id = tag;
    in.sigma = 0.25;
    in.alternatives = set;
    return in;
}
template <class F> certreg::queue queue(F &&f)
{
    auto room = certreg::make<certreg_queue_plan>();
    room.capacity = 8;
    room.questions = room.alternatives = 2;
    room.sets = 1;
    return {std::forward<F>(f), kit::shape(), kit::plan(), room};
}
} // namespace

TEST(results_of_a_queue_have_all_that_they_have_in_c)
{
    const certreg_question ask[2] = {kit::question(), kit::question(0.25)};
    const std::vector<float> changed = {1.25f, 0.5f, -0.25f, 9, 0.5f, -0.25f};
    certreg_certificate alone[2];
    certreg::queue first = queue(kit::plain), q = std::move(first);
    auto set = certreg::make<certreg_alternatives>();
    set.count = 2;
    set.z = changed.data();
    set.first_noise_id = 100;
    CHECK(!q.take() && q.add(input(4), kit::input, ask) && q.add(input(5, &set), kit::input, ask));
    q.run();
    auto r = q.take();
    certreg::estimator e = kit::estimator();
    e.begin(kit::input, 0.25, 4);
    e.certify(1000, ask, alone);
    CHECK(r && r->tag == 4 && r->why.status == CERTREG_OK && r->alternatives.empty());
    CHECK(r->certificates.size() == 2 && r->limiting == std::vector<uint32_t>(2));
    CHECK(kit::same(alone[0], r->certificates[0]) && kit::same(alone[1], r->certificates[1]));
    q.run();
    r = q.take();
    CHECK(r && r->tag == 5 && r->proved == 0 && r->limiting[1] == 2 && !q.take());
    CHECK(r->alternatives.size() == 6 && r->alternatives[5].estimate > 8);
    REFUSED(first.run(), CERTREG_E_INVALID, "moved from");
    REFUSED(first.take(), CERTREG_E_INVALID, "");
    REFUSED(q.add(input(30), {1, 2}, ask), CERTREG_E_INVALID, "z has 2 elements, but needs 3");
    REFUSED(q.add(input(30), kit::input, {}), CERTREG_E_INVALID, "count is 0");
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
    CHECK(q.add(input(0), kit::input, {kit::question()}));
    q.run();
    CHECK(q.take()->certificates[0].radius > 0);
}
