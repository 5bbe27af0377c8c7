"""Writes data/training.pt: for each optimizer, parameters and its state_dict after three steps, and parameters after three more.

    python3 write_training.py     # with PyTorch 2 (the file there is of 2.15)
"""

import os

import torch
import torch.optim as O

torch.set_num_threads(1)

OPTIMIZERS = {
    "SGD": lambda p: O.SGD(p, 0.05, momentum=0.9, weight_decay=0.01),
    "Adam": lambda p: O.Adam(p, 0.05, betas=(0.8, 0.99), amsgrad=True),
    "AdamW": lambda p: O.AdamW(p, 0.05),
    "Adagrad": lambda p: O.Adagrad(p, 0.1, lr_decay=0.1),
    "RMSprop": lambda p: O.RMSprop(p, 0.01, momentum=0.5, centered=True),
    "Adadelta": lambda p: O.Adadelta(p, 0.5),
    "Adamax": lambda p: O.Adamax(p, 0.01),
    "NAdam": lambda p: O.NAdam(p, 0.01),
    "RAdam": lambda p: O.RAdam(p, 0.01),
    "Rprop": lambda p: O.Rprop(p, 0.01),
    "ASGD": lambda p: O.ASGD(p, 0.05),
    "SparseAdam": lambda p: O.SparseAdam(p, 0.05),
}


def train(name):
    table = torch.nn.Embedding(4, 2, sparse=name == "SparseAdam")
    with torch.no_grad():
        table.weight.copy_(torch.arange(8.0).view(4, 2).sin())
    optimizer = OPTIMIZERS[name](table.parameters())

    def steps():
        for i in range(3):
            optimizer.zero_grad()
            (table(torch.tensor([i, 3])).square().sum() + table(torch.tensor([1])).cos().sum()).backward()
            optimizer.step()
        return {n: v.clone() for n, v in table.state_dict().items()}

    weights = steps()
    state = optimizer.state_dict()
    state = {"state": {k: {n: x.clone() if torch.is_tensor(x) else x for n, x in v.items()} for k, v in state["state"].items()},
             "param_groups": state["param_groups"]}
    return {"model": weights, "optimizer": state, "after": steps()}


torch.save(
    {name: train(name) for name in OPTIMIZERS},
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "training.pt"))
