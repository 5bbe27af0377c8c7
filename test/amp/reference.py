"""Writes expected.cpp: what PyTorch's autocast does.

    python3 reference.py     # with PyTorch 2 (the values here are of 2.15); no GPU is needed
"""

import contextlib
import pathlib
import warnings

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode

torch.set_num_threads(1)
warnings.simplefilter("ignore")
LETTER = {torch.float32: "f", torch.float64: "d", torch.int64: "i", torch.bool: "b", torch.complex64: "c"}


def letters(dtypes, lower):
    return "".join("l" if dtype == lower else LETTER[dtype] for dtype in dtypes)


# --- what reaches the kernel below autocast -------------------------------------------------------------------------------


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for element in value for t in tensors_of(element)] if isinstance(value, (list, tuple)) else []


class Reached(Exception):
    pass


def recorder(lower):
    def kernel(*args, **kwargs):
        values = [*args, *kwargs.values()]
        asked = [value for value in values if isinstance(value, torch.dtype)]
        text = letters([t.dtype for t in tensors_of(values)], lower)
        raise Reached(text + (">" + letters(asked, lower) if asked else ""))

    return kernel


def argument(arg, kind, device, lower, place):
    """A value of the argument's type; `kind` is f, l, m (float32 and lower by turns), d or i."""
    by_turns = torch.float32 if place % 2 == 0 else lower
    dtype = {"f": torch.float32, "l": lower, "m": by_turns, "d": torch.float64, "i": torch.int64}[kind]
    text = str(arg.type)
    if text in ("Tensor", "Optional[Tensor]"):
        return torch.ones(2, 3, device=device, dtype=dtype)
    if text == "List[Tensor]":
        other = lower if kind == "m" else dtype
        return [torch.ones(2, 3, device=device, dtype=dtype), torch.ones(2, 3, device=device, dtype=other)]
    if text == "List[Optional[Tensor]]":
        return [torch.zeros(1, device=device, dtype=torch.int64)]
    if text.startswith("Optional["):
        return None
    if text.startswith("List["):
        return [1] * (arg.N or 1)
    return {"int": 1, "SymInt": 1, "float": 1.0, "number": 1.0, "bool": False, "str": "fro"}[text]


def reached(device, lower):
    """Rows (operator, what its kernel got for f, l, m, d, i)."""
    key = "Autocast" + device.upper()
    names = [n for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::")]
    names = [n[6:] for n in names if torch._C._dispatch_has_kernel_for_dispatch_key(n, key)]
    for name in sorted(names):
        if name == "_cudnn_rnn":  # has a kernel of its own
            continue
        library = torch.library.Library("aten", "IMPL")
        for target in [name] + {"norm.Scalar": ["norm.ScalarOpt_dtype"], "norm.ScalarOpt_dim": ["norm.ScalarOpt_dim_dtype"]}.get(name, []):
            library.impl(target, recorder(lower), "Autograd" + device.upper())
        base, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.aten, base), overload or "default")
        row = []
        for kind in "flmdi":
            args, kwargs, place = [], {}, 0
            for arg in operator._schema.arguments:
                value = argument(arg, kind, device, lower, place)
                place += bool(tensors_of(value))
                if arg.kwarg_only:
                    kwargs[arg.name] = value
                else:
                    args.append(value)
            try:
                operator(*args, **kwargs)
                raise RuntimeError(f"{name} did not reach its kernel")
            except Reached as text:
                row.append(str(text))
            except RuntimeError as error:
                if "unsafe to autocast" not in str(error):
                    raise
                row.append("refused")
        library._destroy()
        yield name, row


# --- dtypes of results ----------------------------------------------------------------------------------------------------


class Inputs:
    """Like Inputs in result_dtypes.cpp."""

    def __init__(self):
        self.v = torch.linspace(0.1, 0.9, 4)
        self.m = torch.linspace(0.1, 0.9, 16).view(4, 4)
        self.b = torch.linspace(0.1, 0.9, 32).view(2, 4, 4)
        self.image = torch.linspace(0, 1, 64).view(1, 1, 8, 8)
        self.filter = torch.linspace(-1, 1, 9).view(1, 1, 3, 3)
        self.labels = torch.tensor([0, 1, 2, 3])
        self.low = None


CALLS = {
    "mm": lambda x: torch.mm(x.m, x.m),
    "bmm": lambda x: torch.bmm(x.b, x.b),
    "matmul": lambda x: torch.matmul(x.b, x.m),
    "addmm": lambda x: torch.addmm(x.m, x.m, x.m),
    "baddbmm": lambda x: torch.baddbmm(x.b, x.b, x.b),
    "addbmm": lambda x: torch.addbmm(x.m, x.b, x.b),
    "linear": lambda x: F.linear(x.m, x.m, x.v),
    "mv": lambda x: torch.mv(x.m, x.v),
    "dot": lambda x: torch.dot(x.v, x.v),
    "einsum": lambda x: torch.einsum("ij,jk->ik", [x.m, x.m]),
    "tensordot": lambda x: torch.tensordot(x.m, x.m, [[1], [0]]),
    "conv2d": lambda x: F.conv2d(x.image, x.filter),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x.image, x.filter),
    "prelu": lambda x: F.prelu(x.m, x.v),
    "bilinear": lambda x: F.bilinear(x.m, x.m, x.b, None),
    "attention": lambda x: F.scaled_dot_product_attention(x.b, x.b, x.b),
    "add lower": lambda x: x.m + x.low,
    "mul lower": lambda x: x.low * x.low,
    "relu lower": lambda x: torch.relu(x.low),
    "cat mixed": lambda x: torch.cat([x.m, x.low]),
    "cat lower": lambda x: torch.cat([x.low, x.low]),
    "stack mixed": lambda x: torch.stack([x.low, x.m]),
    "softmax lower": lambda x: torch.softmax(x.low, 1),
    "log_softmax lower": lambda x: torch.log_softmax(x.low, 1),
    "sum lower": lambda x: x.low.sum(),
    "mean lower": lambda x: x.low.mean(),
    "prod lower": lambda x: x.low.prod(),
    "exp lower": lambda x: x.low.exp(),
    "pow lower": lambda x: x.low.pow(2),
    "norm lower": lambda x: x.low.norm(),
    "cumsum lower": lambda x: x.low.cumsum(0),
    "quantile lower": lambda x: torch.quantile(x.low, 0.5),
    "inverse lower": lambda x: torch.inverse(x.low + torch.eye(4)),
    "fft lower": lambda x: torch.fft.fft(x.low),
    "trace lower": lambda x: torch.trace(x.low),
    "layer_norm lower": lambda x: F.layer_norm(x.low, [4], x.v, x.v),
    "layer_norm plain": lambda x: F.layer_norm(x.low, [4]),
    "group_norm lower": lambda x: F.group_norm(x.low, 2, x.v, x.v),
    "batch_norm lower": lambda x: F.batch_norm(x.low, x.v * 1, x.v * 1, x.v, x.v, True),
    "mse_loss lower": lambda x: F.mse_loss(x.low, x.m),
    "l1_loss lower": lambda x: F.l1_loss(x.low, x.low),
    "cross_entropy lower": lambda x: F.cross_entropy(x.low, x.labels),
    "nll_loss lower": lambda x: F.nll_loss(x.low, x.labels),
    "binary_cross_entropy": lambda x: F.binary_cross_entropy(x.m, x.m),
    "with_logits lower": lambda x: F.binary_cross_entropy_with_logits(x.low, x.m),
    "kl_div lower": lambda x: F.kl_div(x.low, x.low),
    "smooth_l1_loss lower": lambda x: F.smooth_l1_loss(x.low, x.m),
    "pad lower": lambda x: F.pad(x.low.view(1, 1, 4, 4), [1, 1, 1, 1], "reflect"),
    "max_pool2d lower": lambda x: F.max_pool2d(x.low.view(1, 1, 4, 4), 2),
    "interpolate lower": lambda x: F.interpolate(x.low.view(1, 1, 4, 4), scale_factor=2, mode="bilinear"),
    "double": lambda x: torch.mm(x.m.double(), x.m.double()),
    "integers": lambda x: torch.mm(x.m.long(), x.m.long()),
    "index_copy mixed": lambda x: x.m.index_copy(0, x.labels, x.low),
    "where mixed": lambda x: torch.where(x.m > 0.5, x.m, x.low),
    "gelu lower": lambda x: F.gelu(x.low),
    "embedding": lambda x: F.embedding(x.labels, x.m),
    "dropout lower": lambda x: F.dropout(x.low, 0.5, True),
    "matrix_exp": lambda x: torch.linalg.matrix_exp(x.m),
    "matrix_power": lambda x: torch.linalg.matrix_power(x.m, 3),
    "cov": lambda x: torch.cov(x.m),
    "affine_grid": lambda x: F.affine_grid(x.b[:, :2, :3], [2, 1, 4, 4], False),
    "kron": lambda x: torch.kron(x.m, x.m),
    "addr": lambda x: torch.addr(x.m, x.v, x.v),
    "outer": lambda x: torch.outer(x.v, x.v),
    "inner": lambda x: torch.inner(x.m, x.m),
    "vdot": lambda x: torch.vdot(x.v, x.v),
    "vecdot": lambda x: torch.linalg.vecdot(x.m, x.m),
    "addmv": lambda x: torch.addmv(x.v, x.m, x.v),
    "matmul of a vector": lambda x: torch.matmul(x.m, x.v),
    "matmul of vectors": lambda x: torch.matmul(x.v, x.v),
    "cosine_similarity": lambda x: F.cosine_similarity(x.m, x.m),
    "multi_dot": lambda x: torch.linalg.multi_dot([x.m, x.m, x.m]),
    "pinv": lambda x: torch.linalg.pinv(x.m),
    "det": lambda x: torch.det(x.m),
    "matrix norm": lambda x: torch.linalg.norm(x.m, 2),
    "cdist lower": lambda x: torch.cdist(x.low, x.low),
    "renorm": lambda x: torch.renorm(x.m, 2, 0, 1.0),
    "einsum of vectors": lambda x: torch.einsum("i,j->ij", [x.v, x.v]),
    "einsum of three": lambda x: torch.einsum("ij,jk,kl->il", [x.m, x.m, x.m]),
    "conv1d": lambda x: F.conv1d(x.b, x.b[:, :, :3]),
    "addmm lower": lambda x: torch.addmm(x.v, x.low, x.m),
    "instance_norm lower": lambda x: F.instance_norm(x.low.view(1, 4, 4)),
    "rms_norm lower": lambda x: F.rms_norm(x.low, [4], x.v),
    "batch_norm frozen": lambda x: F.batch_norm(x.low, x.v, x.v, x.v, x.v, False),
    "avg_pool3d lower": lambda x: F.avg_pool3d(x.low.view(1, 1, 4, 2, 2), 2),
    "grid_sample": lambda x: F.grid_sample(x.image, torch.zeros(1, 2, 2, 2), align_corners=False),
    "triplet lower": lambda x: F.triplet_margin_loss(x.low, x.m, x.low),
    "embedding_bag": lambda x: F.embedding_bag(x.labels.view(2, 2), x.m),
    "ctc_loss lower": lambda x: F.ctc_loss(x.low.view(2, 2, 4).log_softmax(2), x.labels[1:3].view(2, 1), [2, 2], [1, 1]),
    "lstm": lambda x: torch.nn.LSTM(4, 4)(x.b)[0],
    "gru": lambda x: torch.nn.GRU(4, 4)(x.b)[0],
    "rnn": lambda x: torch.nn.RNN(4, 4)(x.b)[0],
    "lstm_cell": lambda x: torch.nn.LSTMCell(4, 4)(x.m)[0],
    "gru_cell": lambda x: torch.nn.GRUCell(4, 4)(x.m),
    "rnn_cell": lambda x: torch.nn.RNNCell(4, 4)(x.m),
    "multihead": lambda x: torch.nn.MultiheadAttention(4, 2)(x.b, x.b, x.b)[0],
    "multihead weights": lambda x: torch.nn.MultiheadAttention(4, 2)(x.b, x.b, x.b)[1],
    "encoder layer": lambda x: torch.nn.TransformerEncoderLayer(4, 2, 8)(x.b),
}


def results(lower):
    for name, call in CALLS.items():
        inputs = Inputs()
        inputs.low = inputs.m.to(lower)
        yield name, letters([call(inputs).dtype], lower)


# --- training -------------------------------------------------------------------------------------------------------------


def wave(*sizes):
    numel = torch.Size(sizes).numel()
    return (torch.arange(numel, dtype=torch.float64) * 0.7 + 0.3).sin().float().view(sizes)


def weight(*sizes):
    return (wave(*sizes) * 0.5).requires_grad_()


def dense_losses(lower):
    """Two layers on sixteen points; like dense_losses in training.cpp."""
    x, labels = wave(16, 8), torch.arange(16) % 4
    w1, b1, w2, b2 = weight(32, 8), weight(32), weight(4, 32), weight(4)
    optimizer = torch.optim.SGD([w1, b1, w2, b2], 0.1)
    for _ in range(30):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=lower) if lower else contextlib.nullcontext():
            loss = F.cross_entropy(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2), labels)
        loss.backward()
        optimizer.step()
        yield loss.item()


def image_losses(lower):
    """A convolution, a norm and a layer; like image_losses in training.cpp."""
    labels = torch.arange(8) % 2
    x = wave(8, 1, 8, 8) * (1 + labels).view(8, 1, 1, 1)
    kernel, scale, shift, w = weight(4, 1, 3, 3), torch.ones(4, requires_grad=True), weight(4), weight(2, 36)
    optimizer = torch.optim.SGD([kernel, scale, shift, w], 0.05)
    for _ in range(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=lower) if lower else contextlib.nullcontext():
            y = F.batch_norm(F.conv2d(x, kernel), None, None, scale, shift, True)
            loss = F.cross_entropy(F.linear(F.max_pool2d(F.relu(y), 2).flatten(1), w), labels)
        loss.backward()
        optimizer.step()
        yield loss.item()


# --- the file -------------------------------------------------------------------------------------------------------------


def write():
    out = [f"// What PyTorch {torch.__version__.split('+')[0]} does under autocast; made by reference.py.",
           '#include "test/amp/expected.h"', "", "namespace test {", "",
           "const std::vector<ReachedDtypes> expected_reached = {"]
    for device, lower in (("cpu", torch.bfloat16), ("cuda", torch.float16)):
        torch.set_autocast_dtype(device, lower)
        torch.set_autocast_enabled(device, True)
        with contextlib.nullcontext() if device == "cpu" else FakeTensorMode():
            for name, row in reached(device, lower):
                out.append(f'    {{"{device}", "aten::{name}", {{' + ", ".join(f'"{text}"' for text in row) + "}},")
        torch.set_autocast_enabled(device, False)
    out += ["};", "", "const std::map<std::string, std::string> expected_results = {"]
    by_dtype = []
    for lower in (torch.bfloat16, torch.float16):
        # Not every machine has MKL-DNN's recurrent layers in lower precision.
        with torch.autocast("cpu", dtype=lower), torch.backends.mkldnn.flags(enabled=False):
            by_dtype.append(dict(results(lower)))
    assert by_dtype[0] == by_dtype[1], by_dtype
    out += [f'    {{"{name}", "{letter}"}},' for name, letter in by_dtype[0].items()]
    out += ["};", "", "const std::map<std::string, std::vector<double>> expected_losses = {"]
    for name, run in (("dense", dense_losses), ("image", image_losses)):
        for lower in (None, torch.bfloat16, torch.float16):
            values = [f"{loss:.7g}" for loss in run(lower)]
            out.append(f'    {{"{name}/{str(lower or torch.float32)[6:]}", {{')
            out += ["      " + ", ".join(values[i : i + 10]) + "," for i in range(0, len(values), 10)] + ["    }},"]
    out += ["};", "", "} // namespace test", ""]
    pathlib.Path(__file__).with_name("expected.cpp").write_text("\n".join(out))


write()
