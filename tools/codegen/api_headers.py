"""The headers that programs include, written from csrc/api/headers.txt."""

from __future__ import annotations

from pathlib import Path

from entries import EntryError

LIST = Path("csrc") / "api" / "headers.txt"


def read_list(text: str) -> dict[str, tuple[list[str], list[str]]]:
    """The comment and the includes of each header.

    An entry is `NAME -> HEADER...`, and goes on in the indented lines below it. Comments directly above it are those of
    its header; those followed by an empty line are for readers of the list.
    """
    headers: dict[str, tuple[list[str], list[str]]] = {}
    comment: list[str] = []
    includes: list[str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            comment.append(line[1:].strip())
        elif line.startswith(" ") and includes is not None:
            includes += line.split()
        elif " ->" in line:
            name, _, rest = line.partition(" ->")
            if name in headers:
                raise EntryError(f"{LIST}:{number}: {name} is listed twice")
            includes = rest.split()
            headers[name] = (comment, includes)
            comment = []
        elif line:
            raise EntryError(f"{LIST}:{number}: '{line}' is not 'NAME -> HEADER...'")
        else:
            comment, includes = [], None
    return headers


def api_headers(root: Path) -> dict[str, str]:
    """The text of each header, by the name that programs include."""
    files: dict[str, str] = {}
    for name, (comment, includes) in read_list((root / LIST).read_text()).items():
        if not includes:
            raise EntryError(f"{LIST}: {name} includes nothing")
        head = "".join(f"// {line}\n" for line in comment)
        files[name] = head + "#pragma once\n\n" + "".join(f"#include <{include}>\n" for include in includes)
    return files
