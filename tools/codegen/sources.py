"""Where functions and structs are defined in the source tree: one index for the generator and tools/dev/where."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from entries import Entry

# What hides braces and names that are none: comments, raw strings, strings, characters, directives.
_HIDDEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>[^\s()\\]{0,16})\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|(?<![\w])\'(?:[^\'\\\n]|\\.)+\''
    r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
    re.DOTALL | re.MULTILINE,
)
_STEP = re.compile(r"(?P<namespace>\bnamespace\b(?P<names>[^{};=]*)\{)|(?P<open>\{)|(?P<close>\})|(?P<end>;)")
_BRACE = re.compile(r"[{}]")
_ATTRIBUTE = re.compile(r"\[\[[^\]]*\]\]|\b__\w+__\s*\((?:[^()]|\([^()]*\))*\)|\balignas\s*\([^()]*\)")
_STRUCT = re.compile(r"^(?:template\s*<.*>\s*)?(?:struct|class|union)\s+(?:[A-Z][A-Z0-9_]+\s+)?(?P<name>\w+)(?:\s+final)?\s*(?::[^:].*)?$", re.DOTALL)
_NAMESPACES = ("at::native", "at::native::CPU_CAPABILITY")
_TEMPLATE = re.compile(r"^\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>(?:\s*requires\s+[^{]*?(?=\b(?:void|auto|inline|static|constexpr)\b))?")
_CALLED = re.compile(r"(?P<name>(?:\w+\s*::\s*)*~?\w+)\s*\(")


@dataclass(frozen=True)
class Definition:
    """A function or struct at namespace scope that other sources can name."""

    name: str  # `f`, or `C::f` of a member
    path: str  # in the tree
    line: int
    namespace: str
    head: str  # what stands before the body, on one line
    is_struct: bool = False

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"

    @property
    def is_template(self) -> bool:
        return self.head.startswith("template")

    @property
    def result(self) -> str:
        """The type of what the function returns, without namespaces and spaces."""
        return parameter_type(re.sub(r"^(?:[A-Z0-9_]+\s+)*", "", _TEMPLATE.sub("", self.head[: self.head.index(self.name + "(")]).strip()) + " result")

    @property
    def prototype(self) -> str:
        """The head as a declaration."""
        return f"{self.head};"

    @property
    def parameters(self) -> list[str]:
        """The type of each parameter, as parameter_type() spells it."""
        start = self.head.index("(", self.head.index(self.name.split("::")[-1]))
        return [parameter_type(p) for p in split_top_level(self.head[start + 1 : self.head.rindex(")")])]


def parameter_type(declared: str) -> str:
    """The type of a parameter without namespaces and spaces, so that different spellings of one compare equal."""
    text = re.sub(r"\b(?:at|c10|std)::", "", declared.split("=")[0].strip())
    match = re.fullmatch(r"((?:const\s+)?.*?[\w>&*])(?:\s+|(?<=[&*>])\s*)(?P<name>\w+)", text)
    if match and match[1] != "const":
        text = match[1]
    return re.sub(r"\s", "", text)


def split_top_level(text: str) -> list[str]:
    """Split at commas outside of all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{<") - (c in ")]}>" and text[i - 1 : i] != "-")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    last = text[start:].strip()
    return parts + [last] if last else parts


def without_hidden(text: str) -> str:
    """The text with comments, literals and directives blanked; lines and columns stay."""
    return _HIDDEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _function_name(head: str) -> str | None:
    """The name that a head defines as a function, `C::f` of a member; None for what is no function or cannot be named
    elsewhere."""
    head = _TEMPLATE.sub("", _ATTRIBUTE.sub(" ", head))
    match = _CALLED.search(head)
    if match is None or "operator" in head[: match.end()] or re.search(r"(?<![=!<>])=(?!=)", head[: match.start()]):
        return None
    if re.match(r"(?:inline\s+|constexpr\s+)*static\b", head) or not head[: match.start()].strip():
        return None
    return re.sub(r"\s", "", match["name"])


def definitions_in(text: str, path: str) -> list[Definition]:
    """The functions and structs that a source defines at namespace scope, but for those of unnamed namespaces and static ones."""
    code = without_hidden(text)
    found: list[Definition] = []
    scopes: list[str | None] = []  # names of the namespaces around; None for one without a name
    start = position = 0
    while step := _STEP.search(code, position):
        position = step.end()
        if step["end"]:
            start = position
        elif step["close"]:
            if scopes:
                scopes.pop()
            start = position
        elif step["namespace"]:
            names = step["names"].strip()
            scopes.append(re.sub(r"\binline\b|\[\[.*?\]\]|__attribute__\s*\(\(.*?\)\)\)?|\s", "", names) or None)
            start = position
        else:
            head = code[start : step.start()]
            if head.count("(") != head.count(")"):  # the default of a parameter: `= {}`
                position = _end_of_braces(code, position)
                continue
            if not head.strip():  # extern "C" {
                scopes.append("")
                continue
            position = _end_of_braces(code, position)
            if None not in scopes:
                written = text[start : start + len(head)]
                found += _definition(head, written, code, start, path, "::".join(filter(None, scopes)))
            if not re.match(r"\s*[;,)=]", code[position : position + 40]):
                start = position
    return found


def _end_of_braces(code: str, position: int) -> int:
    """Behind the brace that closes the one before `position`."""
    depth = 1
    for brace in _BRACE.finditer(code, position):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end()
    return len(code)


def _definition(head: str, written: str, code: str, start: int, path: str, namespace: str) -> list[Definition]:
    """`head` stands at `start` in `code`; `written` is the same with comments and literals."""
    line = " ".join(head.split())
    struct = _STRUCT.match(line)
    name = struct["name"] if struct else _function_name(line)
    if not name:
        return []
    short = name.split("::")[-1]
    suffix = "" if struct else r"\s*\("
    place = re.search(rf"(?<!\w){re.escape(short)}{suffix}", head)
    number = code.count("\n", 0, start + (place.start() if place else 0)) + 1
    line = " ".join(re.sub(r"//[^\n]*|/\*.*?\*/|^[ \t]*#[^\n]*", " ", written, flags=re.DOTALL | re.MULTILINE).split())
    line = re.sub(r"(?<=[(<]) | (?=[)>,])", "", line)
    return [Definition(name, path, number, namespace, line, struct is not None)]


class SourceIndex:
    """Definitions by name and by room: what a backend owns of aten/native, wherever its folders are."""

    def __init__(self, root: Path):
        self.root = root

    # ---- what is defined where -------------------------------------------------
    @functools.cache
    def definitions(self, folder: str, *suffixes: str) -> dict[str, list[Definition]]:
        """All definitions in files of a folder with one of the suffixes, by name."""
        result: dict[str, list[Definition]] = {}
        for path in sorted((self.root / folder).rglob("*")):
            if path.suffix in suffixes:
                for definition in definitions_in(path.read_text(), str(path.relative_to(self.root))):
                    result.setdefault(definition.name, []).append(definition)
        return result

    def kernel(self, name: str, backend: str) -> Definition | None:
        """The function that entries mean by a name. `backend` is that of a kernel, or `composite` or `explicit`."""
        found = self.definitions("aten/native", ".cpp", ".cu").get(name, [])
        return next((d for d in found if not d.is_struct and not d.is_template and in_room(d, backend)), None)

    def shape(self, name: str, parameters: list[str]) -> Definition | None:
        """The shape function of that name with such parameters; a template in a header takes any."""
        found = self.definitions("aten/shape", ".cpp", ".h").get(name, [])
        wanted = [parameter_type(p) for p in parameters]
        return next((d for d in found if d.is_template or d.parameters == wanted), None)

    def require_shape(self, name: str, result: str, parameters: list[str], entry: Entry, key: str) -> Definition:
        found = self.shape(name, parameters)
        if found is not None and found.result != parameter_type(result + " result"):
            # Two functions that differ in what they return have one name for the linker.
            raise entry.fail(key, f"{name} of {found.where} returns {found.result}; expected {result}")
        if found is None:
            others = [d.where for d in self.definitions("aten/shape", ".cpp", ".h").get(name, [])]
            wanted = ", ".join(re.sub(r"\bat::", "", p) for p in parameters)
            raise entry.fail(key, f"aten/shape defines no {name}({wanted}); got {', '.join(others) or 'nothing of that name'}")
        return found

    def formulas(self, name: str) -> list[Definition]:
        """The overloads of a helper of derivatives."""
        return self.definitions("autograd/formulas", ".cpp").get(name, [])

    def functor(self, name: str) -> Definition | None:
        return next((d for d in self.definitions("aten/native/pointwise", ".h").get(name, []) if d.is_struct), None)

    # ---- what entries name ----------------------------------------------------
    def require(self, name: str, entry: Entry, key: str, backend: str) -> None:
        """A name that no source defines would only show up as a link error far from the entry."""
        if self.kernel(name, backend) is None:
            raise entry.fail(key, f"no function '{name}' is defined for {backend} in aten/native")

    def path_of(self, name: str, backend: str) -> str | None:
        found = self.kernel(name, backend)
        return found.path if found else None

    def is_isa_kernel(self, name: str) -> bool:
        """Is the function compiled once per instruction set?"""
        found = self.kernel(name, "cpu")
        return found is not None and found.namespace.endswith("::CPU_CAPABILITY")

    def functor_header(self, name: str, entry: Entry) -> str:
        found = self.functor(name)
        if found is None:
            raise entry.fail("kernel", f"no struct '{name}' is defined in aten/native/pointwise/*.h")
        return found.path


def in_room(kernel: Definition, backend: str) -> bool:
    """May it be a kernel of `backend`? Folders named `cuda` belong to a library of their own, which reaches of the other one
    what that exports."""
    if backend != "cuda":
        return kernel.namespace in _NAMESPACES and "cuda" not in Path(kernel.path).parts
    if "cuda" in Path(kernel.path).parts:
        return kernel.namespace in ("at::native", "at::native::cuda")
    return kernel.namespace == "at::native" and kernel.head.startswith("TORCH_API ")

