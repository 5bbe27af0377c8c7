"""Modules: attributes, containers, methods, hooks, tracing."""
from typing import Dict, Final, List, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from torchscript_cases.support import Call, calls

G = torch.Generator().manual_seed(5)
X4 = torch.randn(2, 4, generator=G)
IMG = torch.randn(1, 2, 6, 6, generator=G)
SEQ = torch.randn(5, 2, 4, generator=G)


@calls((X4,), Call(X4.clone().requires_grad_(), grad=True))
class mod_linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 3)
        self.b = nn.Linear(3, 2, bias=False)

    def forward(self, x):
        return self.b(F.relu(self.a(x)))


@calls((1,), Call(2, cont=True), Call(m="peek", cont=True), Call(5, m="add", cont=True), Call(m="peek", cont=True))
class mod_state(nn.Module):
    count: int
    names: List[str]
    table: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.count = 0
        self.names = ["start"]
        self.table = {"a": 1}
        self.register_buffer("buf", torch.zeros(2))

    def forward(self, n: int):
        self.count += n
        self.names.append(str(n))
        self.table["k" + str(n)] = n
        self.buf += n
        self.buf[0] = self.count
        return self.count, self.names, self.table, self.buf

    @torch.jit.export
    def peek(self):
        return self.count, len(self.names)

    @torch.jit.export
    def add(self, n: int) -> int:
        self.buf = self.buf + n
        self.count = n
        return n


@calls((X4,))
class mod_containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.named = nn.ModuleDict({"up": nn.Linear(4, 8), "down": nn.Linear(8, 4)})
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Sequential(nn.Linear(4, 4), nn.ReLU()))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x) * (i + 1)
        for layer in self.layers[1:]:
            x = layer(x)
        for name, m in self.named.items():
            x = m(x)
        for k in self.named.keys():
            x = x + len(k)
        for m in self.named.values():
            x = m(x)
        for m in self.seq:
            x = m(x)
        x = self.named["up"](x)[:, :4]
        return self.seq(x), self.layers[0](x), self.seq[0](x), len(self.layers), "up" in self.named, len(self.seq)


@calls((X4,))
class mod_parameter_containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.ps = nn.ParameterList([nn.Parameter(torch.ones(4) * i) for i in range(3)])
        self.pd = nn.ParameterDict({"a": nn.Parameter(torch.ones(4)), "b": nn.Parameter(torch.zeros(4))})
        self.w = nn.Parameter(torch.eye(4))
        self.none = None

    def forward(self, x):
        for p in self.ps:
            x = x + p
        x = x * self.pd["a"] + self.pd["b"]
        if self.none is not None:
            x = x * 0
        return x @ self.w


@calls((2,), (7,))
class mod_constants(nn.Module):
    SIZE: Final[int] = 4
    __constants__ = ["scale", "flags"]
    mode: Final[str]

    def __init__(self):
        super().__init__()
        self.scale = 2.5
        self.flags = [1, 2, 3]
        self.mode = "fast"

    def forward(self, n: int):
        if self.mode == "fast":
            n += 1
        return n * self.scale, self.SIZE, self.flags[0], len(self.flags), self.mode


@calls((X4,), (X4, 2.0))
class mod_methods(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def helper(self, x: Tensor, k: float = 1.5) -> Tensor:
        return self.fc(x) * k

    @staticmethod
    def twice(x: Tensor) -> Tensor:
        return x * 2

    def pair(self, x):
        # type: (Tensor) -> Tuple[Tensor, int]
        return x, x.size(0)

    @property
    def size(self) -> int:
        return 4

    @torch.jit.unused
    def never(self, x: Tensor) -> Tensor:
        raise RuntimeError("not here")

    def forward(self, x: Tensor, k: float = 0.5):
        y, n = self.pair(self.helper(x))
        if n > 100:
            y = self.never(y)
        return self.twice(y), self.helper(x, k=k), n + self.size


@calls(Call(X4, mode="train", seed=1), Call(X4, mode="eval"), Call(X4, mode="train", seed=2, cont=True), Call(X4, mode="eval", cont=True))
class mod_modes(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        y = self.drop(self.bn(x))
        return y, self.training, y.sum() if self.training else x.sum()


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 3.0

    def shared(self, x: Tensor) -> Tensor:
        return x * self.k


@calls((X4,))
class mod_inheritance(Base):
    def __init__(self):
        super().__init__()
        self.inner = nn.ModuleList([Base(), Base()])

    def forward(self, x):
        out = self.shared(x)
        for m in self.inner:
            out = out + m.shared(x)
        return out


@calls((X4,))
class mod_hooks(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

        def pre(self, input: Tuple[Tensor]) -> Tuple[Tensor]:
            return (input[0] + 1,)

        def post(self, input: Tuple[Tensor], output: Tensor) -> Tensor:
            return output * 2 + input[0].sum()

        self.fc.register_forward_pre_hook(pre)
        self.fc.register_forward_hook(post)

    def forward(self, x):
        return self.fc(x)


@calls((X4,))
class mod_submodule_state(nn.Module):
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.n: int = 0

        def forward(self, x: Tensor) -> Tensor:
            self.n += 1
            return x + self.n

    def __init__(self):
        super().__init__()
        self.c = mod_submodule_state.Counter()

    def forward(self, x):
        for _ in range(3):
            x = self.c(x)
        return x, self.c.n


@calls((SEQ,), eval=True)
class mod_recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, 2)
        self.gru = nn.GRU(4, 3, bidirectional=True)
        self.rnn = nn.RNN(4, 3)
        self.cell = nn.LSTMCell(4, 3)
        self.gcell = nn.GRUCell(4, 3)

    def forward(self, x):
        a, (h, c) = self.lstm(x)
        b, hb = self.gru(x)
        r, hr = self.rnn(x)
        hx, cx = self.cell(x[0])
        for t in range(x.size(0)):
            hx, cx = self.cell(x[t], (hx, cx))
        return a, h, c, b, hb, r, hr, hx, cx, self.gcell(x[0])


@calls((IMG,), eval=True)
class mod_conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.ConvTranspose2d(4, 2, 2, stride=2),
            nn.GroupNorm(1, 2), nn.AdaptiveAvgPool2d((2, 2)), nn.Flatten(), nn.Linear(8, 3), nn.LogSoftmax(dim=1))
        self.up = nn.Upsample(scale_factor=2)
        self.inorm = nn.InstanceNorm2d(2)
        self.pad = nn.ZeroPad2d(1)

    def forward(self, x):
        return self.net(x), self.up(x).shape, self.inorm(x), self.pad(x).sum()


@calls((X4,), freeze=True)
class mod_frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 3)
        self.bn = nn.BatchNorm1d(3)
        self.k = 2

    def forward(self, x):
        if self.k > 1:
            return self.bn(self.a(x)) * self.k
        return x


@calls((torch.randn(2, 3, 8, generator=G),), eval=True)
class mod_attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.enc = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, x):
        y, w = self.mha(x, x, x)
        return self.norm(x + y), w, self.enc(x)


@calls((torch.tensor([[1, 2, 0], [4, 0, 0]]),))
class mod_embedding(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(6, 3, padding_idx=0)
        self.b = nn.EmbeddingBag(6, 3, mode="mean")

    def forward(self, i):
        return self.e(i), self.b(i)


@calls((X4,), (X4 * 3,), trace=(X4,))
class trace_plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        y = self.a(x)
        if y.size(0) == 2:
            y = y * 2
        return y[:, 1:].sum(0), {"k": y}["k"]


@calls((X4,), trace=(X4,))
class trace_nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Dropout(0.0))

    def forward(self, x):
        a, b = self.net(x).chunk(2, 1)
        return (a, (b, [a + b, x.new_ones(x.shape[0], 1)]))


@torch.jit.interface
class Step(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Up(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x + 1


class Down(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(4) * 0.5)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.w


@calls((X4,))
class mod_interface_attr(nn.Module):
    step: Step

    def __init__(self):
        super().__init__()
        self.step = Down()
        self.other = nn.ModuleList([Up(), Down()])

    def forward(self, x):
        x = self.step.forward(x)
        for m in self.other:
            x = m(x)
        return x


@calls((X4, None), (X4, torch.ones(4)))
class mod_overloaded(nn.Module):
    def forward(self, x: Tensor, bias: Optional[Tensor] = None, scale: int = 2):
        if bias is None:
            return x * scale
        return x * scale + bias


@calls(Call(kw={"x": X4, "k": 3}), Call(X4, kw={"s": "abc"}))
class mod_keywords(nn.Module):
    def forward(self, x: Tensor, k: int = 1, s: str = "q"):
        return x * k, s + "!"


@calls((X4,))
class mod_shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.b = self.a
        self.w = self.a.weight

    def forward(self, x):
        return self.b(self.a(x)) + self.w.sum()


@calls((X4,))
class mod_attribute_kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = (1, "a", 2.5)
        self.maybe = torch.jit.Attribute(None, Optional[Tensor])
        self.nest: Dict[str, List[int]] = {"a": [1, 2]}
        self.dt = torch.float64
        self.tensors = [torch.ones(1), torch.zeros(2)]
        self.empty: List[int] = torch.jit.Attribute([], List[int])

    def forward(self, x):
        if self.maybe is None:
            self.maybe = x * 2
        m = self.maybe
        assert m is not None
        self.nest["b"] = [3]
        self.empty.append(1)
        return m, self.t[1], self.nest, x.to(self.dt), self.tensors[0] + 1, self.empty, hasattr(self, "maybe")
