"""Writes ../namespace_values.inc: what torch.special, torch.fft and torch.linalg of PyTorch give, and their gradients.

    python3 namespaces.py     # with PyTorch 2 (the values there are of 2.15)

The cases have the names and the inputs of ../special_cases.cpp, fft_cases.cpp and linalg_cases.cpp.
"""

import math
import os

import torch
from torch import fft, linalg, special

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

CASES = []


def wave(sizes, phase=0.0):
    i = torch.arange(math.prod(sizes), dtype=torch.float64)
    return (0.37 * i * i + i + phase).sin().view(sizes)


def between(low, high, sizes=(6,), phase=0.0):
    return low + (high - low) * (wave(sizes, phase) + 1) / 2


def complex_wave(sizes, phase=0.0):
    return torch.view_as_complex(wave((*sizes, 2), phase))


def case(name, function, *inputs, wrt=None):
    CASES.append((name, function, inputs, range(len(inputs)) if wrt is None else wrt))


def numbers(t):
    t = t.detach()
    return (torch.view_as_real(t.resolve_conj()) if t.is_complex() else t).to(torch.float64).flatten().tolist()


def evaluate(function, inputs, wrt):
    inputs = [t.clone().requires_grad_(i in wrt and t.dtype != torch.int64) for i, t in enumerate(inputs)]
    outputs = function(*inputs)
    outputs = [outputs] if isinstance(outputs, torch.Tensor) else list(outputs)
    values = [v for t in outputs for v in numbers(t)]
    slopes, loss = [], 0
    for t in outputs:
        if t.requires_grad:
            t = torch.view_as_real(t.resolve_conj()) if t.is_complex() else t
            loss = loss + (t * wave(tuple(t.shape), 0.3)).sum()
    if isinstance(loss, torch.Tensor):
        leaves = [t for t in inputs if t.requires_grad]
        slopes = [v for g in torch.autograd.grad(loss, leaves) for v in numbers(g)]
    return values, slopes


# ---- special

x = between(-2, 2.5)
positive = between(0.3, 3)
unit = between(0.05, 0.95)
for name in "erf erfc erfcx ndtr log_ndtr exp2 expm1 expit i0 i0e i1 i1e sinc round bessel_j0 bessel_j1".split():
    case(f"special.{name}", getattr(special, name), x)
for name in "modified_bessel_i0 modified_bessel_i1 airy_ai".split():
    case(f"special.{name}", getattr(special, name), 2 * x)
for name in ("gammaln digamma psi log1p entr bessel_y0 bessel_y1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 "
             "scaled_modified_bessel_k1 spherical_bessel_j0").split():
    case(f"special.{name}", getattr(special, name), positive)
for name in "erfinv ndtri logit".split():
    case(f"special.{name}", getattr(special, name), unit)
case("special.polygamma", lambda t: special.polygamma(2, t), positive)
case("special.multigammaln", lambda t: special.multigammaln(t, 2), 1 + positive)
case("special.gammainc", special.gammainc, positive, between(0.2, 4, phase=1.0), wrt=[1])
case("special.gammaincc", special.gammaincc, positive, between(0.2, 4, phase=1.0), wrt=[1])
case("special.zeta", special.zeta, 1 + positive, unit, wrt=[1])
case("special.zeta, scalar first", lambda b: special.zeta(1.75, b), unit)
case("special.zeta, scalar last", lambda a: special.zeta(a, 0.75), 1 + positive, wrt=[])
for name in "xlogy xlog1py".split():
    function = getattr(special, name)
    case(f"special.{name}", function, x, positive)
    case(f"special.{name}, scalar first", lambda b, f=function: f(1.75, b), positive)
    case(f"special.{name}, scalar last", lambda a, f=function: f(a, 0.75), x)
degrees = torch.tensor([0.0, 1.0, 2.0, 3.0, 5.0, 8.0])
for name in ("chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w hermite_polynomial_h "
             "hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t "
             "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w").split():
    function = getattr(special, name)
    case(f"special.{name}", function, unit, degrees)
    case(f"special.{name}, scalar first", lambda n, f=function: f(0.75, n), degrees)
    case(f"special.{name}, scalar last", lambda t, f=function: f(t, 4), unit)
table = between(-2, 2, (2, 3))
case("special.logsumexp", lambda t: special.logsumexp(t, [1], True), table)
case("special.softmax", lambda t: special.softmax(t, 0), table)
case("special.softmax, dtype", lambda t: special.softmax(t, 1, dtype=torch.float64), table.to(torch.float32))
case("special.log_softmax", lambda t: special.log_softmax(t, -1), table)

# ---- fft

real, complex_ = wave((3, 4)), complex_wave((3, 4))
for name in "fft ifft hfft irfft".split():
    function = getattr(fft, name)
    case(f"fft.{name}", function, complex_)
    case(f"fft.{name}, n, dim, norm", lambda t, f=function: f(t, 5, 0, "ortho"), complex_)
for name in "rfft ihfft fft".split():
    function = getattr(fft, name)
    case(f"fft.{name}, real", function, real)
    case(f"fft.{name}, real, n, dim, norm", lambda t, f=function: f(t, 5, 0, "forward"), real)
for names, source in (("fft ifft hfft irfft", complex_), ("rfft ihfft", real)):
    for name in names.split():
        two, many = getattr(fft, name + "2"), getattr(fft, name + "n")
        case(f"fft.{name}2", two, source)
        case(f"fft.{name}2, s, dim, norm", lambda t, f=two: f(t, [4, 3], [1, 0], "ortho"), source)
        case(f"fft.{name}n", many, source)
        case(f"fft.{name}n, s, dim, norm", lambda t, f=many: f(t, [5], [0], "forward"), source)
case("fft.fftfreq", lambda: fft.fftfreq(5, 0.5))
case("fft.fftfreq, whole", lambda: fft.fftfreq(4))
case("fft.rfftfreq", lambda: fft.rfftfreq(5, 0.5))
case("fft.rfftfreq, whole", lambda: fft.rfftfreq(4))
case("fft.fftshift", fft.fftshift, real)
case("fft.fftshift, dim", lambda t: fft.fftshift(t, [1]), complex_)
case("fft.ifftshift", fft.ifftshift, real)
case("fft.ifftshift, dim", lambda t: fft.ifftshift(t, [0]), complex_)

# ---- linalg

square = torch.diag(torch.tensor([1.0, 2.0, 3.0, 4.5])) + 0.4 * wave((4, 4))
spd = square @ square.mT + torch.eye(4)
complex_square = square + 0.3j * wave((4, 4), 2.0)
tall, wide, batch = wave((4, 3), 0.5), wave((3, 4), 0.5), square + 0.2 * wave((2, 4, 4), 1.0)
vector = between(0.5, 2, (4,), 1.0)


def weighted_svd(t, full):
    u, s, vh = linalg.svd(t, full)
    k = s.size(-1)
    return s, (u[..., :k] * s.exp().unsqueeze(-2)) @ vh[..., :k, :]


def weighted_eig(t):
    values, vectors = linalg.eig(t)
    return values.abs().sort()[0], (vectors * values.exp().unsqueeze(-2)) @ linalg.inv(vectors)


def weighted_eigh(t, uplo):
    values, vectors = linalg.eigh(t, uplo)
    return values, (vectors * values.cos().unsqueeze(-2)) @ vectors.mH


case("linalg.cholesky", lambda t: linalg.cholesky(t @ t.mT), square)
case("linalg.cholesky, complex", lambda t: linalg.cholesky(t @ t.mH), complex_square)
case("linalg.qr", linalg.qr, tall)
case("linalg.qr, complete", lambda t: linalg.qr(t, "complete"), square)
case("linalg.qr, r", lambda t: linalg.qr(t, "r")[1], tall, wrt=[])
case("linalg.householder_product", lambda a, tau: linalg.householder_product(a.tril(-1), tau), tall, vector[:3])
case("linalg.lu", linalg.lu, square.flip(0))
case("linalg.lu_factor", linalg.lu_factor, square.flip(0))
case("linalg.ldl_factor", linalg.ldl_factor, spd, wrt=[])
case("linalg.ldl_factor_ex", lambda t: linalg.ldl_factor_ex(t, hermitian=False, check_errors=True), spd, wrt=[])
case("linalg.ldl_solve", lambda t, b: linalg.ldl_solve(*linalg.ldl_factor(t), b), spd, tall, wrt=[])
case("linalg.svd", lambda t: weighted_svd(t, False), tall)
case("linalg.svd, complex", lambda t: weighted_svd(t, False), complex_square)
case("linalg.svd, full", lambda t: weighted_svd(t, True), wide, wrt=[])
case("linalg.svdvals", linalg.svdvals, wide)
case("linalg.eig", weighted_eig, square)
case("linalg.eigvals", lambda t: linalg.eigvals(t).abs().sort()[0], complex_square)
case("linalg.eigh", lambda t: weighted_eigh(t + t.mT, "L"), square)
case("linalg.eigh, complex", lambda t: weighted_eigh(t + t.mH, "U"), complex_square)
case("linalg.eigvalsh", lambda t: linalg.eigvalsh(t + t.mT, "U"), square)
case("linalg.det", linalg.det, batch)
case("linalg.slogdet", linalg.slogdet, batch)
case("linalg.slogdet, complex", linalg.slogdet, complex_square)
case("linalg.inv", linalg.inv, batch)
case("linalg.inv_ex", lambda t: linalg.inv_ex(t, check_errors=True), complex_square)
case("linalg.pinv", lambda t: linalg.pinv(t, rcond=1e-10), tall)
case("linalg.pinv, hermitian", lambda t: linalg.pinv(t + t.mT, rcond=1e-10, hermitian=True), square)
rank_2 = wide.clone()
rank_2[2] = rank_2[0] - 2 * rank_2[1]
case("linalg.matrix_rank, tol", lambda t: linalg.matrix_rank(t, 1e-6, hermitian=False), rank_2, wrt=[])
case("linalg.matrix_rank, atol", lambda t: linalg.matrix_rank(t, atol=2.0), spd, wrt=[])
case("linalg.matrix_rank, rtol", lambda t: linalg.matrix_rank(t, rtol=0.4, hermitian=True), spd, wrt=[])
case("linalg.solve", linalg.solve, square, tall)
case("linalg.solve, right", lambda a, b: linalg.solve(a, b, left=False), batch, wide)
case("linalg.solve, vector", linalg.solve, square, vector)
case("linalg.solve_ex", lambda a, b: linalg.solve_ex(a, b, left=True, check_errors=True), complex_square, complex_square.mT.clone())
case("linalg.solve_triangular", lambda a, b: linalg.solve_triangular(a, b, upper=True), square, tall)
case("linalg.solve_triangular, right",
     lambda a, b: linalg.solve_triangular(a, b, upper=False, left=False, unitriangular=True), square, wide)
case("linalg.lstsq", lambda a, b: linalg.lstsq(a, b)[0], tall, square)
case("linalg.lstsq, all", lambda a, b: linalg.lstsq(a, b, rcond=1e-10, driver="gelsd"), tall, square, wrt=[])
case("linalg.tensorinv", lambda t: linalg.tensorinv(t.reshape(2, 2, 4), 2), square)
case("linalg.tensorsolve", lambda a, b: linalg.tensorsolve(a.reshape(2, 2, 4), b.reshape(2, 2)), square, vector)
case("linalg.tensorsolve, dims", lambda a, b: linalg.tensorsolve(a.reshape(4, 2, 2), b.reshape(2, 2), [0]), square, vector)
case("linalg.multi_dot", lambda a, b, c, v: linalg.multi_dot([a, b, c, v]), wide, tall, wide, vector)
case("linalg.matrix_power", lambda t: linalg.matrix_power(t, 3), batch)
case("linalg.matrix_power, negative", lambda t: linalg.matrix_power(t, -2), square)
case("linalg.matrix_exp", linalg.matrix_exp, batch)
case("linalg.norm", lambda t: linalg.norm(t), tall)
case("linalg.norm, 3", lambda t: linalg.norm(t, 3, [1], True), tall)
case("linalg.norm, nuc", lambda t: linalg.norm(t, "nuc", [-2, -1], False), batch)
case("linalg.vector_norm", lambda t: linalg.vector_norm(t, 1.5, [0], False), tall)
case("linalg.vector_norm, dtype", lambda t: linalg.vector_norm(t, 2, None, True, dtype=torch.float64), tall.to(torch.float32))
case("linalg.matrix_norm", lambda t: linalg.matrix_norm(t, -1, [0, 1], True), tall)
case("linalg.matrix_norm, 2", lambda t: linalg.matrix_norm(t, 2, [-2, -1], False), batch)
case("linalg.matrix_norm, fro", lambda t: linalg.matrix_norm(t, "fro", [1, 0], False), complex_square)


def row(values):
    return "{" + ", ".join(f"{v:.15g}" if math.isfinite(v) else f'{"-" if v < 0 else ""}INFINITY' for v in values) + "}"


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "namespace_values.inc"), "w") as out:
    out.write(f"// Values and gradients of PyTorch {torch.__version__.split('+')[0]}; made by peer/namespaces.py.\n")
    for name, function, inputs, wrt in CASES:
        values, slopes = evaluate(function, inputs, wrt)
        assert not any(math.isnan(v) for v in values + slopes), name
        out.write(f'{{"{name}", {row(values)},\n {row(slopes)}}},\n')
