"""Writes calls and what PyTorch gave for them in the format of test/conformance (its README tells it).

Shared by the recorders beside it, which need a python that has torch 2.
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path

import torch

NAMES = {torch.bool: "bool", torch.uint8: "uint8", torch.int8: "int8", torch.int16: "int16", torch.int32: "int32",
         torch.int64: "int64", torch.float16: "float16", torch.bfloat16: "bfloat16", torch.float32: "float32",
         torch.float64: "float64", torch.complex64: "complex64", torch.complex128: "complex128"}
STORED = {"bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "int32": "I32", "int64": "I64", "float16": "F16",
          "bfloat16": "BF16", "float32": "F32", "float64": "F64", "complex64": "C64", "complex128": "C128"}
TOLERANCE = {torch.float16: 1e-3, torch.bfloat16: 1e-2, torch.float32: 1e-5, torch.complex64: 1e-5}
MEMORY_FORMATS = {torch.contiguous_format: "contiguous", torch.preserve_format: "preserve",
                  torch.channels_last: "channels_last", torch.channels_last_3d: "channels_last_3d"}


class Contents:
    """The contents of tensors by key; equal ones share an entry."""

    def __init__(self) -> None:
        self.keys: dict[tuple[str, bytes], str] = {}

    def of_bytes(self, dtype: str, data: bytes) -> str:
        return self.keys.setdefault((dtype, data), str(len(self.keys)))

    def of(self, t: torch.Tensor) -> str:
        """Row-major values."""
        flat = t.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format).reshape(-1)
        return self.of_bytes(NAMES[t.dtype], flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b"")

    def of_storage(self, t: torch.Tensor) -> str:
        """All elements of the storage."""
        return self.of(torch.empty(0, dtype=t.dtype).set_(t.untyped_storage()))

    def write(self, path: str) -> None:
        header, data, offset = {}, [], 0
        for (dtype, blob), key in self.keys.items():
            size = torch.empty(0, dtype=next(t for t, name in NAMES.items() if name == dtype)).element_size()
            header[key] = {"dtype": STORED[dtype], "shape": [len(blob) // size], "data_offsets": [offset, offset + len(blob)]}
            data.append(blob)
            offset += len(blob)
        head = json.dumps(header, separators=(",", ":")).encode()
        head += b" " * (-len(head) % 8)
        with open(path, "wb") as f:
            f.write(struct.pack("<Q", len(head)) + head + b"".join(data))


def write_lines(path: str, cases: list[dict]) -> None:
    with open(path, "w") as f:
        f.writelines(json.dumps(case, separators=(",", ":")) + "\n" for case in cases)


def described(t: torch.Tensor) -> dict:
    """Dtype, sizes and, unless they are those of a new tensor, strides."""
    item = {"d": NAMES[t.dtype], "s": list(t.shape)}
    if not t.is_contiguous() or (t.numel() == 0 and t.stride() != torch.empty(t.shape, device="meta").stride()):
        item["st"] = list(t.stride())
    return item


def tagged_float(v: float) -> object:
    return v if math.isfinite(v) else "nan" if math.isnan(v) else "inf" if v > 0 else "-inf"


def tagged_scalar(v: object) -> dict:
    if isinstance(v, bool):
        return {"b": v}
    if isinstance(v, int):
        return {"i": v}
    if isinstance(v, complex):
        return {"c": [tagged_float(v.real), tagged_float(v.imag)]}
    return {"f": tagged_float(float(v))}


def tagged_plain(v: object) -> dict | None:
    """A value that is neither a tensor nor a list of tensors."""
    if v is None:
        return None
    if isinstance(v, torch.dtype):
        return {"dtype": NAMES[v]}
    if isinstance(v, torch.memory_format):
        return {"mf": MEMORY_FORMATS[v]}
    if isinstance(v, torch.layout):
        return {"layout": str(v).removeprefix("torch.")}
    if isinstance(v, torch.device):
        return {"device": str(v)}
    if isinstance(v, str):
        return {"s": v}
    if isinstance(v, (list, tuple)):
        if v and isinstance(v[0], bool):
            return {"bl": list(v)}
        if any(isinstance(x, float) for x in v):
            return {"fl": [tagged_float(float(x)) for x in v]}
        return {"il": [int(x) for x in v]}
    return tagged_scalar(v)


def stored_tensor(spec: dict, data: dict, made: list) -> torch.Tensor:
    dtype = next(t for t, n in NAMES.items() if n == spec["d"])
    if "a" in spec:
        flat = torch.empty(0, dtype=dtype).set_(made[spec["a"]].untyped_storage())
    else:
        blob = data[spec["b"]]
        flat = torch.frombuffer(bytearray(blob), dtype=dtype) if blob else torch.empty(0, dtype=dtype)
    strides = spec.get("st")
    if strides is None:
        strides = torch.empty(spec["s"], device="meta").stride()
    t = flat.as_strided(spec["s"], strides, spec.get("o", 0))
    if spec.get("conj"):
        t = torch._conj(t)
    return torch._neg_view(t) if spec.get("neg") else t


def stored_value(v, tensors: list):
    if v is None:
        return None
    (tag, x), = v.items()
    number = lambda n: float(n) if isinstance(n, str) else n  # noqa: E731
    if tag == "t":
        return tensors[x]
    if tag == "tl":
        return [None if i is None else tensors[i] for i in x]
    if tag == "w":
        return stored_value(x, tensors)
    if tag == "f":
        return float(x)
    if tag == "c":
        return complex(number(x[0]), number(x[1]))
    if tag == "fl":
        return [float(n) for n in x]
    if tag == "sl":
        return [stored_value(n, tensors) for n in x]
    if tag == "dtype":
        return next(t for t, n in NAMES.items() if n == x)
    if tag == "layout":
        return getattr(torch, x)
    if tag == "mf":
        return next(f for f, n in MEMORY_FORMATS.items() if n == x)
    if tag == "device":
        return torch.device(x)
    return x


def stored_calls(path: Path, longest: int):
    """The recorded calls without writes of a file, with their tensors; those with longer lines are left out."""
    blob = path.with_suffix(".safetensors").read_bytes()
    size = int.from_bytes(blob[:8], "little")
    header = json.loads(blob[8: 8 + size])
    data = {k: blob[8 + size + e["data_offsets"][0]: 8 + size + e["data_offsets"][1]] for k, e in header.items() if k != "__metadata__"}
    for line in path.read_text().splitlines():
        case = json.loads(line)
        if case["kind"] != "forward" or len(line) > longest:
            continue
        made: list[torch.Tensor] = []
        for spec in case["tensors"]:
            made.append(stored_tensor(spec, data, made))
        yield case, made
