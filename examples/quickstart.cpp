#include <certreg/certreg.hpp>
#include <cstdio>

static float model(const float *x) // y = x0 + x1 * x2, for one row
{
    return x[0] + x[1] * x[2];
}

int main()
try {
    auto shape = certreg::make<certreg_model>(); // a struct of certreg.h, zeroed
    shape.inputs = 3;
    shape.outputs = 1;
    auto plan = certreg::make<certreg_plan>();
    plan.max_samples = 10000; // of one input
    plan.seed = 42;
    plan.audit = CERTREG_AUDIT_DEFAULT; // asks again for some samples
    auto ask = certreg::make<certreg_question>();
    ask.tolerance = 0.5;
    certreg::estimator e(model, shape, plan);
    e.begin({1, 0.5f, -0.25f}, 0.25, 0); // the input, sigma, the noise id
    e.model_check();                     // once: outputs depend on their rows only
    const certreg_certificate c = e.certify(10000, ask);
    std::printf("within %g of %g for every shift below %g\n", c.tolerance, c.prediction, c.radius);
} catch (const certreg::error &why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
}
