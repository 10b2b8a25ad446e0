// OpenCV's DNN module, for ONNX files. It does not tell their shapes, so onnx_file.c reads them,
// and rows are handed over in that shape; a dynamic batch needs nothing else. It runs on one
// thread, which is a setting of the whole process.
#include <climits>
#include <cstdio>
#include <cstring>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>

#include "adapter.h"

namespace
{
struct opencv {
    cv::dnn::Net net;
    cv::Mat x; // a copy: layers may work in place
    tensor input, output;
};

// OpenCV would print its errors before it throws them.
struct quiet {
    cv::utils::logging::LogLevel before =
        cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    ~quiet()
    {
        cv::utils::logging::setLogLevel(before);
    }
};

// Calls what may throw. The message of an OpenCV error begins with a place in its source; `err` is
// what comes after that.
template <typename function> int safely(char *why, const char *doing, function call)
{
    try {
        const quiet silence;
        return call();
    } catch (const cv::Exception &e) {
        return engine_fail_line(why, doing, e.err.empty() ? e.what() : e.err.c_str());
    } catch (const std::exception &e) {
        return engine_fail_line(why, doing, e.what());
    } catch (...) {
        return engine_fail_line(why, doing, "an unknown exception");
    }
}

cv::Mat forward(opencv *o, const float *x, size_t rows)
{
    int size[TENSOR_RANK] = {static_cast<int>(rows)};
    for (int i = 1; i < o->input.rank; i++) size[i] = static_cast<int>(o->input.size[i]);
    cv::Mat(o->input.rank, size, CV_32F, const_cast<float *>(x)).copyTo(o->x);
    o->net.setInput(o->x);
    return o->net.forward(o->output.name);
}

// Rows that the network gave are checked each time; OpenCV's shapes come from running it.
int look(const cv::Mat &y, size_t rows, engine *e)
{
    tensor t = {};
    if (y.dims > TENSOR_RANK) return engine_fail(e->why, "the output has too many dimensions");
    snprintf(t.name, sizeof t.name, "%s", "output");
    t.type = y.type() == CV_32F ? TENSOR_FLOAT : 0;
    t.rank = y.dims;
    for (int i = 0; i < y.dims; i++) t.size[i] = y.size[i];
    return tensor_ran(&t, rows, e);
}

int run(void *self, const certreg_batch *b, char *why)
{
    opencv *o = static_cast<opencv *>(self);
    if (b->rows > INT_MAX) return engine_fail(why, "OpenCV takes at most %d rows", INT_MAX);
    return safely(why, "OpenCV, running the model", [&] {
        const cv::Mat y = forward(o, b->x, b->rows);
        if (y.type() != CV_32F || !y.isContinuous() || y.total() != b->rows * b->columns ||
            y.size[0] != static_cast<int>(b->rows))
            return engine_fail(why, "OpenCV gave %zu numbers, not %zu rows of %zu", y.total(),
                               b->rows, b->columns);
        std::memcpy(b->y, y.ptr<float>(), y.total() * sizeof *b->y);
        return 0;
    });
}

void close_opencv(void *self)
{
    delete static_cast<opencv *>(self);
}

// A run on zeros shows the output's shape, and whether OpenCV has all that the model needs.
int open_net(const char *model, const engine_options *options, opencv *o, engine *out)
{
    if (onnx_read(model, options, &o->input, &o->output, out->why) ||
        tensor_input(options, &o->input, out) || tensor_output(&o->output, out))
        return ENGINE_FAILED;
    if (o->output.rank < 0)
        return engine_fail(out->why,
                           "the file does not tell the rank of its output \"%.100s\", "
                           "which OpenCV needs: export the model with it",
                           o->output.name);
    cv::setNumThreads(1);
    o->net = cv::dnn::readNetFromONNX(model);
    o->net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    o->net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    const size_t rows = out->batch > 0 ? out->batch : 2, columns = out->columns;
    const std::vector<float> zeros(rows * out->inputs);
    if (look(forward(o, zeros.data(), rows), rows, out)) return ENGINE_FAILED;
    if (columns == 0 || columns == out->columns) return 0;
    return engine_fail(out->why,
                       "%.300s: OpenCV gives %zu numbers for a row, the file promises %zu", model,
                       out->columns, columns);
}
} // namespace

int engine_open_opencv(const char *model, const engine_options *options, engine *out)
{
    opencv *o = nullptr;
    const int bad = safely(out->why, "OpenCV, opening the model", [&] {
        o = new opencv();
        return open_net(model, options, o, out);
    });
    if (bad) {
        delete o;
        return bad;
    }
    snprintf(out->name, sizeof out->name, "OpenCV DNN %s", cv::getVersionString().c_str());
    out->self = o;
    out->run = run;
    out->close = close_opencv;
    return 0;
}
