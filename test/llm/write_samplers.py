#!/usr/bin/env python3
"""Writes test/llm/data/samplers.safetensors: what transformers' logits processors make of random logits, in the order of its
generate. `options` has a row for each case: repetition_penalty, temperature, top_k, top_p, min_p, typical_p; 1, 1, 0, 1, 0, 1
leave all as it is.
"""

from pathlib import Path

import torch
import transformers as tr
from safetensors.torch import save_file
from transformers import LogitsProcessorList

CASES = [(1, 1, 0, 1, 0, 1), (1.3, 1, 0, 1, 0, 1), (1, 0.6, 0, 1, 0, 1), (1, 1, 5, 1, 0, 1), (1, 1, 0, 0.8, 0, 1),
         (1, 1, 0, 1, 0.1, 1), (1, 1, 0, 1, 0, 0.7), (1.2, 0.8, 20, 0.9, 0.05, 0.9), (0.8, 1.5, 7, 0.95, 0, 0.5)]


def processors(case):
    penalty, temperature, top_k, top_p, min_p, typical_p = case
    chain = LogitsProcessorList()
    if penalty != 1:
        chain.append(tr.RepetitionPenaltyLogitsProcessor(penalty))
    if temperature != 1:
        chain.append(tr.TemperatureLogitsWarper(temperature))
    if top_k:
        chain.append(tr.TopKLogitsWarper(top_k))
    if top_p < 1:
        chain.append(tr.TopPLogitsWarper(top_p))
    if min_p:
        chain.append(tr.MinPLogitsWarper(min_p))
    if typical_p < 1:
        chain.append(tr.TypicalLogitsWarper(typical_p))
    return chain


torch.manual_seed(0)
logits = torch.randn(len(CASES), 48) * 2
context = torch.randint(0, 48, (len(CASES), 9))
probabilities = torch.stack([processors(case)(context[i : i + 1], logits[i : i + 1].clone())[0].softmax(0)
                             for i, case in enumerate(CASES)])
save_file({"options": torch.tensor(CASES, dtype=torch.float64), "logits": logits, "context": context,
           "probabilities": probabilities}, Path(__file__).resolve().parent / "data" / "samplers.safetensors")
print([int((row > 0).sum()) for row in probabilities])
