"""A PyTorch model on the GPU, certified without a copy: the library draws the noise there, and
torch sees the same memory. Without torch or a device the program says so and ends."""

import sys

from certreg import CertregError, Estimator, Question, Status

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
try:
    # Without device=0 the same module is certified on the CPU, or where it lies.
    with Estimator(net.cuda(), 784, 10_000, batch=2500, device=0) as estimator:
        c = estimator.certify(z, 0.25, 10_000, Question(tolerance=0.2))
        run = estimator.info()
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
