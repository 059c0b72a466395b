"""Files of somebody's folder as modules, under the names that they have in their packages."""
import importlib
import importlib.util
import os
import sys

from nki._suite.outcome import Incomplete


def add_paths(root, paths):
    for path in [root, *(os.path.join(root, path) for path in paths)]:
        if os.path.isdir(path) and path not in sys.path:
            sys.path.append(path)


def module_of(root, file):
    """The module of a file below root; `file` may also be the dotted name of a module."""
    if not file.endswith(".py"):
        return importlib.import_module(file)
    path = os.path.join(root, file)
    if not os.path.exists(path):
        raise Incomplete("failed", f"{file}: no such file below the folder")
    folder, name = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    top, dotted = _package_of(folder)
    if top not in sys.path:
        sys.path.insert(0, top)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if dotted:
        return importlib.import_module(f"{dotted}.{name}")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _package_of(folder):
    """The folder above all packages that this one stands in, and its dotted name from there."""
    names = []
    while os.path.exists(os.path.join(folder, "__init__.py")):
        names.insert(0, os.path.basename(folder))
        folder = os.path.dirname(folder)
    return folder, ".".join(names)


def function_of(text, root, expect_folder, default=None):
    """A function by "FILE:NAME"; FILE below the expectations' folder or below root. Without FILE: in `default`."""
    file, _, name = text.rpartition(":")
    module = default
    if file:
        folder = next((f for f in (expect_folder, root) if f and os.path.exists(os.path.join(f, file))), root)
        module = module_of(folder, file)
    value = module
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise Incomplete("failed", f"{text}: no such function")
    return value
