"""The cases of transforms.cpp with PyTorch: name and nanoseconds of processor time each, for tools/bench/compare."""

import statistics
import time

import torch
from torch import nn
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


def forward(width, with_tangent):
    a, x, v = (torch.randn(width, width) for _ in range(3))
    f = lambda t: a.mm(t.mm(a).tanh()).sigmoid()
    return (lambda: jvp(f, (x,), (v,))) if with_tangent else (lambda: f(x))


def chain(rows, columns, mapped):
    x = torch.randn(rows, columns)
    f = lambda t: (t.sin() * t + 1).exp().mul(t).sub(t).relu()
    return (lambda: vmap(f)(x)) if mapped else (lambda: f(x))


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
    "forward_large": forward(256, False), "jvp_large": forward(256, True),
    "chain_large": chain(64, 4096, False), "vmap_chain_large": chain(64, 4096, True),
    "vmap_chain_small": chain(4, 8, True),
}
for name, call in CASES.items():
    print(f"{name:<22} {measure(call):10.1f}", flush=True)
