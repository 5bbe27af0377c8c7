"""Writes ../norm_values.inc: what PyTorch's weight_norm, spectral_norm and parametrizations compute in five steps of training.

    python3 norms.py     # with PyTorch 2 (the values there are of 2.15)
"""

import contextlib
import os
import warnings

import torch
from torch import nn
from torch.nn.utils import parametrizations as P
from torch.nn.utils import parametrize, remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

warnings.simplefilter("ignore")
torch.set_num_threads(1)


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)


class Scaled(nn.Module):
    """Computed from a length and a direction."""

    def forward(self, length, direction):
        return length * direction

    def right_inverse(self, x):
        length = x.abs().max()
        return length.clone(), x / length


def symmetric(m):
    parametrize.register_parametrization(m, "weight", Symmetric())
    return m


def scaled_symmetric(m):
    parametrize.register_parametrization(m, "weight", Scaled())
    parametrize.register_parametrization(m, "weight", Symmetric())
    return m


def full_rank(m):
    """With a weight whose QR decomposition is not a matter of rounding."""
    with torch.no_grad():
        m.weight.add_(torch.eye(*m.weight.shape[-2:], dtype=m.weight.dtype))
    return m


def scaled_orthogonal(m):
    full_rank(m)
    parametrize.register_parametrization(m, "weight", Scaled())
    return P.orthogonal(m, use_trivialization=False)


LINEAR, SQUARE, WIDE = lambda: nn.Linear(3, 4), lambda: nn.Linear(3, 3), lambda: nn.Linear(3, 2)
CONV, TRANSPOSED = lambda: nn.Conv2d(3, 2, 2), lambda: nn.ConvTranspose2d(3, 2, 2)
CASES = {
    "weight_norm": (LINEAR, lambda m: weight_norm(m)),
    "weight_norm, dim 1": (LINEAR, lambda m: weight_norm(m, "weight", 1)),
    "weight_norm, one norm": (LINEAR, lambda m: weight_norm(m, "weight", None)),
    "weight_norm, conv": (CONV, lambda m: weight_norm(m)),
    "spectral_norm": (LINEAR, lambda m: spectral_norm(m)),
    "spectral_norm, 3 iterations": (LINEAR, lambda m: spectral_norm(m, "weight", 3, 1e-6)),
    "spectral_norm, transposed": (TRANSPOSED, lambda m: spectral_norm(m)),
    "parametrizations.weight_norm": (LINEAR, lambda m: P.weight_norm(m)),
    "parametrizations.weight_norm, one norm": (CONV, lambda m: P.weight_norm(m, "weight", None)),
    "parametrizations.spectral_norm": (LINEAR, lambda m: P.spectral_norm(m)),
    "parametrizations.spectral_norm, transposed": (TRANSPOSED, lambda m: P.spectral_norm(m, n_power_iterations=2)),
    "parametrizations.spectral_norm, bias": (LINEAR, lambda m: P.spectral_norm(m, "bias")),
    "orthogonal, exp": (SQUARE, lambda m: P.orthogonal(full_rank(m))),
    "orthogonal, exp, tall": (LINEAR, lambda m: P.orthogonal(full_rank(m), orthogonal_map="matrix_exp")),
    "orthogonal, exp, wide, free": (WIDE, lambda m: P.orthogonal(full_rank(m), orthogonal_map="matrix_exp", use_trivialization=False)),
    "orthogonal, cayley": (SQUARE, lambda m: P.orthogonal(full_rank(m), orthogonal_map="cayley")),
    "orthogonal, cayley, wide": (WIDE, lambda m: P.orthogonal(full_rank(m), orthogonal_map="cayley")),
    "orthogonal, cayley, tall, free": (LINEAR, lambda m: P.orthogonal(full_rank(m), orthogonal_map="cayley", use_trivialization=False)),
    "orthogonal, householder": (LINEAR, lambda m: P.orthogonal(full_rank(m))),
    "orthogonal, householder, wide": (WIDE, lambda m: P.orthogonal(full_rank(m))),
    "orthogonal, householder, square, free": (
        SQUARE, lambda m: P.orthogonal(full_rank(m), orthogonal_map="householder", use_trivialization=False)),
    "orthogonal, householder, wide, free": (WIDE, lambda m: P.orthogonal(full_rank(m), use_trivialization=False)),
    "orthogonal, batch": (CONV, lambda m: P.orthogonal(full_rank(m))),
    "scaled, orthogonal": (SQUARE, scaled_orthogonal),
    "parametrizations.spectral_norm, cached": (LINEAR, lambda m: P.spectral_norm(m), parametrize.cached),
    "symmetric": (SQUARE, symmetric),
    "scaled, symmetric": (SQUARE, scaled_symmetric),
}


def ramp(*sizes):
    count = torch.Size(sizes).numel()
    return (torch.arange(count, dtype=torch.float64) * 0.7).sin().view(sizes)


def train(make, wrap, during=contextlib.nullcontext):
    module = make().to(torch.float64)
    with torch.no_grad():
        for p in module.parameters():
            p.copy_(ramp(*p.shape))
    torch.manual_seed(5)
    module = wrap(module)
    names = [n for n, _ in module.named_parameters()] + [n for n, _ in module.named_buffers()]
    x = ramp(2, 3) if isinstance(module, nn.Linear) else ramp(2, 3, 3, 3)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.05)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        # Two calls before backward, as the discriminator of a GAN has them.
        with during():
            loss = module(x).square().sum() - (module(0.5 * x + 1) * 0.3).sin().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    module.eval()
    values = [v for t in module.state_dict().values() for v in t.flatten().tolist()]
    return names, losses + values + module(x).detach().flatten().tolist()


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "norm_values.inc"), "w") as out:
    out.write(f"// Losses of five steps, the state after them and the outputs, of PyTorch {torch.__version__.split('+')[0]}; made by peer/norms.py.\n")
    for name, case in CASES.items():
        names, numbers = train(*case)
        out.write(f'{{"{name}", {{"{" ".join(names)}", {{\n')
        line = ""
        for x in numbers:
            line += f"{x:.12g}, "
            if len(line) > 110:
                out.write(f"  {line.rstrip()}\n")
                line = ""
        out.write(f"  {line.rstrip()}\n}}}}}},\n" if line else "}}},\n")
