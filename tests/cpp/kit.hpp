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
struct failure {
    std::string text;
};
struct test {
    const char *name;
    void (*body)();
};
std::vector<test> &tests();

inline void check(bool holds, const char *what, const char *file, int line)
{
    if (!holds) throw failure{std::string(file) + ":" + std::to_string(line) + ": " + what};
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

inline certreg::plan plan(size_t samples)
{
    certreg::plan p(samples);
    p.seed = 42;
    return p;
}
inline certreg::estimator estimator(size_t samples = 1000)
{
    return certreg::estimator(plain, certreg::model(3), plan(samples));
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
inline bool says(const certreg::error &why, const char *part)
{
    if (std::strstr(why.what(), part)) return true;
    throw failure{std::string("the text is: ") + why.what()};
}
} // namespace kit

#define TEST(name)                                                                   \
    static void name();                                                              \
    static const bool name##_listed = (kit::tests().push_back({#name, name}), true); \
    static void name()
#define CHECK(condition) kit::check((condition), #condition, __FILE__, __LINE__)
// Refused with this status and a text that has this part.
#define REFUSED(call, wanted, part)                                                   \
    do {                                                                              \
        const certreg::error why_ = kit::thrown([&] { call; });                       \
        kit::check(why_.status == (wanted), #call " is refused", __FILE__, __LINE__); \
        kit::check(kit::says(why_, part), #call, __FILE__, __LINE__);                 \
    } while (0)
#endif
