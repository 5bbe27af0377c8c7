"""Modules for torch.export, with the arguments they are exported and called with.

CASES maps a name to a function that gives (module, options). Options: `calls` lists of arguments, the first of which is
exported; `kw` keyword arguments of each call; `dynamic` as torch.export takes it; `decompose` runs decompositions; `grad` records
gradients; `strict`; `cont` keeps the state from call to call; `train` exports in training mode.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import NamedTuple

import torch
import torch.nn.functional as F
from functorch.experimental.control_flow import map as torch_map
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch.export import Dim

CASES: dict = {}
randn, tensor = torch.randn, torch.tensor


def case(function):
    CASES[function.__name__] = function
    return function


def simple(name: str, forward, *calls, **options):
    """A function of its arguments as a module."""
    class Simple(nn.Module):
        def forward(self, *args, **kwargs):
            return forward(*args, **kwargs)

    CASES[name] = lambda: (Simple(), {"calls": list(calls), **options})


def module(name: str, make, *calls, **options):
    CASES[name] = lambda: (make(), {"calls": list(calls), **options})


B = Dim("b", min=2, max=64)

# ---- layers
module("cnn", lambda: nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 5)),
       (randn(2, 3, 8, 8),), (randn(5, 3, 8, 8),), dynamic=({0: B},), grad=True)
module("cnn_train", lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), (randn(2, 3, 6, 6),), (randn(2, 3, 6, 6),),
       train=True, cont=True, grad=True)
module("cnn_train_decomposed", lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()), (randn(2, 3, 6, 6),), (randn(2, 3, 6, 6),),
       train=True, cont=True, decompose=True)
module("depthwise", lambda: nn.Sequential(nn.Conv2d(6, 6, 3, groups=6, dilation=2), nn.GroupNorm(2, 6), nn.Hardswish(), nn.AdaptiveAvgPool2d((2, 3)), nn.PixelUnshuffle(1)),
       (randn(2, 6, 9, 9),))
module("transposed", lambda: nn.Sequential(nn.ConvTranspose2d(2, 4, 3, stride=2, output_padding=1), nn.InstanceNorm2d(4, affine=True), nn.Upsample(scale_factor=2, mode="bilinear")),
       (randn(1, 2, 5, 5),), grad=True)
module("conv1d3d", lambda: nn.Sequential(nn.Conv3d(1, 2, 2), nn.AvgPool3d(2), nn.Flatten(2), nn.Conv1d(2, 3, 3)), (randn(2, 1, 5, 5, 5),))
module("transformer", lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0), (randn(2, 5, 16),), (randn(3, 5, 16),), dynamic=({0: B},), grad=True)
module("transformer_train", lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, dropout=0.0), (randn(2, 4, 8),), train=True, grad=True)
module("decoder", lambda: nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), (randn(2, 4, 8), randn(2, 6, 8)))
module("lstm", lambda: nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True), (randn(3, 5, 4),), (randn(2, 5, 4),), dynamic=({0: B},), grad=True)
module("gru_state", lambda: nn.GRU(4, 6), (randn(5, 2, 4), randn(1, 2, 6)), grad=True)
module("rnn_tanh", lambda: nn.RNN(3, 4, 2), (randn(5, 2, 3),))
module("lstm_decomposed", lambda: nn.LSTM(3, 4), (randn(5, 2, 3),), decompose=True)
module("lstm_cell", lambda: nn.LSTMCell(3, 4), (randn(2, 3), (randn(2, 4), randn(2, 4))))
module("embedding", lambda: nn.Sequential(nn.Embedding(10, 4, padding_idx=0), nn.LayerNorm(4), nn.Linear(4, 2)), (tensor([[1, 0, 3]]),), grad=True)
module("embedding_bag", lambda: nn.EmbeddingBag(10, 4, mode="mean"), (tensor([1, 2, 4, 5]), tensor([0, 2])))
module("bilinear", lambda: nn.Bilinear(3, 4, 2), (randn(5, 3), randn(5, 4)), grad=True)
module("dropout_train", lambda: nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)), (randn(4, 3),), train=True, seed=3)
module("multihead", lambda: nn.MultiheadAttention(8, 2, batch_first=True), (randn(2, 3, 8), randn(2, 3, 8), randn(2, 3, 8)))


# ---- containers of arguments and results
class Pair(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


Named = namedtuple("Named", ["a", "b"])
simple("dict_in_out", lambda d: {"sum": d["a"] + d["b"][0], "rest": d["b"]}, ({"a": randn(3), "b": [randn(3), randn(3)]},))
simple("nested", lambda x, y: [(x[0] * 2, {"k": y[1][0]}), [y[0]]], ((randn(2), 5), (randn(3), [randn(1)])))
simple("keywords", lambda x, *, scale, bias=None: x * scale if bias is None else x * scale + bias, (randn(3),), (randn(3),), kw=[{"scale": randn(3), "bias": randn(3)}] * 2)
simple("constants_in", lambda x, n, f, flag, text: x * n + f if flag else x, (randn(3), 2, 1.5, True, "mean"))
simple("constants_out", lambda x: (x + 1, 3, 2.5, True, None), (randn(3),))
simple("ordered", lambda x: OrderedDict(b=x + 1, a=x), (randn(2),))
simple("none_in", lambda x, y: x if y is None else x + y, (randn(2), None))
simple("identity", lambda x: x, (randn(2),))
simple("int_keys", lambda x: {1: x, 2: x + 1}, (randn(2),))
simple("return_types", lambda x: (torch.max(x, 0), torch.sort(x)), (randn(3, 4),))
simple("empty_list", lambda x, xs: (x, []), (randn(2), []))

# ---- shapes
simple("dyn_two", lambda x, y: torch.cat([x, y]).view(-1, 2) * x.shape[0], (randn(4), randn(6)), (randn(6), randn(8)),
       dynamic=({0: 2 * Dim("h", max=32)}, {0: 2 * Dim("k", max=32)}))
simple("dyn_arith", lambda x: (x.new_zeros(x.shape[0] // 2 + 1, x.shape[0] % 3 + 2), x.shape[0] * x.shape[1], x.shape[0] - x.shape[1], x.shape[0] / 2),
       (randn(7, 3),), (randn(9, 4),), dynamic=({0: Dim.AUTO, 1: Dim.AUTO},))
simple("dyn_float", lambda x: x * (x.shape[0] ** 0.5) + x.numel() / 3, (randn(4, 2),), (randn(9, 2),), dynamic=({0: B},))
simple("dyn_minmax", lambda x: x[: torch.sym_min(x.shape[0] // 2, 5)].sum() + torch.sym_max(x.shape[0], 6), (randn(4),), (randn(9),), dynamic=({0: Dim("n", min=3, max=20)},))
simple("dyn_arange", lambda x: torch.arange(x.shape[0]) + torch.ones(x.shape[0], x.shape[1]).sum(1), (randn(4, 2),), (randn(5, 2),), dynamic=({0: B},))
simple("dyn_interpolate", lambda x: F.interpolate(x, size=(x.shape[2] * 2, 7), mode="nearest"), (randn(1, 2, 4, 4),), (randn(1, 2, 6, 4),), dynamic=({2: Dim("h", min=3, max=16)},))
simple("dyn_split", lambda x: x.split(2), (randn(6, 2),))
simple("dyn_attention_mask", lambda x: x.masked_fill(torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1), float("-inf")).softmax(-1), (randn(2, 4, 4),), (randn(2, 6, 6),),
       dynamic=({1: Dim("s", min=2, max=32), 2: Dim("s", min=2, max=32)},))
simple("dyn_sum_of_many", lambda a, b, c: torch.cat([a, b, c]).new_ones(a.shape[0] + b.shape[0] + c.shape[0]), (randn(2), randn(3), randn(4)), (randn(5), randn(6), randn(7)),
       dynamic=({0: Dim("i", max=9)}, {0: Dim("j", max=9)}, {0: Dim("k", max=9)}))


@case
def unbacked_item():
    class M(nn.Module):
        def forward(self, x, n):
            k = n.item()
            torch._check(k >= 0)
            torch._check(k <= x.shape[0])
            return x[:k].sum(), torch.zeros(k), k * 2

    return M(), {"calls": [(randn(6), tensor(3)), (randn(6), tensor(5))]}


simple("unbacked_mask", lambda x: (x[x > 0], (x > 0).sum()), (tensor([1.0, -1.0, 2.0]),), (tensor([-1.0, -1.0, 2.0]),))
simple("unbacked_unique", lambda x: torch.unique(x), (tensor([3, 1, 3]),), (tensor([1, 1, 1]),))
simple("item_float", lambda x, y: x * y.item(), (randn(3), tensor(2.5)))
simple("item_bool", lambda x: torch.where(torch.tensor(bool(x.numel() > 2)), x, -x), (randn(3),))


# ---- control flow
def branch(pred, x):
    return torch.cond(pred, lambda a: a.sin() + 1, lambda a: a.cos(), (x,))


simple("cond_tensor", lambda p, x: branch(p, x), (tensor(True), randn(3)), (tensor(False), randn(3)))
simple("cond_shape", lambda x: torch.cond(x.shape[0] > 4, lambda a: a + 1, lambda a: a - 1, (x,)), (randn(3),), (randn(7),), dynamic=({0: B},))
simple("cond_two", lambda p, x: torch.cond(p, lambda a: (a + 1, a * 2), lambda a: (a * 3, a.exp()), (x,)), (tensor(False), randn(3)), (tensor(True), randn(3)))
simple("while_count", lambda x: while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 1.5 + i), (tensor(0), x)), (randn(3),))
simple("while_data", lambda x: while_loop(lambda a: a.norm() < 10, lambda a: (a * 2,), (x,)), (tensor([1.0, 1.0]),), (tensor([0.01, 0.0]),))
simple("map_rows", lambda x, y: torch_map(lambda r, k: r * k.sum(), x, y), (randn(4, 3), randn(2)))
simple("scan_sum", lambda x: scan(lambda c, a: (c + a, c * a), torch.zeros(3), x), (randn(5, 3),))
simple("scan_tree", lambda x: scan(lambda c, a: ([c[0] + a, c[1] * 0.5], {"y": c[0] - a}), [torch.zeros(3), torch.ones(2)], x), (randn(4, 3),))
simple("scan_reverse", lambda x: scan(lambda c, a: (c + a, c * a), torch.zeros(3), x, reverse=True), (randn(5, 3),))


@case
def cond_parameters():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x):
            return torch.cond(x.sum() > 0, lambda t: self.a(t), lambda t: self.b(t).relu(), (x,))

    return M(), {"calls": [(torch.ones(2, 3),), (-torch.ones(2, 3),)], "grad": True}


@case
def regions():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)

        def forward(self, x):
            with torch.no_grad():
                y = self.a(x)
            with torch.autocast("cpu", dtype=torch.bfloat16):
                z = self.a(x)
            with torch.enable_grad():
                w = self.a(x)
            return y, z, w

    return M(), {"calls": [(randn(2, 3),)], "tol": [2e-2, 2e-2]}


@case
def checkpointed():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)

        def forward(self, x):
            return torch.utils.checkpoint.checkpoint(lambda t: self.a(t).tanh(), x, use_reentrant=False)

    return M(), {"calls": [(randn(2, 3),)], "grad": True}


# ---- state
@case
def buffers():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1, dtype=torch.long))
            self.register_buffer("cache", torch.zeros(4, 2))
            self.register_buffer("fixed", torch.ones(2), persistent=False)
            self.plain = torch.full((2,), 3.0)

        def forward(self, x):
            self.count += 1
            self.cache[1:3] = x
            self.cache.mul_(2)
            return self.cache.sum(0) + self.fixed * self.plain, self.count.clone()

    return M(), {"calls": [(randn(2, 2),), (randn(2, 2),), (randn(2, 2),)], "cont": True}


@case
def buffers_decomposed():
    made, options = buffers()
    return made, options | {"decompose": True}


@case
def tied():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(6, 4)
            self.out = nn.Linear(4, 6, bias=False)
            self.out.weight = self.emb.weight

        def forward(self, x):
            return self.out(self.emb(x))

    return M(), {"calls": [(tensor([1, 2, 5]),)]}


@case
def shared_module():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(3, 3)
            self.b = self.a
            self.scale = nn.Parameter(torch.ones(3) * 2)
            self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)

        def forward(self, x):
            return self.b(self.a(x)) * self.scale + self.frozen

    return M(), {"calls": [(randn(2, 3),)], "grad": True}


@case
def views_of_one():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            base = torch.arange(12.0)
            self.register_buffer("a", base[2:8].view(2, 3))
            self.register_buffer("b", base.view(3, 4).t())

        def forward(self, x):
            return self.a.sum() + self.b @ x

    return M(), {"calls": [(randn(3),)]}


@case
def input_written():
    class M(nn.Module):
        def forward(self, x, y):
            x.add_(y)
            y[0] = 5
            return x * 2

    return M(), {"calls": [(randn(3), randn(3))]}


@case
def input_written_decomposed():
    made, options = input_written()
    return made, options | {"decompose": True}


@case
def dtypes():
    class M(nn.Module):
        def __init__(self):
            super().__init__()
            for i, dtype in enumerate([torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32, torch.bool, torch.complex64, torch.complex128, torch.uint16]):
                self.register_buffer(f"b{i}", torch.ones(2).to(dtype))
            self.register_buffer("empty", torch.zeros(0, 3))
            self.register_buffer("scalar", torch.tensor(4.0))

        def forward(self, x):
            return [x + self.b0, x + self.b1.float(), self.b2.float(), self.b3 + 1, self.b4, self.b5, self.b6, self.b7, self.b8 * 2, self.b9, self.b10.to(torch.int32), self.empty, self.scalar]

    return M(), {"calls": [(randn(2),)]}


# ---- operators with unusual arguments
simple("complex_numbers", lambda x: (torch.view_as_complex(x) * (1 + 2j), torch.fft.fft(x, dim=0).abs(), x * 1e300 * 1e300, torch.full((2,), float("nan"))), (randn(3, 2),))
simple("index_forms", lambda x, i: (x[i], x[:, i], x[i, i], x[None, 1:], x[..., -1], x[x > 0], x.index_put((i,), torch.zeros(3))), (randn(4, 3), tensor([0, 2])))
simple("pads", lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, 1), mode="reflect"), F.pad(x, (0, 1), value=2.0), F.unfold(x[None, None], 2)), (randn(3, 4),))
simple("einsums", lambda a, b: (torch.einsum("ij,jk->ik", a, b), torch.tensordot(a, b, 1), a @ b, torch.linalg.multi_dot([a, b, a])), (randn(3, 3), randn(3, 3)))
simple("reductions", lambda x: (x.mean((0, 1)), x.var(1, unbiased=False), x.amax(-1), x.norm(dim=1), x.prod(), x.argmax(), x.cumsum(0), x.median(), x.quantile(0.5), x.logsumexp(0), x.any(), x.count_nonzero()), (randn(3, 4),))
simple("casts", lambda x: (x.to(torch.float64), x.half().float(), x.to("cpu"), x.type_as(torch.zeros(1, dtype=torch.int32)), x.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)), (randn(1, 2, 3, 3),))
simple("factories", lambda x: (torch.zeros_like(x), torch.full_like(x, 2), torch.arange(1, 4, 0.5), torch.linspace(0, 1, 5), torch.eye(3), torch.tensor([1.0, 2.0]), torch.empty(0), x.new_full((2,), 7)), (randn(3),))
simple("losses", lambda x, t: (F.cross_entropy(x, t), F.nll_loss(x.log_softmax(1), t), F.smooth_l1_loss(x, x * 2), F.binary_cross_entropy_with_logits(x, torch.ones_like(x)), F.kl_div(x, x.softmax(1), reduction="batchmean")), (randn(3, 4), tensor([0, 1, 3])))
simple("sdpa", lambda q, k, v: (F.scaled_dot_product_attention(q, k, v, is_causal=True), F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(4, 4, dtype=torch.bool))), (randn(1, 2, 4, 8), randn(1, 2, 4, 8), randn(1, 2, 4, 8)))
simple("sorts", lambda x: (x.topk(2), x.sort(descending=True), x.kthvalue(1), torch.unique_consecutive(x.round()), x.mode(), torch.searchsorted(x[0].sort()[0], x[1])), (randn(3, 4),))
simple("chunks", lambda x: (*x.chunk(3), *x.unbind(1), *torch.tensor_split(x, [1, 3]), *torch.meshgrid(x[0], x[1], indexing="ij")), (randn(4, 3),))
simple("random", lambda x: (torch.rand(3), torch.randn_like(x), F.dropout(x, 0.3, True), torch.randint(0, 5, (2,)), torch.bernoulli(torch.full((3,), 0.5)), torch.randperm(4)), (randn(3),), seed=5)
simple("assertion", lambda x: x + 1, (randn(3),))
simple("foreach", lambda x: torch._foreach_add([x, x * 2], 1.0), (randn(3),))
simple("grads_through", lambda x: torch.cumprod(x, 0).sum() * x.sigmoid(), (randn(4).requires_grad_(),), grad=True)
simple("scatter", lambda x, i: (x.scatter(0, i, 2.0), x.scatter_add(0, i, x), x.gather(1, i), torch.scatter_reduce(x, 0, i, x, "amax")), (randn(3, 3), tensor([[0, 1, 2], [2, 1, 0], [1, 1, 1]])))
simple("inplace_chain", lambda x: x.clone().add_(1).relu_().mul_(2).clamp_(0, 3).unsqueeze_(0), (randn(4),))
simple("linalg", lambda x: (torch.linalg.inv(x), torch.linalg.det(x), torch.linalg.solve(x, x), torch.linalg.cholesky(x @ x.T + torch.eye(3))), (randn(3, 3) + 3 * torch.eye(3),), tol=[1e-4, 1e-4])
simple("linalg_decomposed", lambda x: (torch.linalg.inv(x), torch.linalg.solve(x, x)), (randn(3, 3) + 3 * torch.eye(3),), tol=[1e-4, 1e-4], decompose=True)
simple("strings", lambda x: torch.einsum("i->", x) + F.gelu(x, approximate="tanh"), (randn(3),))
simple("rolled", lambda x: (x.roll((1, 2), (0, 1)), x.rot90(), x.flip(0), x.repeat(2, 1), x.repeat_interleave(2, 0), x.movedim(0, 1), x.diagonal(), torch.tril(x)), (randn(3, 3),))
