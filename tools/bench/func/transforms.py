"""The cases of transforms.cpp with PyTorch: name and nanoseconds of processor time each, for tools/bench/compare."""

import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.func import functional_call, grad, hessian, jacrev, jvp, stack_module_state, vmap

torch.set_num_threads(1)


class ConvNet(nn.Module):
    def __init__(self, channels, size):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, channels, 3), nn.Conv2d(channels, channels, 3)
        self.fc = nn.Linear(channels * (size - 4) ** 2, 10)

    def forward(self, x):
        return self.fc(self.conv2(self.conv1(x).relu()).relu().flatten(1))


def per_sample(channels, size, batch):
    net = ConvNet(channels, size)
    x, y = torch.randn(batch, 1, size, size), torch.randint(10, (batch,))
    params = {name: p.detach() for name, p in net.named_parameters()}

    def loss(p, image, label):
        return nn.functional.cross_entropy(functional_call(net, p, (image.unsqueeze(0),)), label.unsqueeze(0))

    return lambda: vmap(grad(loss), (None, 0, 0))(params, x, y)


def jacobian(width):
    a, b, x = torch.randn(width, width), torch.randn(width, width), torch.randn(width)
    return lambda: jacrev(lambda t: b.mv(a.mv(t).tanh()))(x)


def hessian_of(width):
    a, x = torch.randn(width, width), torch.randn(width)
    return lambda: hessian(lambda t: a.mv(t).tanh().square().sum())(x)


def ensemble(width, models):
    nets = [nn.Linear(width, width) for _ in range(models)]
    params, _ = stack_module_state(nets)
    x, net = torch.randn(16, width), nets[0]

    def run():
        with torch.no_grad():
            vmap(lambda p, t: functional_call(net, p, (t,)).relu(), (0, None))(params, x)

    return run


def products(width):
    a = torch.randn(width, width)
    return lambda t: a.mm(t.mm(a).tanh()).sigmoid()


def perceptron(width):
    a, b, c = torch.randn(width, width), torch.randn(width, width), torch.randn(width)
    return lambda t: F.linear(F.linear(F.linear(t, a, c).tanh(), b, c).relu(), a, c)


def convolutions(channels):
    a, b, c = torch.randn(channels, 3, 3, 3), torch.randn(channels, channels, 3, 3), torch.randn(channels)
    return lambda t: F.max_pool2d(F.conv2d(F.conv2d(t, a, c).relu(), b, c).relu(), 2).mean((2, 3))


def transformer(width):
    qkv, out = torch.randn(3 * width, width) / width, torch.randn(width, width) / width
    up, down = torch.randn(4 * width, width) / width, torch.randn(width, 4 * width) / width
    scale, shift = torch.ones(width), torch.zeros(width)

    def f(t):
        normed = lambda x: F.layer_norm(x, (width,), scale, shift)
        heads = lambda x: x.reshape(x.size(0), x.size(1), 4, -1).transpose(1, 2)
        q, k, v = F.linear(normed(t), qkv).chunk(3, -1)
        attended = F.scaled_dot_product_attention(heads(q), heads(k), heads(v))
        x = t + F.linear(attended.transpose(1, 2).reshape(t.shape), out)
        return x + F.linear(F.gelu(F.linear(normed(x), up)), down)

    return f


def chain(t):
    return (t.sin() * t + 1).exp().mul(t).sub(t).relu()


def forward(f, *sizes):
    x = torch.randn(sizes)
    return lambda: f(x)


def derivative(f, *sizes):
    x, v = torch.randn(sizes), torch.randn(sizes)

    def run():
        with sdpa_kernel(SDPBackend.MATH):  # the others have no forward mode
            jvp(f, (x,), (v,))

    return run


def mapped(f, *sizes):
    x = torch.randn(sizes)
    return lambda: vmap(f)(x)


def pair(name, f, *sizes):
    return {name: forward(f, *sizes), f"{name}_jvp": derivative(f, *sizes)}


def measure(call):
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


CASES = {
    "per_sample_small": per_sample(4, 8, 4), "per_sample_large": per_sample(16, 28, 32),
    "jacobian_small": jacobian(8), "jacobian_large": jacobian(256),
    "hessian_small": hessian_of(10), "hessian_100": hessian_of(100),
    "ensemble_small": ensemble(8, 32), "ensemble_large": ensemble(256, 32),
    **pair("products", products(256), 256, 256),
    **pair("perceptron_small", perceptron(32), 4, 32), **pair("perceptron_large", perceptron(512), 16, 512),
    **pair("convolutions_small", convolutions(4), 1, 3, 16, 16), **pair("convolutions_large", convolutions(32), 8, 3, 32, 32),
    **pair("transformer_small", transformer(32), 1, 16, 32), **pair("transformer_large", transformer(256), 4, 128, 256),
    **pair("chain_100", chain, 10, 10), "chain_100_vmap": mapped(chain, 10, 10),
    **pair("chain_10k", chain, 100, 100), "chain_10k_vmap": mapped(chain, 100, 100),
    **pair("chain_1m", chain, 1000, 1000), "chain_1m_vmap": mapped(chain, 1000, 1000),
}
for name, call in CASES.items():
    print(f"{name:<22} {measure(call):10.1f}", flush=True)
