"""What an exception says about a row: its status, and the reason in a line."""
import os
import sys
import traceback
import unittest

from nki import _core

_OURS = ("nki", "neuronxcc", "nki_cpu_simulator")
_SKIPS = (unittest.SkipTest,)


class WrongValue(AssertionError):
    """A result differs from its reference."""


class Incomplete(Exception):
    """A row that cannot run as it stands; carries its status."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


def classify(error, root):
    """(status, reason) of an exception that a row ended with."""
    status, text = _status(error)
    place = _place(error, root)
    return status, f"{_one_line(text)} ({place})" if place else _one_line(text)


def _status(error):
    if isinstance(error, Incomplete):
        return error.status, str(error)
    if isinstance(error, WrongValue):
        return "wrong", str(error)
    if isinstance(error, _SKIPS) or type(error).__name__ in ("Skipped", "Skip"):
        return "skipped", str(error)
    if isinstance(error, _core.NkiError):
        return ("unsupported" if error.error_class == "unsupported" else "refused"), str(error)
    if isinstance(error, ImportError):
        return _import_status(error)
    if isinstance(error, AttributeError) and _is_ours(getattr(error.obj, "__name__", "")):
        return "unsupported", f"{error.obj.__name__}.{error.name}"
    if isinstance(error, AssertionError):
        return "wrong", str(error) or "its assertion does not hold"
    if isinstance(error, MemoryError):
        return "memory", "MemoryError"
    return "failed", f"{type(error).__name__}: {error}"


def is_unwritten_read(reason):
    """Whether a refusal is only that something is read which nothing wrote."""
    return reason.startswith("[uninitialized] ")


def place_of(reason):
    """The place that a reason ends with, in its parentheses."""
    return reason[reason.rfind(" (") + 2:-1] if reason.endswith(")") else ""


def _import_status(error):
    name = error.name or ""
    if _is_ours(name):
        return "unsupported", str(error) if "cannot import" in str(error) else name
    if isinstance(error, ModuleNotFoundError):
        return "missing", name
    return "missing" if name and "cannot import" not in str(error) else "failed", f"{type(error).__name__}: {error}"


def _is_ours(name):
    return isinstance(name, str) and name.split(".")[0] in _OURS


def _one_line(text):
    lines = [line.strip() for line in str(text).strip().splitlines() if line.strip()]
    line = " ".join(lines[:6])
    return line if len(line) <= 400 else line[:400] + "…"


def _place(error, root):
    """The innermost line of the folder's own files, or of a block of one."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith(root + os.sep):
            place = f"{os.path.relpath(frame.filename, root)}:{frame.lineno}"
        elif frame.filename.startswith("<block "):
            place = f"line {frame.lineno} of the block"
    return place


def report_in_full(error):
    """The traceback into the process's log, for --keep-logs and for people who run the child by hand."""
    traceback.print_exception(error, file=sys.stderr)
