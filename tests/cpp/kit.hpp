// What the tests in C++ share: a list of tests, checks that end one of them, and a plain model.
#ifndef CPP_KIT_HPP
#define CPP_KIT_HPP
#include <certreg/certreg.hpp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace kit
{
inline std::vector<std::pair<const char *, void (*)()>> tests;

inline void check(bool holds, int line, const char *what, const char *said = "")
{
    if (!holds) throw "line " + std::to_string(line) + ": " + what + said;
}
// Every bit of two structs.
template <class T> bool same(const T &a, const T &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

// y = x0 + x1*x2
inline float plain(const float *x)
{
    return x[0] + x[1] * x[2];
}
inline constexpr float input[3] = {1, 0.5f, -0.25f};

inline certreg_model shape(size_t outputs = 1)
{
    auto m = certreg::make<certreg_model>();
    m.inputs = 3;
    m.outputs = outputs;
    return m;
}
inline certreg_plan plan(size_t samples = 1000)
{
    auto p = certreg::make<certreg_plan>();
    p.max_samples = samples;
    p.seed = 42;
    return p;
}
inline certreg_question question(double tolerance = 0.5)
{
    auto q = certreg::make<certreg_question>();
    q.tolerance = tolerance;
    return q;
}
inline certreg_attack_plan attack_plan(size_t calls)
{
    auto p = certreg::make<certreg_attack_plan>();
    p.max_calls = calls;
    return p;
}
inline certreg_attack_options attack_options(size_t calls)
{
    auto o = certreg::make<certreg_attack_options>();
    o.calls = calls;
    return o;
}
inline certreg::estimator estimator()
{
    return {plain, shape(), plan()};
}

// What a call throws, as far as certreg::error; status 0 if nothing.
template <class Call> certreg::error thrown(Call &&call)
{
    try {
        call();
    } catch (const certreg::error &why) {
        return why;
    }
    return certreg::error(CERTREG_OK, "");
}
} // namespace kit

#define TEST(name)                                                                  \
    static void name();                                                             \
    static const bool name##_listed = (kit::tests.emplace_back(#name, name), true); \
    static void name()
#define CHECK(condition) kit::check((condition), __LINE__, #condition)
// Refused with this status and a text that has this part.
#define REFUSED(call, wanted, part)                                                  \
    do {                                                                             \
        const certreg::error why_ = kit::thrown([&] { call; });                      \
        const bool fits = why_.status == (wanted) && std::strstr(why_.what(), part); \
        kit::check(fits, __LINE__, #call " says: ", why_.what());                    \
    } while (0)
#endif
