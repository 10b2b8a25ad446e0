// A table of 1,000 inputs, as in queue.c: calls of the model have rows of many inputs, so that they
// are full, and a row that cannot be used fails alone. Prints how many are certified, and their
// mean radius: the numbers of queue.c.
#define CERTREG_EXPERIMENTAL 1 // see "stability" in certreg.h
#include <certreg/certreg.hpp>
#include <cmath>
#include <cstdio>

static constexpr int inputs = 1000, features = 8, units = 64;

static float model(const float *x) // for one row: a stand-in of about 2 microseconds
{
    float y = 0;
    for (int k = 0; k < units; k++)
        y += tanhf(x[k % features] - 0.5f * x[(k + k / features) % features] + 0.01f * float(k));
    return y / 8;
}

static bool add(certreg::queue &q, int i)
{
    auto ask = certreg::make<certreg_question>();
    ask.tolerance = 0.3;
    auto in = certreg::make<certreg_queue_input>();
    in.tag = in.noise_id = static_cast<uint64_t>(i); // each input has noise of its own
    in.sigma = 0.25;
    float z[features];
    for (int j = 0; j < features; j++) z[j] = float((i * 7 + j * 5) % 31) / 16 - 1;
    if (i == 500) z[3] = NAN; // as tables have it
    return q.add(in, z, {ask});
}

int main()
try {
    auto shape = certreg::make<certreg_model>();
    shape.inputs = features;
    shape.outputs = 1;
    shape.batch = 1024;
    auto plan = certreg::make<certreg_plan>();
    plan.max_samples = 300;
    plan.seed = 42;                     // so that the output repeats; a deployment gives none
    plan.audit = CERTREG_AUDIT_DEFAULT; // asks again for some samples
    auto room = certreg::make<certreg_queue_plan>();
    room.capacity = 13; // inputs whose samples fill some calls
    certreg::queue q(model, shape, plan, room);
    double certified = 0, sum = 0;
    for (int next = 0, ended = 0; ended < inputs;) {
        try {
            while (next < inputs && add(q, next)) next++;
        } catch (const certreg::error &why) {
            std::printf("input %d: %s\n", next++, why.what()), ended++;
        }
        q.run();
        for (; const auto r = q.take(); ended++) {
            certified += r->certificates[0].radius > 0; // 0 also if it failed: r->why
            sum += r->certificates[0].radius;
        }
    }
    std::printf("certified %.0f of %d, mean radius %.3f\n", certified, inputs, sum / certified);
} catch (const certreg::error &why) {
    return std::puts(why.what()), 1;
}
