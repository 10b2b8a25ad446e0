#include <certreg/certreg.hpp>
#include <cstdio>

static float model(const float *x) // y = x0 + x1 * x2, for one row
{
    return x[0] + x[1] * x[2];
}

int main()
try {
    certreg::plan plan(10000); // most samples of one input
    plan.seed = 42;
    certreg::estimator e(model, certreg::model(3), plan); // 3 inputs
    e.begin({1, 0.5f, -0.25f}, 0.25, 0);                  // the input, sigma, the noise id
    e.model_check(); // once for each model: outputs depend on their rows only
    const certreg::certificate c = e.certify(10000, certreg::question(0.5));
    std::printf("within %g of %g for every shift below %g\n", c.tolerance, c.prediction, c.radius);
} catch (const certreg::error &why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
}
