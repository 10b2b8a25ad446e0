// CUDA, on the device that tests/emulated makes of the host.
#include "kit.hpp"
#include "emulated.h"
#include <certreg/attack.hpp>
#include <memory>
#include <optional>
#include <unistd.h>

namespace
{
struct work {
    size_t rows;
    const float *x;
    float *y;
};

void compute(void *with)
{
    const work &w = *static_cast<work *>(with);
    for (size_t i = 0; i < w.rows; i++) w.y[i] = kit::plain(w.x + 3 * i);
}

void on_stream(const certreg_batch &b)
{
    CHECK(b.device == 0);
    emulated_enqueue(static_cast<cudaStream_t>(b.stream), compute, new work{b.rows, b.x, b.y},
                     [](void *done) { delete static_cast<work *>(done); });
}

// Its module lies beside this program.
certreg::backend device()
{
    std::string path(4096, '\0');
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    path.resize(path.rfind('/', static_cast<size_t>(length)));
    return certreg::backend::open((path + "/emulated_module.so").c_str());
}
} // namespace

TEST(a_batch_is_computed_on_the_device)
{
    CHECK(emulated()->objects == 0);
    {
        certreg::backend cuda = device();
        certreg::estimator e(on_stream, certreg::model(3), kit::plan(1000), cuda);
        cuda = certreg::backend(); // the estimator keeps it
        certreg::estimator on_cpu = kit::estimator();
        e.begin(kit::input, 0.25, 7);
        on_cpu.begin(kit::input, 0.25, 7);
        const certreg::question q(0.5);
        CHECK(kit::same(e.certify(1000, q), on_cpu.certify(1000, q)));
        CHECK(emulated()->objects > 0);
        CHECK(certreg::estimator::device_size(certreg::model(3), kit::plan(1000), device()) > 0);
    }
    CHECK(emulated()->objects == 0);
}

TEST(a_model_of_rows_is_refused_on_the_device)
{
    certreg::estimator e(kit::plain, certreg::model(3), kit::plan(1000), device());
    e.begin(kit::input, 0.25, 7);
    REFUSED(e.certify(1000, certreg::question(0.5)), CERTREG_E_INVALID, "const certreg_batch &");
    certreg::estimator rows([](const float *, float *, size_t) {}, certreg::model(3),
                            kit::plan(1000), device());
    rows.begin(kit::input, 0.25, 7);
    REFUSED(rows.sample(0, 10), CERTREG_E_INVALID, "const certreg_batch &");
}

TEST(what_a_model_throws_arrives_from_the_device)
{
    int calls = 0;
    certreg::estimator e(
        [&](const certreg_batch &b) {
            if (++calls == 2) throw std::string("out of paper");
            on_stream(b);
        },
        certreg::model(3), kit::plan(1000), device());
    e.begin(kit::input, 0.25, 7);
    std::string caught;
    try {
        e.certify(1000, certreg::question(0.5));
    } catch (const std::string &why) {
        caught = why;
    }
    CHECK(caught == "out of paper");
    CHECK(e.certify(1000, certreg::question(0.5)).radius > 0);
}

// The device may still be working for the model, or for the attack.
TEST(the_model_outlives_what_calls_it)
{
    struct watcher {
        int *left;
        std::unique_ptr<int> alive = std::make_unique<int>(0); // not in what was moved from
        ~watcher()
        {
            if (alive) *left = emulated()->objects;
        }
        watcher(int *count) : left(count)
        {
        }
        watcher(watcher &&) = default;
        void operator()(const certreg_batch &b) const
        {
            on_stream(b);
        }
    };
    int left = 0, left_of_other = 0;
    const certreg::backend cuda = device();
    const int alone = emulated()->objects;
    const auto make = [&](int *count) {
        return certreg::estimator(watcher(count), certreg::model(3), kit::plan(1000), cuda);
    };
    make(&left);
    CHECK(left == alone);
    std::optional<certreg::estimator> e(make(&left));
    std::optional<certreg::attack> a(certreg::attack(*e, certreg::attack_plan(100)));
    CHECK(emulated()->objects > alone);
    e.reset();
    e.emplace(make(&left_of_other));
    certreg::attack second(*e, certreg::attack_plan(100));
    const int all = emulated()->objects; // two estimators and two attacks
    *a = std::move(second);
    CHECK(2 * (left - alone) == all - alone);
}
