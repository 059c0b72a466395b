"""Code blocks of docstrings and of reStructuredText pages."""
import ast
import dataclasses
import re
import textwrap

_DIRECTIVE = re.compile(r"^(?P<indent>[ \t]*)\.\. (?:code-block|code|sourcecode):: *(?:python|python3|py)[ \t]*$")
_OPTION = re.compile(r"^\s*:[\w-]+:")
_NKI = re.compile(r"\b(nki|nl|nisa|ncc)\b")


@dataclasses.dataclass
class Block:
    name: str  # of the function or class it stands in, and its number there: "dma_copy#1"; of a page: "#3"
    line: int
    code: str


def in_text(text, name="", first_line=1):
    """The blocks of a page or docstring that have to do with NKI, numbered among all that are Python."""
    lines, found, at, number = text.splitlines(), [], 0, 0
    while at < len(lines):
        match = _DIRECTIVE.match(lines[at])
        at += 1
        if not match:
            continue
        body, start, at = _body(lines, at, len(match["indent"].expandtabs()))
        if _NKI.search(body):
            found.append(Block(f"{name}#{number}", first_line + start, body))
        number += 1
    return found


def _body(lines, at, indent):
    """The indented lines that follow a directive, without its options."""
    while at < len(lines) and (_OPTION.match(lines[at])):
        at += 1
    start, end = at, at
    while at < len(lines):
        line = lines[at].expandtabs()
        if line.strip():
            if len(line) - len(line.lstrip()) <= indent:
                break
            end = at + 1
        at += 1
    return textwrap.dedent("\n".join(line.expandtabs() for line in lines[start:end])).strip("\n") + "\n", start, at


def in_docstrings(tree):
    """Those of a parsed module and everything in it."""
    found = []
    for node, name in _documented(tree, ""):
        text = ast.get_docstring(node, clean=True)
        if text and ".. " in text:
            found += in_text(text, name, node.body[0].lineno)
    return found


def _documented(node, prefix):
    if isinstance(node, ast.Module):
        yield node, ""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{prefix}{child.name}"
            yield child, name
            yield from _documented(child, name + ".")
        elif isinstance(child, (ast.If, ast.Try)):
            yield from _documented(child, prefix)


def checks(tree):
    """Whether code compares something: an assertion, or a call of a function that makes one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name.startswith("assert") or name in ("allclose", "array_equal", "check_correctness"):
                return True
    return False


_DECORATORS = ("jit", "trace", "nki_jit", "baremetal", "benchmark", "profile")


def is_kernel(node):
    """Whether a definition has a decorator that makes a kernel: @nki.jit, @nki.jit(…), @nki.baremetal(…), …"""
    for decorator in getattr(node, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        text = ast.unparse(called)
        if text.split(".")[-1] in _DECORATORS and ("nki" in text or "." not in text):
            return True
    return False
