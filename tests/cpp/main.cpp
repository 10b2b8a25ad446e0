// Runs every test of the program. Each prints "ok NAME", or "not ok NAME" and why.
#include "kit.hpp"

std::vector<kit::test> &kit::tests()
{
    static std::vector<test> all;
    return all;
}

static bool passes(const kit::test &test)
{
    std::string why;
    try {
        test.body();
        std::printf("ok %s\n", test.name);
        return true;
    } catch (const kit::failure &failed) {
        why = failed.text;
    } catch (const std::exception &failed) {
        why = std::string("it threw: ") + failed.what();
    } catch (...) {
        why = "it threw something else";
    }
    std::printf("not ok %s: %s\n", test.name, why.c_str());
    return false;
}

int main()
{
    int failed = 0;
    for (const kit::test &test : kit::tests()) failed += !passes(test);
    return failed != 0;
}
