// A program in C++ that knows nothing of the build tree: a capture behind the callback, a radius on
// the screen.
#include <certreg/certreg.h>

#include <cstdio>
#include <functional>
#include <vector>

typedef std::function<float(const float *)> function;

static int call(void *user, const certreg_batch *batch)
{
    const function &f = *static_cast<const function *>(user);
    for (std::size_t i = 0; i < batch->rows; i++) batch->y[i] = f(batch->x + i * batch->inputs);
    return 0;
}

int main()
{
    const float slope = 2;
    function f = [slope](const float *x) { return slope * x[0] - x[1]; };
    certreg_model model = certreg_model();
    model.struct_size = sizeof model;
    model.eval = call;
    model.user = &f;
    model.inputs = 2;
    model.outputs = 1;
    certreg_plan plan = certreg_plan();
    plan.struct_size = sizeof plan;
    plan.max_samples = 2000;
    plan.seed = 7;
    std::vector<certreg_question> ask(2, certreg_question());
    std::vector<certreg_certificate> answer(2, certreg_certificate());
    for (std::size_t i = 0; i < 2; i++) {
        ask[i].struct_size = sizeof ask[i];
        ask[i].tolerance = 1.0 + static_cast<double>(i);
        answer[i].struct_size = sizeof answer[i];
    }
    const float z[2] = {1, 2};
    certreg_estimator *e = nullptr;
    if (certreg_version() != CERTREG_VERSION_NUMBER ||
        certreg_estimator_create(nullptr, &model, &plan, nullptr, &e) != CERTREG_OK)
        return 1;
    const bool bad = certreg_estimator_begin(e, z, 0.25, 0) != CERTREG_OK ||
                     certreg_certify(e, 2000, ask.data(), 2, answer.data()) != CERTREG_OK;
    certreg_estimator_destroy(e);
    if (bad) return 2;
    std::printf("radius %g and %g\n", answer[0].radius, answer[1].radius);
    return !(answer[0].radius > 0 && answer[0].radius < answer[1].radius);
}
