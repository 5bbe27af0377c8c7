#!/usr/bin/env python3
"""Writes test/llm/data: small models of each family with random weights, and what transformers computes with them.

    pip install torch transformers safetensors; python3 test/llm/write_models.py [NAME...]

Each folder has config.json, model.safetensors (float32) and expected.safetensors: `prompt` and the `logits` of each of its
positions, and the tokens that greedy generation adds to it (`greedy`).
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers as tr
from safetensors.torch import save_file

DATA = Path(__file__).resolve().parent / "data"
SIZES = dict(vocab_size=48, hidden_size=24, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=96)
LLAMA3 = dict(rope_type="llama3", rope_theta=10000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
              original_max_position_embeddings=32)
YARN = dict(rope_type="yarn", rope_theta=10000.0, factor=4.0, original_max_position_embeddings=24)
LINEAR = dict(rope_type="linear", rope_theta=10000.0, factor=2.0)
SIX = dict(head_dim=6, **SIZES)


def phi3_longrope(original: int):
    rope = dict(rope_type="longrope", rope_theta=10000.0, factor=96 / original, short_factor=[1.0, 1.1, 1.3], long_factor=[1.2, 2.5, 7.0])
    return tr.Phi3Config(rope_parameters=rope, original_max_position_embeddings=original, pad_token_id=0, bos_token_id=1,
                         eos_token_id=2, **SIZES)


MODELS = {
    "llama": (tr.LlamaConfig(rope_parameters=LLAMA3, attention_bias=True, mlp_bias=True, **SIX), tr.LlamaForCausalLM),
    "llama_sharded": (tr.LlamaConfig(rope_parameters=LINEAR, tie_word_embeddings=True, **SIX), tr.LlamaForCausalLM),
    "mistral": (tr.MistralConfig(sliding_window=8, **SIX), tr.MistralForCausalLM),
    "qwen2": (tr.Qwen2Config(rope_parameters=YARN, use_sliding_window=True, sliding_window=8, max_window_layers=1, **SIZES),
              tr.Qwen2ForCausalLM),
    "qwen3": (tr.Qwen3Config(**{**SIZES, "head_dim": 8}), tr.Qwen3ForCausalLM),
    "gemma": (tr.GemmaConfig(**SIX), tr.GemmaForCausalLM),
    "gemma2": (tr.Gemma2Config(sliding_window=8, query_pre_attn_scalar=10, attn_logit_softcapping=2.0,
                               final_logit_softcapping=1.0, **SIX), tr.Gemma2ForCausalLM),
    "gemma3": (tr.Gemma3TextConfig(sliding_window=8, query_pre_attn_scalar=10,
                                   layer_types=["sliding_attention", "full_attention"], **SIX), tr.Gemma3ForCausalLM),
    "phi3": (tr.Phi3Config(pad_token_id=0, bos_token_id=1, eos_token_id=2, **SIZES), tr.Phi3ForCausalLM),
    # Sequences within the context of training, and longer ones.
    "phi3_short": (phi3_longrope(40), tr.Phi3ForCausalLM),
    "phi3_long": (phi3_longrope(4), tr.Phi3ForCausalLM),
    "phi": (tr.PhiConfig(partial_rotary_factor=0.667, qk_layernorm=True, **{**SIZES,
                         "num_key_value_heads": 4}), tr.PhiForCausalLM),
    "gpt2": (tr.GPT2Config(vocab_size=48, n_embd=24, n_inner=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=0, eos_token_id=0),
             tr.GPT2LMHeadModel),
    "mixtral": (tr.MixtralConfig(num_local_experts=4, num_experts_per_tok=2, **SIX), tr.MixtralForCausalLM),
    "qwen2_moe": (tr.Qwen2MoeConfig(num_experts=5, num_experts_per_tok=3, moe_intermediate_size=16, mlp_only_layers=[0],
                                    shared_expert_intermediate_size=12, **SIZES), tr.Qwen2MoeForCausalLM),
    "qwen3_moe": (tr.Qwen3MoeConfig(num_experts=4, num_experts_per_tok=2, moe_intermediate_size=16, norm_topk_prob=True,
                                    **{**SIZES, "head_dim": 8}), tr.Qwen3MoeForCausalLM),
}


def randomize(model: torch.nn.Module) -> None:
    """Weights large enough that each part shows in the logits, norms and biases too."""
    for parameter in model.parameters():
        spread = 0.25 if parameter.dim() > 1 else 0.2
        parameter.data += torch.randn_like(parameter) * spread


def write(name: str, config, kind) -> None:
    torch.manual_seed(sum(map(ord, name)))
    config._attn_implementation = "eager"
    model = kind(config).eval()
    randomize(model)
    model.generation_config.eos_token_id = None
    folder = DATA / name
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size="10KB" if name.endswith("sharded") else "5GB")
    (folder / "generation_config.json").unlink()
    prompt = torch.randint(3, 48, (1, 21))
    with torch.no_grad():
        logits = model(prompt, use_cache=False).logits[0]
        greedy = model.generate(prompt[:, :5], max_new_tokens=24, do_sample=False, pad_token_id=0)[0, 5:]
    save_file({"prompt": prompt[0].contiguous(), "logits": logits.contiguous(), "greedy": greedy.contiguous()},
              folder / "expected.safetensors")
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{name}: {size} bytes, logits in [{logits.min():.2f}, {logits.max():.2f}], greedy {greedy.tolist()}")


if __name__ == "__main__":
    for name in sys.argv[1:] or MODELS:
        write(name, *MODELS[name])
