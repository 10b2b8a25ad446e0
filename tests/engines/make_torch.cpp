// Writes dense.pt, of which make_models.py makes the others; models.h has the same network. Build
// and run it here:
//     c++ -std=c++17 -I.. make_torch.cpp -o /tmp/make_torch -ltorch -ltorch_cpu -lc10
//     /tmp/make_torch
#include <torch/script.h>

#include "models.h"

static torch::Tensor weight(int64_t rows, int64_t columns, size_t start)
{
    torch::Tensor w = torch::empty({rows, columns});
    for (int64_t i = 0; i < rows * columns; i++)
        w.data_ptr<float>()[i] = dense_weight(static_cast<size_t>(i), start);
    return w;
}

int main()
{
    torch::jit::Module m("Dense");
    m.register_buffer("w1", weight(DENSE_HIDDEN, DENSE_INPUTS, 3));
    m.register_buffer("b1", weight(1, DENSE_HIDDEN, 1));
    m.register_buffer("w2", weight(DENSE_COLUMNS, DENSE_HIDDEN, 5));
    m.register_buffer("b2", weight(1, DENSE_COLUMNS, 2));
    m.define("def forward(self, x):\n"
             "    r = torch.relu(torch.matmul(x, self.w1.t()) + self.b1)\n"
             "    return torch.matmul(r, self.w2.t()) + self.b2\n");
    m.save("dense.pt");
}
