"""What is looked for, and what came of it."""
import dataclasses

# In the order of the printed matrix: status and what it means.
STATUSES = {
    "passed": "ran, and its own checks or its reference agree",
    "ran": "ran to its end; nothing there checks its values",
    "wrong": "ran, and values differ from what its checks or its reference say",
    "refused": "an instruction was refused: not legal on the chip as we know it",
    "unsupported": "needs something that this simulator does not have",
    "missing": "needs a Python module that is not installed",
    "failed": "a Python error of another kind",
    "timeout": "took longer than --timeout",
    "memory": "took more memory than --memory",
    "crashed": "its process died",
    "skipped": "its own test skips it",
    "undescribed": "a kernel with no arguments to run it on; describe it in --expect FILE",
    "fragment": "an example that is no whole program",
}
# A row that nothing is expected of may have these.
GOOD = ("passed", "ran", "skipped", "undescribed", "fragment")


@dataclasses.dataclass
class Item:
    """Something that one process runs: a test, a code block, a page of them, a kernel, a script."""
    file: str  # below the folder
    name: str
    kind: str  # test, example, page, kernel, script
    line: int = 0
    entry: dict = dataclasses.field(default_factory=dict)  # what --expect says about it

    @property
    def key(self):
        return f"{self.file}:{self.name}"


@dataclasses.dataclass
class Row:
    """A line of the matrix."""
    file: str
    name: str
    kind: str
    status: str
    reason: str = ""
    seconds: float = 0.0
    kernels: int = 0
    instructions: int = 0
    latency_us: float | None = None  # of all its kernels together
    latency_low_us: float | None = None  # its band (docs/ACCURACY.md)
    latency_high_us: float | None = None
    shapes: list = dataclasses.field(default_factory=list)  # of the last kernel's arguments

    @property
    def key(self):
        return f"{self.file}:{self.name}"


def row_of(fields):
    names = {field.name for field in dataclasses.fields(Row)}
    return Row(**{name: value for name, value in fields.items() if name in names})
