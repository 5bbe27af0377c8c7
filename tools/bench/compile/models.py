"""The cases of chains.cpp and models.cpp with PyTorch, eager and compiled by Inductor: name and nanoseconds of processor
time each, as tools/bench/compile/table reads them. With names as arguments those cases alone."""

import statistics
import sys
import time

import torch
import torch._inductor.config
from torch import nn
from torch.nn import functional

torch.set_num_threads(1)
torch.manual_seed(1)
torch._dynamo.config.cache_size_limit = 64
torch._inductor.config.freezing = True  # as options.freeze of models.cpp; without gradients alone


def conv(inputs, outputs, kernel, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=False)


def perceptron():
    return nn.Sequential(nn.Linear(512, 1024), nn.GELU(), nn.LayerNorm(1024), nn.Linear(1024, 1024), nn.GELU(),
                         nn.LayerNorm(1024), nn.Linear(1024, 64))


class ResidualNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm = conv(3, 32, 3), nn.BatchNorm2d(32)
        self.convs = nn.ModuleList(conv(32, 32, 3) for _ in range(6))
        self.norms = nn.ModuleList(nn.BatchNorm2d(32) for _ in range(6))
        self.last = nn.Linear(32, 10)

    def forward(self, x):
        x = self.norm(self.first(x)).relu()
        for i in range(0, 6, 2):
            y = self.norms[i + 1](self.convs[i + 1](self.norms[i](self.convs[i](x)).relu()))
            x = (x + y).relu()
        return self.last(x.mean((2, 3)))


def mobile():
    layers = [conv(3, 16, 3), nn.BatchNorm2d(16), nn.SiLU()]
    for _ in range(3):
        layers += [conv(16, 64, 1), nn.BatchNorm2d(64), nn.SiLU(), conv(64, 64, 3, 64), nn.BatchNorm2d(64),
                   nn.SiLU(), conv(64, 16, 1), nn.BatchNorm2d(16)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        split = lambda t: t.view(t.size(0), t.size(1), 4, -1).transpose(1, 2)
        q, k, v = (split(t) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        mixed = (q.matmul(k.transpose(-2, -1)) * 0.1767767).softmax(-1).matmul(v)
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.last, self.head = nn.Embedding(256, 128), nn.LayerNorm(128), nn.Linear(128, 256)
        self.blocks = nn.Sequential(Block(128), Block(128))

    def forward(self, ids):
        return self.head(self.last(self.blocks(self.tokens(ids))))


def equation_of_state(given):
    sa, ct, p = given
    x = sa.sqrt() * 0.1
    total = torch.zeros_like(x)
    for i in range(6):
        a, b = 0.3 + 0.01 * i, 1.7 - 0.2 * i
        total = (total * p * 1e-2 + (((x * a + b) * x - 0.02 * i) * x + a) * ct + ((ct * b + a) * ct - b) * x
                 + p * (a * b))
    return (total + 1000) / (1 + (p * 1e-3 + ct * 1e-2) * x)


def light(a, b):
    return (a * b + 0.5).relu() * a


def heavy(a, b):
    return (a * b - 0.5).exp().tanh()


def forty(a, b):
    x = a
    for _ in range(10):
        x = (x * 0.9 + b).relu() - 0.1
    return x


def rope(x, cos, sin):
    a, b = x[..., :32], x[..., 32:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), 2)


def adam_step(grad, average, square, param):
    average.mul_(0.9).add_(grad, alpha=0.1)
    square.mul_(0.999).addcmul_(grad, grad, value=0.001)
    return param.addcdiv_(average, square.sqrt().add_(1e-8), value=-1e-3)


def chains():
    for n, size in ((8, "8"), (16384, "16K"), (1 << 20, "1M")):
        given = torch.randn(n), torch.randn(n)
        yield f"light {size}", light, given
        yield f"heavy {size}", heavy, given
        yield f"forty {size}", forty, given
    yield ("adam in operators 1M", adam_step,
           (torch.randn(1 << 20), torch.zeros(1 << 20), torch.zeros(1 << 20), torch.randn(1 << 20)))
    half = torch.randn(1 << 20).bfloat16(), torch.randn(1 << 20).bfloat16()
    yield "light 1M bfloat16", light, half
    whole = torch.randint(0, 99, (1 << 20,)), torch.randint(0, 99, (1 << 20,))
    yield "integers 1M", lambda a, b: (a * b + 3).bitwise_and(255) - a, whole
    yield "bias gelu", lambda x, b: functional.gelu(x + b), (torch.randn(1024, 1024), torch.randn(1024))
    yield "transposed", lambda a, b: (a * b + 1).relu() + b, (torch.randn(1024, 1024), torch.randn(1024, 1024).t())
    yield ("mask softmax", lambda s, m: (s * 0.125 + m).softmax(-1), (torch.randn(16, 128, 512), torch.randn(128, 512)))
    rows = torch.randn(1024, 768), torch.randn(1024, 768), torch.randn(768), torch.randn(768)
    yield "residual layer norm", lambda x, y, w, b: functional.layer_norm(x + y, (768,), w, b), rows
    yield "rms norm", lambda x, y, w, b: x * torch.rsqrt(x.square().mean(-1, True) + 1e-5) * w, rows
    yield "variance", lambda x, y, w, b: (x * y).var(-1, False), rows
    yield "rope", rope, (torch.randn(8, 128, 64), torch.randn(128, 32), torch.randn(128, 32))
    yield ("cross entropy", lambda x, y: functional.cross_entropy(x * 0.5 + 0.1, y),
           (torch.randn(512, 1000), torch.randint(0, 1000, (512,))))


def without_gradients(call):
    def run():
        with torch.no_grad():
            call()

    return run


def training(net, x, y):
    adam = torch.optim.AdamW(net.parameters())

    def loss_of(given, target):
        scores = net(given)
        return functional.cross_entropy(scores.reshape(-1, scores.shape[-1]), target.reshape(-1))

    def step_with(loss_of):
        def step():
            adam.zero_grad()
            loss_of(x, y).backward()
            adam.step()

        return step

    return step_with(loss_of), step_with(torch.compile(loss_of))


def all_cases():
    for name, function, given in chains():
        compiled = torch.compile(function)
        yield name, without_gradients(lambda: function(*given)), without_gradients(lambda: compiled(*given))
    rows, images, ids = torch.randn(64, 512), torch.randn(4, 3, 32, 32), torch.randint(256, (8, 64))
    for name, net, x in (("perceptron", perceptron(), rows), ("residual net", ResidualNet(), images),
                         ("mobile net", mobile(), images), ("transformer", Transformer(), ids),
                         ("one token", Transformer(), ids[:1, :1]),
                         ("equation of state", equation_of_state, torch.rand(3, 1 << 18) + 0.5)):
        if isinstance(net, nn.Module):
            net.eval()
        compiled = torch.compile(net)
        yield f"infer {name}", without_gradients(lambda: net(x)), without_gradients(lambda: compiled(x))
    for name, make, x, y in (("perceptron", perceptron, rows, torch.randint(64, (64,))),
                             ("residual net", ResidualNet, images, torch.randint(10, (4,))),
                             ("mobile net", mobile, images, torch.randint(10, (4,))),
                             ("transformer", Transformer, ids, torch.randint(256, (8, 64)))):
        yield f"train {name}", *training(make(), x, y)


def measure(call):
    for _ in range(4):
        call()
    count, took = 1, 0
    while took < 1e6:
        count *= 2
        start = time.thread_time_ns()
        for _ in range(count):
            call()
        took = time.thread_time_ns() - start
    samples = []
    for _ in range(9):
        start = time.thread_time_ns()
        for _ in range(count):
            call()
        samples.append((time.thread_time_ns() - start) / count)
    return statistics.median(samples)


if __name__ == "__main__":
    wanted = set(sys.argv[1:])
    for name, eager, compiled in all_cases():
        if not wanted or name in wanted:
            print(f"{name + ' eager':<34} {measure(eager):12.1f}", flush=True)
            print(f"{name + ' compiled':<34} {measure(compiled):12.1f}", flush=True)
