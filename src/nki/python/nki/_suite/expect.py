"""The --expect file: kernels with arguments and references, and what is known of rows. docs/SUITE.md has the format."""
import os
import re
import tomllib

from nki._suite.rows import GOOD, STATUSES, Item

_KERNEL_KEYS = {"file", "module", "kernel", "name", "cores", "machine", "args", "inputs", "reference", "check", "rtol",
                "atol", "share", "status", "reason", "why", "timeout", "memory", "env", "seed", "values"}
_ROW_KEYS = {"match", "status", "reason", "why", "timeout", "memory", "env", "machine", "cores", "before", "after", "args",
             "inputs", "kernel_mode", "seed"}
_SUITE_KEYS = {"paths", "exclude", "env", "pytest", "machine", "timeout", "memory", "status"}


class ExpectError(Exception):
    """The file says something that it cannot mean."""


class Expect:
    def __init__(self, path=None):
        self.path = path
        self.folder = os.path.dirname(os.path.abspath(path)) if path else None
        self.suite, self.kernels, self.rows = {}, [], []
        if path:
            self._load()

    def _load(self):
        try:
            with open(self.path, "rb") as file:
                data = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise ExpectError(f"{self.path}: {error}") from None
        unknown = set(data) - {"suite", "kernel", "row"}
        if unknown:
            raise ExpectError(f"{self.path}: {', '.join(sorted(unknown))}; expected [suite], [[kernel]] and [[row]]")
        self.suite = self._checked(data.get("suite", {}), _SUITE_KEYS, "[suite]")
        self.kernels = [self._kernel(entry) for entry in data.get("kernel", [])]
        self.rows = [self._row(entry) for entry in data.get("row", [])]

    def _checked(self, entry, keys, where):
        unknown = sorted(set(entry) - keys)
        if unknown:
            raise ExpectError(f"{self.path}: {where} has {', '.join(unknown)}; expected {', '.join(sorted(keys))}")
        for status in self._statuses(entry):
            if status not in STATUSES:
                raise ExpectError(f"{self.path}: {where}: status {status}; expected one of {', '.join(STATUSES)}")
        return entry

    @staticmethod
    def _statuses(entry):
        status = entry.get("status", [])
        return [status] if isinstance(status, str) else status

    def _kernel(self, entry):
        self._checked(entry, _KERNEL_KEYS, f"[[kernel]] {entry.get('kernel', '')}")
        if not entry.get("kernel") or not (entry.get("file") or entry.get("module")):
            raise ExpectError(f"{self.path}: a [[kernel]] needs kernel, and file or module")
        return entry

    def _row(self, entry):
        self._checked(entry, _ROW_KEYS, f"[[row]] {entry.get('match', '')}")
        try:
            return dict(entry, pattern=re.compile(entry["match"]))
        except (KeyError, re.error) as error:
            raise ExpectError(f"{self.path}: a [[row]] needs match, a regular expression: {error}") from None

    def plan(self, items):
        """The items with what is said of them: described kernels come instead of those found."""
        described = {(self._file(entry), entry["kernel"]) for entry in self.kernels}
        plan = [item for item in items if (item.file, item.name) not in described]
        plan += [Item(self._file(entry), entry.get("name", entry["kernel"]), "kernel", 0, entry) for entry in self.kernels]
        out = [re.compile(text) for text in self.suite.get("exclude", [])]
        plan = [item for item in plan if not any(pattern.search(item.key) for pattern in out)]
        for item in plan:
            if not item.entry:
                item.entry = self.row_entry(item.key)
        return plan

    @staticmethod
    def _file(entry):
        return entry.get("file") or entry["module"]

    def row_entry(self, key):
        for entry in self.rows:
            if entry["pattern"].fullmatch(key):
                return {name: value for name, value in entry.items() if name not in ("match", "pattern")}
        return {}

    def judge(self, row, entry):
        """"" when the row is as expected, else what was expected."""
        entry = entry if "status" in entry else self.row_entry(row.key)
        statuses = self._statuses(entry) or self._statuses(self.suite) or list(GOOD)
        if row.status not in statuses:
            return " or ".join(statuses)
        pattern = entry.get("reason")
        return f"reason {pattern}" if pattern and not re.search(pattern, row.reason) else ""
