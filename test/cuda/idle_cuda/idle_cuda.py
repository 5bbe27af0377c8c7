#!/usr/bin/env python3
"""Runs a program with CUDA libraries that do nothing, on one mock device: test/cuda/idle_cuda/idle_cuda.py OUT PROGRAM [ARGUMENT...]

The libraries stand for the runtime, the driver, cuBLAS and cuBLASLt of the toolkit. They are compiled into the folder OUT, and
again when their sources change. Programs of this library and of others that are linked to the real ones run as they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent


def toolkit() -> Path:
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return Path(nvcc).resolve().parents[1]


def exported(library: Path) -> set[str]:
    """The functions that a library defines."""
    lines = subprocess.run(["nm", "-D", "--defined-only", str(library)], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[2].split("@")[0] for line in lines if line.split()[1] == "T"}


def declared(header: Path) -> set[str]:
    """The functions of the driver."""
    return set(re.findall(r"^CUresult CUDAAPI (cu\w+)\(", header.read_text(), re.M))


def link(cuda: Path, out: Path, name: str, source: str, symbols: set[str], options: list[str], others: list[Path]) -> Path:
    """A library with the soname and symbol versions of the real one. Functions that the source does not have get a stub."""
    library = out / name
    inputs = [SOURCES / source, SOURCES / "counts.h", Path(__file__)]
    if library.exists() and all(library.stat().st_mtime > path.stat().st_mtime for path in inputs):
        return library
    flags = ["-std=c++20", "-O2", "-fPIC", "-w", f"-I{cuda / 'include'}", *options]
    object_file = out / f"{name}.o"
    subprocess.run(["g++", *flags, "-c", str(SOURCES / source), "-o", str(object_file)], check=True)
    lines = subprocess.run(["nm", "--defined-only", str(object_file)], check=True, capture_output=True, text=True).stdout.splitlines()
    missing = sorted(symbols - {line.split()[2] for line in lines})
    stubs = out / f"{name}.stubs.c"
    stubs.write_text("int idle_cuda_call(const char*);\n" + "".join(f'int {s}(void) {{ return idle_cuda_call("{s}"); }}\n' for s in missing))
    versions = out / f"{name}.versions"
    versions.write_text(f"{name} {{ global: *; }};\n")
    fresh = out / f"{name}.{os.getpid()}"  # moved into place: another process may be doing the same
    subprocess.run(["g++", "-shared", "-fPIC", "-w", "-o", str(fresh), str(object_file), "-xc", str(stubs), "-xnone", f"-Wl,-soname,{name}",
                    f"-Wl,--version-script={versions}", *map(str, others)], check=True)
    fresh.rename(library)
    return library


def idle_libraries(cuda: Path, out: Path) -> list[Path]:
    out.mkdir(parents=True, exist_ok=True)
    lib = cuda / "lib64"
    runtime = link(cuda, out, "libcudart.so.13", "runtime.cpp", exported(lib / "libcudart.so.13"), [], [])
    return [
        runtime,
        link(cuda, out, "libcuda.so.1", "driver.cpp", declared(cuda / "include/cuda.h"), [], [runtime]),
        link(cuda, out, "libcublas.so.13", "blas.cpp", exported(lib / "libcublas.so.13"), ["-DIDLE_CUBLAS"], [runtime]),
        link(cuda, out, "libcublasLt.so.13", "blas.cpp", exported(lib / "libcublasLt.so.13"), ["-DIDLE_CUBLASLT"], [runtime]),
    ]


def environment(libraries: list[Path]) -> dict[str, str]:
    return {**os.environ, "LD_PRELOAD": ":".join(map(str, libraries)), "OMP_NUM_THREADS": "1"}


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program = sys.argv[2]
    os.execve(program, sys.argv[2:], environment(idle_libraries(toolkit(), Path(sys.argv[1]).resolve())))
