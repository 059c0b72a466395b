"""Instructions that return a tile, issued as late as the next one.

The older generation writes `dst[...] = op(...)`: the instruction is called before its destination is known. A call
therefore leaves a Result behind that is not issued yet. Assigned at once, it writes into the destination; when anything
else comes first it gets a tile of its own. The order of instructions stays that of the kernel's text.
"""
import threading

from nki import _core


class _State(threading.local):
    """Of a core's thread: the call that waits, and the run it belongs to (_run.py)."""

    def __init__(self):
        self.waiting = None
        self.run = None


state = _State()


def flush():
    """Issues the call that waits into a tile of its own. Called before every other instruction."""
    waiting = state.waiting
    if waiting is not None:
        waiting.settle()


def defer(result):
    """Leaves `result` waiting for its destination."""
    waiting = state.waiting
    if waiting is not None:
        waiting.settle()
    result.source = _core.source()
    state.waiting = result
    return result


class at_source:
    """Instructions within count as written at `source`, a place in the kernel's text."""

    __slots__ = ("source",)

    def __init__(self, source):
        self.source = source

    def __enter__(self):
        _core.set_source(self.source)

    def __exit__(self, *_):
        _core.set_source(0)
        return False
