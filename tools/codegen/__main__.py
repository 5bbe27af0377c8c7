"""Generates the operator layer from aten/ops/*.yaml, and the headers that programs include from csrc/api/*.txt.

    python3 tools/codegen --root . --out build/generated

Files are rewritten only when their text changes, so that an edit of one entry
rebuilds a handful of sources.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from api_headers import api_headers  # noqa: E402
from entries import EntryError, load_entries  # noqa: E402
from generate import generated_files  # noqa: E402
from sources import SourceIndex  # noqa: E402


class Writer:
    """Writes files that changed and removes files that are no longer made."""

    def __init__(self, out: Path):
        self.out = out
        self.made: set[Path] = set()

    def write(self, name: str, text: str) -> None:
        path = self.out / name
        self.made.add(path)
        if path.exists() and path.read_text() == text:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prune(self) -> None:
        for path in self.out.rglob("*"):
            if path.is_file() and path not in self.made and path.suffix in (".h", ".cuh", ".cpp", ".inc", ".md", ".cu"):
                path.unlink()


def generate(root: Path, out: Path) -> None:
    entries = load_entries(sorted((root / "aten" / "ops").glob("*.yaml")))
    writer = Writer(out)
    for name, text in generated_files(entries, SourceIndex(root)).items():
        writer.write(name, text)
    for name, text in api_headers(root).items():
        writer.write(f"api/{name}", text)
    writer.prune()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="the source tree")
    parser.add_argument("--out", type=Path, required=True, help="where generated files go")
    args = parser.parse_args()
    try:
        generate(args.root, args.out)
    except EntryError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
