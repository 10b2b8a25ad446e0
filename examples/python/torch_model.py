"""A PyTorch model on the GPU, certified without a copy: the library draws the noise there, and
torch sees the same memory. Without torch or a device the program says so and ends."""

import sys

from certreg import CertregError, Estimator, Listed, Status

try:
    import torch
except ImportError:
    print("skipped: torch is not installed")
    sys.exit()
if not torch.cuda.is_available():
    print("skipped: torch sees no CUDA device")
    sys.exit()

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.Tanh(), torch.nn.Linear(256, 1))
z = torch.linspace(0, 1, 784).numpy()
asked = (z, 0.25, 10_000, 0.2)  # input, sigma, samples, tolerance
try:
    with Estimator(net.cuda(), 784, 10_000, batch=2500, seed=1, device=0) as estimator:
        c = estimator.certify(*asked)
        run = estimator.info()
        brighter = estimator.certify(*asked, alternatives=Listed([z + 0.001]))
except CertregError as error:
    if error.status not in (Status.NO_BACKEND, Status.NO_DEVICE):
        raise
    print(f"skipped: {error}")
    sys.exit()
print(
    f"within {c.tolerance:g} of {c.prediction:.4f} for every shift below {c.radius:.4f}; "
    f"{1e3 * run.model_seconds:.2f} ms in the model, "
    f"{1e3 * run.library_seconds:.2f} ms in the library"
)
print(f"with all pixels 0.001 brighter as an alternative: {brighter.radius:.4f}")
# Without device=0 the CPU draws the noise, and the module computes where it lies. The noise has the
# same bits, so that only sums of the network may be rounded otherwise.
with Estimator(net, 784, 10_000, seed=1) as estimator:
    here = estimator.certify(*asked)
print(f"with noise from the CPU: {here.radius:.4f}")
assert abs(here.radius - c.radius) < 0.01 * c.radius
