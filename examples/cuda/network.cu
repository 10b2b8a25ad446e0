// A model on the GPU: a small network as a CUDA kernel. The library draws the noise on the device
// and hands over device pointers and a stream; the callback enqueues its work and returns. Only the
// outputs are copied to the host, four bytes each.
// Prints the radius and the times of model and library, or without a device why it was skipped.
#include <certreg/backend.h>
#include <certreg/sampling.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace
{

constexpr int inputs = 784, hidden = 128, samples = 10000, batch = 2048;

struct network { // on the device
    float *first, *second;
};

// One block of threads per row: each thread a hidden unit, then a sum over them.
__global__ void forward(network net, const float *x, float *y)
{
    __shared__ float row[inputs], part[hidden];
    const float *from = x + static_cast<size_t>(blockIdx.x) * inputs;
    for (int j = threadIdx.x; j < inputs; j += hidden) row[j] = from[j];
    __syncthreads();
    float sum = 0;
    for (int j = 0; j < inputs; j++) sum += net.first[j * hidden + threadIdx.x] * row[j];
    part[threadIdx.x] = net.second[threadIdx.x] * tanhf(sum);
    for (int half = hidden / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

int eval(void *user, const certreg_batch *b)
{
    forward<<<static_cast<unsigned>(b->rows), hidden, 0, static_cast<cudaStream_t>(b->stream)>>>(
        *static_cast<network *>(user), b->x, b->y);
    return cudaGetLastError() == cudaSuccess ? 0 : 1; // no need to wait
}

float *upload(size_t count, float size)
{
    std::vector<float> host(count);
    unsigned state = 12345;
    for (float &w : host) {
        state = state * 1664525u + 1013904223u;
        w = size * (static_cast<float>(state >> 8) / 8388608.0f - 1);
    }
    float *there = nullptr;
    if (cudaMalloc(&there, count * sizeof *there) == cudaSuccess)
        cudaMemcpy(there, host.data(), count * sizeof *there, cudaMemcpyHostToDevice);
    return there;
}

template <typename T> T zeroed() // every struct begins as zeros and its size
{
    T s = {};
    s.struct_size = sizeof s;
    return s;
}

int certify(certreg_backend *gpu)
{
    network net = {upload(static_cast<size_t>(inputs) * hidden, 0.05f), upload(hidden, 0.2f)};
    cudaDeviceSynchronize(); // the library's stream does not wait for the default one
    auto model = zeroed<certreg_model>();
    auto plan = zeroed<certreg_plan>();
    auto why = zeroed<certreg_error>();
    auto c = zeroed<certreg_certificate>();
    auto run = zeroed<certreg_run>();
    auto q = zeroed<certreg_question>();
    certreg_estimator *e = nullptr;
    model.eval = eval, model.user = &net, model.inputs = inputs, model.outputs = 1,
    model.batch = batch;
    plan.max_samples = samples; // and a seed that is drawn
    plan.audit = CERTREG_AUDIT_DEFAULT;
    q.tolerance = 0.5;
    std::vector<float> z(inputs);
    for (int j = 0; j < inputs; j++) z[j] = 0.5f + 0.4f * std::sin(0.1f * static_cast<float>(j));
    certreg_status status = certreg_estimator_create(gpu, &model, &plan, &why, &e);
    if (status) return std::puts(why.text), 1;
    status = certreg_estimator_begin(e, z.data(), 0.25, 0);
    if (!status) status = certreg_certify(e, samples, &q, 1, &c);
    if (!status) status = certreg_estimator_info(e, &run);
    if (status) std::puts(certreg_estimator_error(e)->text);
    else
        std::printf("within %g of %.4f for every shift below %.4f; %.2f ms in the model, %.2f ms "
                    "in the library\n",
                    c.tolerance, c.prediction, c.radius, 1e3 * run.model_seconds,
                    1e3 * run.library_seconds);
    certreg_estimator_destroy(e);
    cudaFree(net.first), cudaFree(net.second);
    return status != CERTREG_OK;
}

} // namespace

int main()
{
    auto why = zeroed<certreg_error>();
    certreg_backend *gpu = nullptr;
    const certreg_status status = certreg_backend_open("cuda", 0, nullptr, &why, &gpu);
    if (status == CERTREG_E_NO_DEVICE || status == CERTREG_E_NO_BACKEND)
        return std::printf("skipped: %s\n", why.text), 0;
    if (status) return std::puts(why.text), 1;
    const int bad = certify(gpu);
    certreg_backend_close(gpu);
    return bad;
}
