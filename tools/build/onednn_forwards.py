#!/usr/bin/env python3
"""Writes a function for each one that oneDNN's C headers declare, which finds it in the library when it is first called.

    onednn_forwards.py INCLUDE_FOLDER OUTPUT

See Note [oneDNN is opened on first use] in aten/native/onednn/library.h.
"""
import re
import sys
from pathlib import Path

HEADERS = ("dnnl.h", "dnnl_common.h")  # version 3 has the second
DECLARATION = re.compile(r"^(\w[\w *]*?)\s*\bDNNL_API\s*(\**)\s*(dnnl_\w+)\(([^;]*)\);", re.M)


def forward(result: str, pointer: str, name: str, parameters: str) -> str:
    parameters = " ".join(parameters.split())
    names = [] if parameters in ("", "void") else [re.findall(r"\w+", one)[-1] for one in parameters.split(",")]
    return f"""{result}{pointer} {name}({parameters}) {{
  static const auto function = reinterpret_cast<decltype(&{name})>(at::native::onednn::find_function("{name}"));
  return function({", ".join(names)});
}}
"""


def main(folder: str, output: str) -> None:
    headers = [path for path in (Path(folder) / "oneapi" / "dnnl" / name for name in HEADERS) if path.exists()]
    text = "\n".join(path.read_text(encoding="utf-8") for path in headers)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    forwards = [forward(*declaration) for declaration in DECLARATION.findall(text)]
    if not forwards:
        sys.exit(f"the headers of oneDNN in {folder} declare no functions")
    Path(output).write_text(
        "// Made by tools/build/onednn_forwards.py.\n"
        "#include <aten/native/onednn/library.h>\n\n#include <dnnl.h>\n\n"
        'extern "C" {\n\n' + "\n".join(forwards) + '\n} // extern "C"\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
