"""Looks through a folder tree for what can be run, by reading: nothing of it is imported here."""
import ast
import os
import re
import warnings

from nki._suite import blocks
from nki._suite.rows import Item

_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "build", "dist", "venv", "site-packages"}
_MOST_BYTES = 4 << 20


def items_of(root):
    """Every Item below the folder, in the order of their files."""
    found = []
    for path in files_of(root):
        name = os.path.relpath(path, root)
        text = _read(path)
        if "nki" not in text:
            continue
        if path.endswith(".rst"):
            if blocks.in_text(text):
                found.append(Item(name, "", "page"))
        else:
            found += items_of_python(name, text)
    return found


def files_of(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in _SKIPPED_FOLDERS)
        for file in sorted(files):
            if file.endswith((".py", ".pyi", ".rst")):
                yield os.path.join(folder, file)


def items_of_python(file, text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return [Item(file, "", "script", getattr(error, "lineno", 0) or 0)] if "nki.jit" in text else []
    examples = [Item(file, block.name, "example", block.line) for block in blocks.in_docstrings(tree)]
    tests = [] if file.endswith(".pyi") else _tests(file, tree)
    if tests or file.endswith(".pyi"):
        return tests + examples
    return _kernels(file, tree) + examples


def _tests(file, tree):
    """unittest's and pytest's: methods test… of Test classes, and functions test_… of files named so."""
    named = re.search(r"(^|/)(test_[^/]*|[^/]*_test)\.py$", file)
    found = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and (_is_test_case(node) or named and node.name.startswith("Test")):
            found += [Item(file, f"{node.name}.{inner.name}", "test", inner.lineno) for inner in node.body
                      if isinstance(inner, ast.FunctionDef) and inner.name.startswith("test")]
        elif named and isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.append(Item(file, node.name, "test", node.lineno))
    return found


def _is_test_case(node):
    return any(ast.unparse(base).split(".")[-1] == "TestCase" for base in node.bases)


def _kernels(file, tree):
    """A script is run as one; of other modules, each kernel."""
    kernels = [node for node in tree.body if isinstance(node, ast.FunctionDef) and blocks.is_kernel(node)]
    main = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    if main and (kernels or "nki" in ast.unparse(main[0])):
        return [Item(file, "__main__", "script", main[0].lineno)] + _named(file, kernels)
    return _named(file, kernels)


def _named(file, kernels):
    return [Item(file, node.name, "kernel", node.lineno) for node in kernels]


def _read(path):
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            return ""
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
