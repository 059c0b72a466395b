"""Code blocks of documentation: a docstring's by itself, a page's one after the other."""
import ast
import builtins
import os
import re

import numpy as np

import nki
from nki import isa, language
from nki._suite import blocks, inputs, load
from nki._suite.outcome import Incomplete


def run_example(request, emit):
    """One block of a docstring."""
    with open(os.path.join(request["root"], request["file"]), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for block in blocks.in_docstrings(tree):
        if block.name == request["name"]:
            emit("", run_code(block.code, _names(), request, request["entry"]), "")
            return
    raise Incomplete("failed", "no such block")


def run_page(request, emit, row_entry, on_error):
    """The blocks of a page share names, as somebody who reads it types them."""
    with open(os.path.join(request["root"], request["file"]), encoding="utf-8") as file:
        text = file.read()
    names = _names()
    for block in blocks.in_text(text):
        key = f"{request['file']}:{block.name}"
        try:
            emit(block.name, run_code(block.code, names, request, row_entry(key)), "")
        except Exception as error:  # the next blocks may do without
            on_error(block.name, error)


def _names():
    return {"nki": nki, "nl": language, "nisa": isa, "np": np, "__name__": "block"}


def run_code(code, names, request, entry):
    """Runs it and gives its status. Code that calls instructions itself runs as the body of a kernel."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        raise Incomplete("fragment", f"no Python: {error.msg}, line {error.lineno}") from None

    def find(text):
        return load.function_of(text, request["root"], request["expect_folder"])

    values = inputs.arguments_of(entry, find)
    _check_whole(tree, {**names, **values}, entry)
    as_kernel = entry.get("kernel_mode", _is_body(tree))
    if as_kernel:
        _run_as_kernel(code, names, values, entry)
    else:
        names.update(values)
        exec(entry.get("before", ""), names)
        exec(compile(code, "<block >", "exec"), names)
        exec(entry.get("after", ""), names)
    if "after" in entry or blocks.checks(tree):
        return "passed"
    return "undescribed" if _only_defines(tree) and not as_kernel else "ran"


def _run_as_kernel(code, names, values, entry):
    def kernel(**arguments):
        local = {**names, **arguments}
        exec(entry.get("before", ""), local)
        exec(compile(code, "<block >", "exec"), local)
        kept.update(local)

    kept = {}
    simulated = nki.simulate(kernel)
    (simulated[entry["cores"]] if "cores" in entry else simulated)(**values)
    exec(entry.get("after", ""), kept)


def _is_body(tree):
    """Whether statements outside of functions call instructions, so that they have to be in a kernel."""
    if any(blocks.is_kernel(node) for node in tree.body):
        return False
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            continue
        if any(re.match(r"(nl|nisa|nki\.(language|isa))\.", ast.unparse(call.func))
               for call in ast.walk(node) if isinstance(call, ast.Call)):
            return True
    return False


def _only_defines(tree):
    return all(isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign)) or
               isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in tree.body)


def _check_whole(tree, names, entry):
    """Raises Incomplete when statements outside of functions use names that nobody defines."""
    if "before" in entry:
        return
    defined = set(names) | set(dir(builtins))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree)):
        return
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if used - defined:
        raise Incomplete("fragment", f"uses {', '.join(sorted(used - defined))} of its surroundings")
