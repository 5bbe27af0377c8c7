"""Tensors in programs: construction, indexing, attributes, autograd."""
from typing import List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor

from torchscript_cases.support import Call, calls

X = torch.arange(24.0).view(2, 3, 4)
M = torch.tensor([[1.5, -2.0], [0.25, 4.0]])
G = torch.Generator().manual_seed(3)
R = torch.randn(3, 4, generator=G)


@calls((X,))
def ten_indexing(x: Tensor):
    return (x[0], x[-1, 1], x[:, 1], x[..., 0], x[0, 1:, ::2], x[None].shape, x[:, :, -1:], x[1, ..., 2], x[:, None, 1].shape)


@calls((X, torch.tensor([0, 1]), torch.tensor([2, 0])))
def ten_advanced(x: Tensor, i: Tensor, j: Tensor):
    return x[i, j], x[:, j], x[x > 10], x[i], x[[0, 1], [1, 2]]


@calls((X.clone(), torch.tensor([0, 1])))
def ten_assign(x: Tensor, i: Tensor):
    x[0] = 1.0
    x[1, 2] = torch.arange(4.0)
    x[:, 0] += 5
    x[i, 1] = -1
    x[x > 100] = 0
    x[..., 3] *= 2
    return x


@calls((M,))
def ten_properties(x: Tensor):
    return (x.dim(), x.ndim, x.numel(), x.size(), x.shape, x.size(0), x.shape[-1], x.dtype, x.is_floating_point(),
            x.requires_grad, x.is_cuda, x.T, x.mT, x.device, len(x), x.element_size(), x.is_contiguous(), x.stride(),
            x.is_sparse, x.is_quantized, x.layout, x.is_leaf, x.itemsize, x.nbytes)


@calls((3,))
def ten_factories(n: int):
    return (torch.zeros(n), torch.ones(n, 2), torch.full((n,), 2.5), torch.arange(n), torch.arange(1, n, 0.5), torch.eye(n),
            torch.linspace(0, 1, n), torch.tensor([1, 2]), torch.tensor([[1.0], [2.0]]), torch.tensor(True), torch.tensor(n),
            torch.zeros([n, n], dtype=torch.int32), torch.empty(0), torch.zeros_like(torch.ones(n)), torch.tensor(2.5))


@calls((M, 2, 0.5))
def ten_arithmetic(x: Tensor, i: int, f: float):
    return (x + i, i + x, x - f, f - x, x * i, x / i, i / x, x // 1, x % 1.5, x ** 2, 2 ** x, -x, abs(x), x @ x, x > f, x == x,
            x != i, ~(x > 0), (x > 0) & (x < 2), (x > 0) | (x < -1), x.int() << 1)


@calls((M.clone(),))
def ten_augmented(x: Tensor):
    y = x
    x += 1
    x *= 2
    x -= y
    z = x.clone()
    z /= 3
    x = x @ torch.eye(2)
    return x, y, z, x is y


@calls((torch.tensor(3), torch.tensor(2.5), torch.tensor([True])))
def ten_to_scalar(a: Tensor, b: Tensor, c: Tensor):
    return int(a), float(b), bool(c), a.item(), b.item(), float(a), int(b), bool(a), [1, 2, 3][int(a) - 2]


@calls((M, 1), (M, 3))
def ten_implicit_numbers(x: Tensor, n: int):
    i: int = int(x[0, 0])
    y = torch.zeros(n).fill_(n)
    return y.expand(2, n), x.sum(dim=1), x.sum(0, True), x.mean((0, 1)), x.view(-1).narrow(0, 0, n), i


@calls((M,))
def ten_methods(x: Tensor):
    v, i = x.max(1)
    return (v, i, x.sort(0), x.topk(1), x.unbind(0), x.chunk(2, 1), x.split(1), x.t().contiguous(), x.flatten(), x.unsqueeze(0),
            x.clamp(0, 1), x.clamp(min=0.5), x.masked_fill(x > 0, 9.0), x.argmax(), x.norm(), x.std(), x.var(0), x.prod(),
            x.cumsum(0), x.tril(), x.flip([0]), x.roll(1, 0), x.repeat(2, 1), x.expand(3, 2, 2), x.type_as(x.int()),
            x.to(torch.int64), x.double(), x.half(), x.to(torch.bool), x.new_zeros([2]))


@calls((M,))
def ten_functions(x: Tensor):
    return [torch.cat([x, x]), torch.stack([x, x], 1), torch.where(x > 0, x, -x), torch.matmul(x, x), torch.einsum("ij,jk->ik", x, x),
            torch.relu(x), torch.sigmoid(x), torch.softmax(x, -1), torch.max(x), torch.min(x, x * 0.5), torch.sum(x, [0, 1]),
            torch.transpose(x, 0, 1), torch.bmm(x[None], x[None]), torch.addmm(x, x, x, beta=0.5, alpha=2), torch.outer(x[0], x[1]),
            torch.meshgrid([x[0], x[1]])[0], torch.cumprod(x, 1), torch.broadcast_tensors(x, x[0])[1], torch.nonzero(x > 0)]


@calls((M,))
def ten_keywords(x: Tensor):
    return (torch.sum(x, dim=0, keepdim=True), x.sum(dim=[0], dtype=torch.float64), torch.mean(input=x, dim=1),
            torch.add(x, other=x, alpha=3), torch.ones(size=[2], dtype=torch.bool), x.to(dtype=torch.float64), x.to(torch.device("cpu")),
            x.to("cpu"), torch.full([1], 7, dtype=torch.int8), torch.argsort(x, dim=1, descending=True))


@calls((R,))
def ten_nn_functional(x: Tensor):
    w = torch.ones(2, 4) * 0.5
    return (F.linear(x, w), F.relu(x), F.gelu(x), F.softmax(x, dim=1), F.log_softmax(x, dim=-1), F.layer_norm(x, [4]),
            F.dropout(x, 0.5, False), F.pad(x, [1, 1]), F.one_hot(torch.tensor([0, 2]), 3), F.normalize(x), F.cosine_similarity(x, x),
            F.leaky_relu(x, 0.1), F.elu(x), F.silu(x), F.softplus(x), F.hardtanh(x), F.mse_loss(x, x * 0.5), F.smooth_l1_loss(x, x * 0),
            F.cross_entropy(x, torch.tensor([0, 1, 2])), F.embedding(torch.tensor([0, 1]), x), F.glu(x), F.threshold(x, 0.1, 20.0))


@calls((torch.arange(16.0).view(1, 1, 4, 4),))
def ten_images(x: Tensor):
    w = torch.ones(2, 1, 3, 3) / 9
    return (F.conv2d(x, w), F.conv2d(x, w, padding=1, stride=2), F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, [1, 1]),
            F.interpolate(x, scale_factor=2.0, mode="nearest"), F.interpolate(x, size=[2, 2], mode="bilinear", align_corners=False),
            F.unfold(x, 2), F.pad(x, [1, 1, 1, 1], mode="reflect"), F.pixel_shuffle(x.repeat(1, 4, 1, 1), 2), F.batch_norm(x, torch.zeros(1), torch.ones(1)))


@calls(Call(torch.tensor([1.0, 2.0, 3.0], requires_grad=True), grad=True))
def grad_simple(x: Tensor):
    return (x * x).sum(), x.sin()


@calls(Call(torch.tensor([1.0, -2.0], requires_grad=True), 3, grad=True))
def grad_control_flow(x: Tensor, n: int):
    for i in range(n):
        if bool(x.sum() > i):
            x = x * 2
        else:
            x = x - 1
    return x


@calls(Call(R.clone().requires_grad_(), torch.ones(4, 2, requires_grad=True), grad=True))
def grad_matmul(x: Tensor, w: Tensor):
    y = torch.relu(x @ w)
    y = y + y.detach()
    with torch.no_grad():
        z = (x @ w).sum()
    return y, z


@calls((M,))
def grad_inside(x: Tensor):
    y = x.clone().requires_grad_(True)
    z = (y ** 3).sum()
    z.backward()
    g = y.grad
    assert g is not None
    w = x.detach().requires_grad_()
    h = torch.autograd.grad([(w * w).sum()], [w])[0]
    return g, h, y.requires_grad, z.requires_grad


@calls((M,))
def grad_modes(x: Tensor):
    a = x.clone().requires_grad_(True)
    with torch.no_grad():
        b = a * 2
    c = a * 2
    return b.requires_grad, c.requires_grad, torch.is_grad_enabled()


@calls(Call(3, seed=7))
def random_numbers(n: int):
    return torch.rand(n), torch.randn(2, n), torch.randint(0, 10, [n]), torch.randperm(n), torch.bernoulli(torch.full([n], 0.5))


@calls((torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])))
def sparse_build(i: Tensor, v: Tensor):
    s = torch.sparse_coo_tensor(i, v, [2, 4])
    return s.to_dense() if i.max() < 2 else v


@calls((torch.tensor([1 + 2j, -1j]),))
def ten_complex(x: Tensor):
    return x.real, x.imag, x.abs(), x * x, torch.view_as_real(x), x.conj(), x.is_complex(), x.angle()


@calls((M, None), (M, torch.ones(2, 2)))
def ten_optional(x: Tensor, mask: Optional[Tensor] = None):
    if mask is not None:
        x = x * mask
    y: Optional[Tensor] = None
    if x.sum() > 100:
        y = x
    return x, y


@calls(([M, M * 2],))
def ten_lists(xs: List[Tensor]):
    xs[0] = xs[0] + 1
    xs.append(torch.ones(1))
    total = torch.zeros(1)
    for x in xs:
        total = total + x.sum()
    return total, torch.cat([x.flatten() for x in xs]), len(xs), torch.stack(xs[:2])


@calls((torch.float64, M), (torch.int32, M))
def ten_dtype_arg(d: torch.dtype, x: Tensor):
    y = x.to(d)
    return y, y.dtype == d, y.dtype == torch.float64, torch.zeros(1, dtype=x.dtype)


@calls((torch.device("cpu"),))
def ten_device_arg(d: torch.device):
    x = torch.ones(2, device=d)
    return x, x.device == d, d.type, str(d)


@calls((torch.ones(2, 3), torch.ones(4, 5)))
def ten_mismatch(x: Tensor, y: Tensor):
    return x @ y


@calls((M,))
def ten_tolist(x: Tensor):
    a: List[List[float]] = x.tolist()
    b: List[int] = x.int().flatten().tolist()
    c = float(x[0, 0].item())
    return a, b, c


@calls((torch.ones(2, 3),))
def ten_shape_unpack(x: Tensor):
    a, b = x.shape
    n, m = x.size()
    return a * b, n + m, torch.zeros(a, b).shape, x.view(b, a), x.reshape(-1), x.reshape([a * b, 1]), list(x.shape)


@calls((M,))
def ten_print(x: Tensor) -> str:
    print(x, x.shape, x.dtype)
    return str(x) + str(x.size()) + "{}".format(x[0, 0])
