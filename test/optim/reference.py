"""Writes expected_steps.cpp, expected_sparse.cpp and expected_rates.cpp: what PyTorch's optimizers and schedulers do.

    python3 reference.py     # with PyTorch 2 (the values here are of 2.15)
"""

import sys

import torch
import torch.optim as O
from torch.optim import lr_scheduler as S
from torch.optim.swa_utils import SWALR

torch.set_num_threads(1)

# A line search of libtorch's takes up to 25 rounds; Python's also ends where max_eval is reached.
LBFGS = sys.modules["torch.optim.lbfgs"]
search = LBFGS._strong_wolfe
LBFGS._strong_wolfe = lambda *values, max_ls: search(*values)


def parameters(dtype):
    a = torch.linspace(-1, 1, 6, dtype=torch.float64).view(2, 3).to(dtype)
    b = torch.linspace(0.5, 2, 3, dtype=torch.float64).to(dtype)
    return [a.requires_grad_(), b.requires_grad_()]


def loss(params):
    """Squares of a linear map, and a bowl with ripples."""
    a, b = params
    x = torch.linspace(-1, 1, 12, dtype=torch.float64).view(3, 4).to(a.dtype)
    y = torch.linspace(2, -1, 8, dtype=torch.float64).view(2, 4).to(a.dtype)
    return (a.mm(x) - y).square().sum() * 0.25 + b.cos().sum() + b.square().sum() * 0.3


STEPS = {
    "sgd": lambda p: O.SGD(p, 0.05),
    "sgd_decay": lambda p: O.SGD(p, 0.05, weight_decay=0.1),
    "sgd_momentum": lambda p: O.SGD(p, 0.02, momentum=0.9),
    "sgd_dampening": lambda p: O.SGD(p, 0.02, momentum=0.9, dampening=0.3, weight_decay=0.01),
    "sgd_nesterov": lambda p: O.SGD(p, 0.02, momentum=0.9, nesterov=True, weight_decay=0.01),
    "sgd_maximize": lambda p: O.SGD(p, 0.001, momentum=0.5, maximize=True),
    "adam": lambda p: O.Adam(p, 0.05),
    "adam_decay": lambda p: O.Adam(p, 0.05, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1),
    "adam_amsgrad": lambda p: O.Adam(p, 0.05, amsgrad=True, betas=(0.9, 0.9)),
    "adam_maximize": lambda p: O.Adam(p, 0.01, maximize=True),
    "adamw": lambda p: O.AdamW(p, 0.05),
    "adamw_amsgrad": lambda p: O.AdamW(p, 0.05, weight_decay=0.2, amsgrad=True, betas=(0.9, 0.9)),
    "adamw_maximize": lambda p: O.AdamW(p, 0.01, maximize=True),
    "adagrad": lambda p: O.Adagrad(p, 0.2),
    "adagrad_decay": lambda p: O.Adagrad(p, 0.2, lr_decay=0.05, weight_decay=0.1, initial_accumulator_value=0.3),
    "adagrad_maximize": lambda p: O.Adagrad(p, 0.01, maximize=True),
    "rmsprop": lambda p: O.RMSprop(p, 0.02),
    "rmsprop_decay": lambda p: O.RMSprop(p, 0.003, alpha=0.9, eps=1e-4, weight_decay=0.1),
    "rmsprop_momentum": lambda p: O.RMSprop(p, 0.005, momentum=0.8),
    "rmsprop_centered": lambda p: O.RMSprop(p, 0.005, momentum=0.5, centered=True, alpha=0.8, eps=0.01),
    "rmsprop_maximize": lambda p: O.RMSprop(p, 0.005, maximize=True),
    "adadelta": lambda p: O.Adadelta(p, 1.0),
    "adadelta_decay": lambda p: O.Adadelta(p, 0.5, rho=0.8, eps=1e-4, weight_decay=0.1),
    "adadelta_maximize": lambda p: O.Adadelta(p, 1.0, maximize=True),
    "adamax": lambda p: O.Adamax(p, 0.05),
    "adamax_decay": lambda p: O.Adamax(p, 0.05, betas=(0.8, 0.9), eps=1e-4, weight_decay=0.1),
    "adamax_maximize": lambda p: O.Adamax(p, 0.01, maximize=True),
    "nadam": lambda p: O.NAdam(p, 0.05),
    "nadam_decay": lambda p: O.NAdam(p, 0.01, betas=(0.8, 0.95), weight_decay=0.1, momentum_decay=0.02),
    "nadam_decoupled": lambda p: O.NAdam(p, 0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "nadam_maximize": lambda p: O.NAdam(p, 0.01, maximize=True),
    "radam": lambda p: O.RAdam(p, 0.05),
    "radam_decay": lambda p: O.RAdam(p, 0.05, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1),
    "radam_decoupled": lambda p: O.RAdam(p, 0.05, weight_decay=0.1, decoupled_weight_decay=True),
    "radam_maximize": lambda p: O.RAdam(p, 0.01, maximize=True),
    "rprop": lambda p: O.Rprop(p, 0.01, etas=(0.6, 1.3), step_sizes=(1e-3, 0.1)),
    "rprop_maximize": lambda p: O.Rprop(p, 0.001, step_sizes=(1e-6, 0.01), maximize=True),
    "asgd": lambda p: O.ASGD(p, 0.05),
    "asgd_averaging": lambda p: O.ASGD(p, 0.05, lambd=0.01, alpha=0.6, t0=10, weight_decay=0.1),
    "asgd_maximize": lambda p: O.ASGD(p, 0.001, maximize=True),
    "lbfgs": lambda p: O.LBFGS(p, 0.02, max_iter=3, history_size=4),
    "lbfgs_wolfe": lambda p: O.LBFGS(p, 0.5, max_iter=2, history_size=3, tolerance_grad=0, tolerance_change=0,
                                     line_search_fn="strong_wolfe"),
    "lbfgs_search": lambda p: O.LBFGS(p, 40.0, max_iter=1, line_search_fn="strong_wolfe"),
}
COUNTS = {"lbfgs": 5, "lbfgs_wolfe": 5, "lbfgs_search": 2}


def after(name, dtype):
    torch.set_default_dtype(dtype)
    params = parameters(dtype)
    optimizer = STEPS[name](params)
    for group in optimizer.param_groups:
        for key in ("foreach", "fused"):
            if key in group:
                group[key] = False

    def closure():
        optimizer.zero_grad()
        value = loss(params)
        value.backward()
        return value

    for _ in range(COUNTS.get(name, 50)):
        optimizer.step(closure)
    numbers = [float(x) for p in params for x in p.detach().flatten()]
    if name == "asgd_averaging":
        numbers += [float(x) for p in params for x in optimizer.state[p]["ax"].flatten()]
    return numbers


SPARSE = {
    "sparse_adam": lambda p: O.SparseAdam(p, 0.05),
    "sparse_adam_maximize": lambda p: O.SparseAdam(p, 0.01, betas=(0.8, 0.95), eps=1e-4, maximize=True),
    "sgd": lambda p: O.SGD(p, 0.05),
    "sgd_momentum": lambda p: O.SGD(p, 0.02, momentum=0.9),
    "sgd_dampening": lambda p: O.SGD(p, 0.02, momentum=0.8, dampening=0.3, maximize=True),
    "sgd_nesterov": lambda p: O.SGD(p, 0.02, momentum=0.9, nesterov=True),
    "adagrad": lambda p: O.Adagrad(p, 0.2),
    "adagrad_decay": lambda p: O.Adagrad(p, 0.1, lr_decay=0.05, initial_accumulator_value=0.3, maximize=True),
}


def after_sparse(name, dtype):
    """Rows of a table and bags of rows of another, 20 steps."""
    torch.set_default_dtype(dtype)
    table = torch.nn.Embedding(7, 3, sparse=True)
    bags = torch.nn.EmbeddingBag(5, 3, mode="sum", sparse=True)
    with torch.no_grad():
        table.weight.copy_(torch.linspace(-1, 1.1, 21, dtype=torch.float64).view(7, 3))
        bags.weight.copy_(torch.linspace(0.5, -0.7, 15, dtype=torch.float64).view(5, 3))
    optimizer = SPARSE[name]([table.weight, bags.weight])
    for i in range(20):
        optimizer.zero_grad()
        rows = table(torch.tensor([2 * i % 7, (3 * i + 1) % 7, i % 7, 2 * i % 7]))
        sums = bags(torch.tensor([[i % 5, (i + 1) % 5], [2 * i % 5, 3]]))
        (rows.square().sum() * 0.3 + rows.cos().sum() + sums.square().sum() * 0.2 + sums.sin().sum()).backward()
        optimizer.step()
    return [float(x) for p in (table.weight, bags.weight) for x in p.detach().flatten()]


def sgd(groups=2, momentum=0.9):
    params = [torch.zeros(1, requires_grad=True) for _ in range(groups)]
    return O.SGD([{"params": [p], "lr": 0.1 * (i + 1)} for i, p in enumerate(params)], lr=0.1, momentum=momentum)


def plateau_metric(i):
    return 1.0 / (1 + i) if i < 10 else 0.1 + 0.01 * (i % 3)


RATES = {
    "step": lambda o: S.StepLR(o, 7, 0.3),
    "multistep": lambda o: S.MultiStepLR(o, [5, 17, 17, 40], 0.5),
    "exponential": lambda o: S.ExponentialLR(o, 0.95),
    "constant": lambda o: S.ConstantLR(o, 0.25, 9),
    "linear": lambda o: S.LinearLR(o, 0.2, 0.9, 13),
    "polynomial": lambda o: S.PolynomialLR(o, 37, 1.7),
    "cosine": lambda o: S.CosineAnnealingLR(o, 20, 0.01),
    "restarts": lambda o: S.CosineAnnealingWarmRestarts(o, 7, 2, 0.02),
    "lambda": lambda o: S.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)]),
    "multiplicative": lambda o: S.MultiplicativeLR(o, lambda e: 0.97 if e % 2 else 1.01),
    "onecycle": lambda o: S.OneCycleLR(o, [1.0, 0.5], 61),
    "onecycle_linear": lambda o: S.OneCycleLR(o, 1.0, epochs=7, steps_per_epoch=10, pct_start=0.4, anneal_strategy="linear",
                                              div_factor=10.0, final_div_factor=100.0, three_phase=True),
    "cyclic": lambda o: S.CyclicLR(o, 0.01, [0.2, 0.3], 6, 9),
    "cyclic_triangular2": lambda o: S.CyclicLR(o, 0.01, 0.2, 5, mode="triangular2", cycle_momentum=False),
    "cyclic_exp_range": lambda o: S.CyclicLR(o, 0.01, 0.2, 5, mode="exp_range", gamma=0.98),
    "sequential": lambda o: S.SequentialLR(o, [S.LinearLR(o, 0.1, 1.0, 8), S.CosineAnnealingLR(o, 30), S.ConstantLR(o, 0.5, 5)], [8, 30]),
    "chained": lambda o: S.ChainedScheduler([S.ConstantLR(o, 0.1, 6), S.ExponentialLR(o, 0.97), S.MultiStepLR(o, [9, 18, 27], 0.5)], o),
    "plateau": lambda o: S.ReduceLROnPlateau(o, "min", 0.5, 3, cooldown=2, min_lr=[0.01, 0.02]),
    "plateau_max": lambda o: S.ReduceLROnPlateau(o, "max", 0.3, 2, threshold=0.01, threshold_mode="abs"),
    "swalr": lambda o: SWALR(o, [0.05, 0.01], anneal_epochs=12),
    "swalr_linear": lambda o: SWALR(o, 0.05, anneal_epochs=12, anneal_strategy="linear"),
}


def rates(name):
    torch.set_default_dtype(torch.float32)
    optimizer = sgd()
    scheduler = RATES[name](optimizer)
    rows = []
    for i in range(60):
        rows += [g["lr"] for g in optimizer.param_groups]
        if name.startswith("onecycle") or name.startswith("cyclic"):
            rows += [g["momentum"] for g in optimizer.param_groups]
        optimizer.step()
        if name.startswith("plateau"):
            scheduler.step(plateau_metric(i))
        else:
            scheduler.step()
    return rows


def write(path, what, rows):
    with open(path, "w") as out:
        out.write(f"// {what}, of PyTorch {torch.__version__.split('+')[0]}; made by reference.py.\n#include \"test/optim/expected.h\"\n\n")
        out.write("namespace test {\n\n")
        out.write(f"const std::map<std::string, std::vector<double>> {path[:-4]} = {{\n")
        for name, numbers in rows:
            lines, line = [], ""
            for x in numbers:
                if len(line) > 110:
                    lines.append(line)
                    line = ""
                line += f"{x!r}, "
            lines.append(line)
            out.write(f"    {{\"{name}\", {{\n" + "".join(f"      {text.rstrip()}\n" for text in lines) + "    }},\n")
        out.write("};\n\n} // namespace test\n")


import warnings

warnings.simplefilter("ignore")
steps = [(f"{n}/{t}", after(n, d)) for n in STEPS for t, d in (("float64", torch.float64), ("float32", torch.float32))]
write("expected_steps.cpp", "Parameters after 50 steps (fewer of LBFGS)", steps)
sparse = [(f"{n}/{t}", after_sparse(n, d)) for n in SPARSE for t, d in (("float64", torch.float64), ("float32", torch.float32))]
write("expected_sparse.cpp", "Parameters after 20 steps with sparse gradients", sparse)
write("expected_rates.cpp", "Learning rates (and momenta) of 60 steps", [(n, rates(n)) for n in RATES])
