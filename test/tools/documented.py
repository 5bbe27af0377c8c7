#!/usr/bin/env python3
"""Headers that programs read say what each part is: in the folders below at least 90 % of what is declared has a comment.

    documented.py [--list]      shares by folder; with --list also each declaration that has no comment

Counted are classes, named arguments (TORCH_ARG), functions and public methods. A comment (///) stands above, and above the
first of overloads that follow one another. Not counted: `namespace detail`, overrides, destructors, copies and moves,
constructors without parameters or of options that name their arguments, and aliases, which are documented where they point.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["csrc/nn/functional", "csrc/nn/options", "csrc/optim"]
SHARE = 0.9

CLASS = re.compile(r"(?:struct|class)\s+(?:TORCH_API\s+)?(\w+)[^;]*\{")
ARGUMENT = re.compile(r"TORCH_(?:INDIRECT_)?ARG\(.*\b(\w+)\)")
FUNCTION = re.compile(r"(operator\S+|~?\w+)\s*\(")
SKIPPED = re.compile(r"TORCH_OPTIONS_CTOR|\b(override|final|delete|default|friend|using|typedef|enum|return|static_assert|template)\b|#")


def statements(text: str):
    """(line, comment above, text, depth of braces) of each declaration; bodies of functions are left out."""
    depth, comment, pending, start, body = 0, False, "", 0, None
    for number, raw in enumerate(text.split("\n"), 1):
        stripped = raw.strip()
        if stripped.startswith("///"):
            comment = comment or not pending
            continue
        code = re.sub(r"//.*|/\*.*?\*/", "", stripped)
        if body is None and code and not code.startswith(("#", "template")):
            start = start or number
            pending += " " + code
        opened, closed = code.count("{"), code.count("}")
        begin = depth
        depth += opened - closed
        if body is not None:
            if depth <= body:
                body = None
            continue
        if not pending:
            if not stripped:
                comment = False
            continue
        ends = code.endswith((";", "}", "{", ":"))
        if not ends:
            continue
        scope = re.match(r"\s*(namespace|struct|class|enum|extern)\b", pending)
        yield start, comment, pending.strip(), begin
        if opened > closed and not scope:
            body = begin
        pending, start, comment = "", 0, False


def declarations(path: Path):
    """(line, name, documented) of each declaration that counts."""
    previous = ("", False)
    scopes = []  # [depth, kind, name, whether what follows is public]
    for line, comment, text, depth in statements(path.read_text()):
        while scopes and depth <= scopes[-1][0] and not text.startswith("}"):
            scopes.pop()
        if text.startswith("}"):
            while scopes and depth - 1 < scopes[-1][0] + 1:
                scopes.pop()
            continue
        namespace = re.match(r"namespace\s+([\w:]*)", text)
        if namespace:
            scopes.append([depth, "namespace", namespace.group(1), True])
            continue
        if any(kind == "namespace" and name.split("::")[-1] == "detail" for _, kind, name, _ in scopes):
            continue
        access = re.match(r"(public|protected|private):$", text)
        owner = scopes[-1] if scopes and scopes[-1][1] == "class" else None
        if access:
            if owner:
                owner[3] = access.group(1) == "public"
            continue
        if owner and not owner[3] and not ARGUMENT.match(text):
            continue
        kind = CLASS.match(text)
        if kind:
            yield line, kind.group(1), comment
            scopes.append([depth, "class", kind.group(1), text.startswith("struct")])
            previous = ("", False)
            continue
        argument = ARGUMENT.match(text)
        if argument:
            yield line, f"{owner[2]}::{argument.group(1)}" if owner else argument.group(1), comment
            previous = ("", False)
            continue
        if SKIPPED.search(text.split("(")[0]) or re.search(r"\b(override|final|delete|default)\b[^()]*$", text):
            continue
        function = FUNCTION.search(text)
        if not function or (owner is None and "TORCH_API" not in text and "inline" not in text):
            continue
        name = function.group(1)
        if name.startswith("~") or name == "operator=":
            continue
        if owner and name == owner[2]:
            explains_itself = name.endswith(("Options", "State")) or re.search(r"\(\s*\)|const " + name + r"&|&&", text)
            if explains_itself:
                continue
        documented = comment or previous == (name, True)
        previous = (name, documented)
        yield line, f"{owner[2]}::{name}" if owner else name, documented


def main() -> int:
    failed = False
    for folder in FOLDERS:
        found = [(path, *each) for path in sorted((ROOT / folder).rglob("*.h")) for each in declarations(path)]
        documented = sum(each[3] for each in found)
        print(f"{folder}: {documented} of {len(found)} documented, {100 * documented / len(found):.0f} %")
        failed |= documented < SHARE * len(found)
        if "--list" in sys.argv[1:] or documented < SHARE * len(found):
            for path, line, name, has_comment in found:
                if not has_comment:
                    print(f"  {path.relative_to(ROOT)}:{line}: {name}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
