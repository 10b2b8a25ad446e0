// CUDA, on the device that tests/emulated makes of the host.
#include "kit.hpp"
#include "emulated.h"
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
    return certreg::backend((path + "/emulated_module.so").c_str());
}
} // namespace

TEST(a_batch_is_computed_on_the_device)
{
    CHECK(emulated()->objects == 0);
    {
        certreg::backend cuda = device();
        int calls = 0;
        const auto throws = [&](const certreg_batch &b) {
            if (++calls == 2) throw std::string("out of paper");
            on_stream(b);
        };
        auto shape = kit::shape();
        shape.batch = 256;
        certreg::estimator e(throws, shape, kit::plan(), cuda);
        cuda = certreg::backend(); // the estimator keeps it
        certreg::estimator on_cpu = kit::estimator();
        e.begin(kit::input, 0.25, 7);
        on_cpu.begin(kit::input, 0.25, 7);
        const certreg_question q = kit::question();
        std::string caught;
        try {
            e.certify(1000, q);
        } catch (const std::string &why) {
            caught = why;
        }
        CHECK(caught == "out of paper" && emulated()->objects > 0);
        CHECK(kit::same(e.certify(1000, q), on_cpu.certify(1000, q)));
        certreg::estimator rows(kit::plain, kit::shape(), kit::plan(), device());
        rows.begin(kit::input, 0.25, 7);
        REFUSED(rows.certify(1000, q), CERTREG_E_INVALID, "on a device take a certreg_batch");
    }
    CHECK(emulated()->objects == 0);
}
