#!/usr/bin/env python3
"""Public headers compile alone and together: headers_alone.py COMPILER BUILD_FOLDER [--standards 17 20] [--only TEXT | --entry]

Each header of public_headers.txt is included by a source of its own, twice, which must compile without a warning. Then all of
them are included by two sources, in opposite orders, which are linked to one program with the library: nothing may be defined
twice, and the program must run. Headers of CUDA are left out where the toolkit's are not found in --cuda. With --entry the few
headers that programs begin with compile alone, which takes seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("public_headers.txt")
CUDA_HEADING = "# With the CUDA toolkit"
ENTRY = ["ATen/ATen.h", "torch/all.h", "torch/custom_class.h", "torch/distributed.h", "torch/extension.h", "torch/library.h", "torch/llm.h",
    "torch/script.h"]


def read_list(with_cuda: bool) -> list[str]:
    plain, cuda = LIST.read_text().split(CUDA_HEADING)
    lines = (plain + (cuda.partition("\n")[2] if with_cuda else "")).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def run(command: list[str]) -> str:
    """What a command that fails says, else nothing."""
    done = subprocess.run(command, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr or f"exit status {done.returncode}"


def first_error(text: str) -> str:
    lines = text.splitlines()
    return next((line for line in lines if "error" in line or "multiple definition" in line), lines[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("compiler")
    parser.add_argument("build", type=Path)
    parser.add_argument("--standards", nargs="+", default=["17"], help="for each header alone; together they are C++20")
    parser.add_argument("--only", default="", help="headers whose names contain this")
    parser.add_argument("--entry", action="store_true", help="only the headers that programs begin with, each alone")
    parser.add_argument("--cuda", type=Path, default=Path("/usr/local/cuda/include"))
    args = parser.parse_args()

    with_cuda = (args.cuda / "cuda_runtime.h").exists()
    headers = ENTRY if args.entry else [header for header in read_list(with_cuda) if args.only in header]
    includes = [f"-I{ROOT}", f"-I{args.build / 'generated/api'}", f"-I{args.build / 'generated/include'}"]
    includes += [f"-isystem{args.cuda}"] if with_cuda else []
    warnings = ["-Wall", "-Wextra", "-Werror"]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def alone(case: tuple[int, str, str]) -> str:
            number, header, standard = case
            source = folder / f"alone_{number}.cpp"
            source.write_text(f"#include <{header}>\n#include <{header}>\n")
            return run([args.compiler, f"-std=c++{standard}", "-fsyntax-only", *warnings, *includes, str(source)])

        def together(case: tuple[str, list[str], str]) -> str:
            file, order, body = case
            (folder / f"{file}.cpp").write_text("".join(f"#include <{header}>\n" for header in order) + body)
            return run([args.compiler, "-std=c++20", *warnings, *includes, "-c", str(folder / f"{file}.cpp"), "-o", str(folder / f"{file}.o")])

        cases = [(i, header, standard) for standard in args.standards for i, header in enumerate(headers)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            findings = [(f"<{header}> alone, C++{standard}", text) for (_, header, standard), text in zip(cases, pool.map(alone, cases))]
            pairs = [] if args.entry else [("first", headers, "#include <torch/torch.h>\nint main() { return torch::ones({2}).sum().item<int>() - 2; }\n"), ("second", headers[::-1], "")]
            findings += [(f"all, {file} source", text) for (file, *_), text in zip(pairs, pool.map(together, pairs))]
        if pairs and not any(text for _, text in findings):
            program = str(folder / "program")
            link = [args.compiler, str(folder / "first.o"), str(folder / "second.o"), f"-L{args.build}", "-ltensor", "-lfmt",
                f"-Wl,-rpath,{args.build}", "-o", program]
            findings.append(("linking the two sources", run(link) or run([program])))

    for what, text in findings:
        if text:
            print(f"{what}: {first_error(text)}")
    failed = sum(bool(text) for _, text in findings)
    print(f"{len(headers)} headers, {failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
