// libtorch, for TorchScript files. They do not tell the shape of their input, so the options have
// to. It runs on one thread, which is a setting of the whole process, and without the optimisations
// that TorchScript learns from the first runs: those may change the bits of later ones.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>
#include <torch/version.h>

#include "adapter.h"

namespace
{
struct script {
    torch::jit::Module module;
    tensor input;
    size_t output = 0; // of a tuple
};

// What went wrong inside of a script is in the last line, after a trace.
int say(char *why, const char *doing, const std::string &said)
{
    const size_t end = said.find_last_not_of('\n');
    const size_t line = end == std::string::npos ? end : said.rfind('\n', end);
    const bool traced = said.find("TorchScript") != std::string::npos && line != std::string::npos;
    return engine_fail_line(why, doing, traced ? said.c_str() + line + 1 : said.c_str());
}

// Calls what may throw.
template <typename function> int safely(char *why, const char *doing, function call)
{
    try {
        const c10::InferenceMode without_gradients;
        const torch::jit::GraphOptimizerEnabledGuard as_written(false);
        return call();
    } catch (const c10::Error &e) {
        return say(why, doing, e.what_without_backtrace());
    } catch (const std::exception &e) {
        return say(why, doing, e.what());
    } catch (...) {
        return say(why, doing, "an unknown exception");
    }
}

// The rows are copied: the module may work in place.
torch::jit::IValue forward(script *s, const float *x, size_t rows)
{
    std::vector<int64_t> size(s->input.size, s->input.size + s->input.rank);
    size[0] = static_cast<int64_t>(rows);
    return s->module.forward({torch::from_blob(const_cast<float *>(x), size).clone()});
}

// Outputs have no names, so options name an index; a tensor alone is "0".
int choose(const engine_options *options, const torch::jit::IValue &given, script *s, char *why)
{
    if (!given.isTensor() && !given.isTuple())
        return engine_fail(why, "the script gives neither a tensor nor a tuple");
    const size_t count = given.isTensor() ? 1 : given.toTupleRef().elements().size();
    std::vector<std::string> names;
    std::vector<const char *> list;
    for (size_t i = 0; i < count; i++) names.push_back(std::to_string(i));
    for (const std::string &name : names) list.push_back(name.c_str());
    const int chosen = tensor_choose(options, list.data(), count, why);
    s->output = static_cast<size_t>(chosen);
    return chosen < 0 ? ENGINE_FAILED : 0;
}

torch::Tensor pick(const script *s, const torch::jit::IValue &given)
{
    return given.isTensor() ? given.toTensor()
                            : given.toTupleRef().elements()[s->output].toTensor();
}

int look(const torch::Tensor &y, size_t rows, engine *e)
{
    tensor t = {"output", y.scalar_type() == torch::kFloat ? TENSOR_FLOAT : 0, 0, {}, 0};
    if (y.scalar_type() == torch::kDouble) t.type = TENSOR_DOUBLE;
    if (y.dim() > TENSOR_RANK) return engine_fail(e->why, "the output has too many dimensions");
    t.rank = static_cast<int>(y.dim());
    for (int i = 0; i < t.rank; i++) t.size[i] = y.size(i);
    return tensor_ran(&t, rows, e);
}

int run(void *self, const certreg_batch *b, char *why)
{
    script *s = static_cast<script *>(self);
    return safely(why, "libtorch, running the script", [&] {
        const torch::Tensor y = pick(s, forward(s, b->x, b->rows)).contiguous();
        if (y.scalar_type() != torch::kFloat || y.numel() != int64_t(b->rows * b->columns) ||
            y.size(0) != int64_t(b->rows))
            return engine_fail(why, "the script gave %lld numbers, not %zu rows of %zu",
                               static_cast<long long>(y.numel()), b->rows, b->columns);
        std::memcpy(b->y, y.data_ptr<float>(), b->rows * b->columns * sizeof *b->y);
        return 0;
    });
}

void close_torch(void *self)
{
    delete static_cast<script *>(self);
}

int open_script(const char *model, const engine_options *options, script *s, engine *out)
{
    s->input = {"x", TENSOR_FLOAT, -1, {}, 0};
    if (engine_find(model, out->why) || tensor_input(options, &s->input, out)) return ENGINE_FAILED;
    at::set_num_threads(1);
    s->module = torch::jit::load(model, torch::kCPU);
    s->module.eval();
    const size_t rows = 2;
    const std::vector<float> zeros(rows * out->inputs);
    const torch::jit::IValue given = forward(s, zeros.data(), rows);
    return choose(options, given, s, out->why) || look(pick(s, given), rows, out);
}
} // namespace

int engine_open_torch(const char *model, const engine_options *options, engine *out)
{
    script *s = nullptr;
    const int bad = safely(out->why, "libtorch, opening the script", [&] {
        s = new script();
        return open_script(model, options, s, out);
    });
    if (bad) {
        delete s;
        return bad;
    }
    snprintf(out->name, sizeof out->name, "libtorch %s", TORCH_VERSION);
    out->self = s;
    out->run = run;
    out->close = close_torch;
    return 0;
}
