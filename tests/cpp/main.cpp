// Runs every test of the program. Each prints "ok NAME", or "not ok NAME" and why.
#include "kit.hpp"

int main()
{
    int failed = 0;
    for (const auto &[name, body] : kit::tests) {
        std::string why;
        try {
            body();
        } catch (const std::string &text) {
            why = text;
        } catch (const std::exception &other) {
            why = std::string("it threw ") + other.what();
        } catch (...) {
            why = "it threw something else";
        }
        std::printf(why.empty() ? "ok %s\n" : "not ok %s: %s\n", name, why.c_str());
        failed += !why.empty();
    }
    return failed != 0;
}
