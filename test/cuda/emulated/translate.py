"""Makes ordinary C++ of CUDA kernel sources, for the emulator: translate.py ROOT OUT FILE...

Each `kernel<<<blocks, threads, 0, stream>>>(arguments);` becomes `emulator::launch(blocks, threads, stream, kernel, arguments);`, and
each array of shared memory an emulator::Shared; everything else is left to the emulator's header. Headers keep their path under OUT, so
that they are found before the originals.
"""

import re
import sys
from pathlib import Path

LAUNCH = re.compile(r"([\w:]+(?:<[^;{}()]*?>)?)\s*<<<(.*?), 0, ([\w.>-]+)>>>\((.*?)\);", re.DOTALL)
SHARED = re.compile(r"__shared__ (?:alignas\(16\) )?([\w:]+) (\w+)((?:\[[^\]]*\])+);")


def translate(text: str) -> str:
    # The kernel inside a function: templates are instantiated with the types of its arguments.
    text = LAUNCH.sub(r"::emulator::launch(\2, \3, [=](const auto&... given) { \1(given...); }, \4);", text)
    text = re.sub(r"C10_CUDA_KERNEL_LAUNCH_CHECK\(\);", "", text)
    text = SHARED.sub(r"static ::emulator::Shared<\1\3> \2_shared; auto& \2 = \2_shared.enter();", text)
    assert "__shared__" not in text
    return text


def main() -> None:
    root, out = Path(sys.argv[1]), Path(sys.argv[2])
    for name in sys.argv[3:]:
        path = Path(name)
        target = out / path.relative_to(root)
        target = target if path.suffix in (".cuh", ".h") else target.with_name(path.stem + "_cu.cpp")
        text = f'#line 1 "{path}"\n' + translate(path.read_text())
        if not target.exists() or target.read_text() != text:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)


main()
