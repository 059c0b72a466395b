"""What is shown: progress on stderr, the matrix on stdout, or JSON."""
import collections
import dataclasses
import json
import sys
import time

from nki._suite.rows import STATUSES

_DETAILED = ("wrong", "refused", "unsupported", "missing", "failed", "timeout", "memory", "crashed")


class Progress:
    """A line that is redrawn on a terminal; elsewhere a line each five seconds."""

    def __init__(self, total, stream=sys.stderr):
        self.total, self.stream = total, stream
        self.terminal = stream.isatty()
        self.shown_at = time.monotonic() if not self.terminal else 0.0
        self.done, self.counts = 0, collections.Counter()

    def add(self, rows):
        self.done += 1
        self.counts.update(row.status for row in rows)

    def tick(self, running):
        now = time.monotonic()
        if now - self.shown_at < (0.1 if self.terminal else 5):
            return
        self.shown_at = now
        counts = ", ".join(f"{self.counts[status]} {status}" for status in STATUSES if self.counts[status])
        line = f"{self.done} of {self.total}: {counts or 'none done'}"
        if running:
            line += f"; at {max(running, key=lambda p: -p.start).item.key}"
        self.stream.write(f"\r\033[K{line[:150]}" if self.terminal else line[:300] + "\n")
        self.stream.flush()

    def clear(self):
        if self.terminal:
            self.stream.write("\r\033[K")
            self.stream.flush()


def counts_of(rows):
    return collections.Counter(row.status for row in rows)


def print_matrix(folder, rows, unexpected, left):
    kinds = sorted({row.kind for row in rows})
    print(f"{len(rows)} rows of {folder}" + (f"; {left} not run" if left else ""))
    _print_details(rows)
    print(f"\n{'':14}" + "".join(f"{kind:>10}" for kind in kinds) + f"{'all':>10}")
    for status, meaning in STATUSES.items():
        numbers = [sum(row.status == status and row.kind == kind for row in rows) for kind in kinds]
        if any(numbers):
            print(f"{status:14}" + "".join(f"{n or '':>10}" for n in numbers) + f"{sum(numbers):>10}   {meaning}")
    for row, expected in unexpected:
        found = f"{row.status}: {row.reason}" if row.reason else row.status
        print(f"not as expected  {row.key}: {found}; expected {expected}")


def _print_details(rows):
    """Rows that do not work, those with the same reason together."""
    for status in _DETAILED:
        groups = collections.defaultdict(list)
        for row in rows:
            if row.status == status:
                groups[row.reason.rsplit(" (", 1)[0]].append(row)
        if groups:
            print(f"\n{status}: {STATUSES[status]}")
        for same in sorted(groups.values(), key=len, reverse=True):
            names = ", ".join(row.key for row in same[:3]) + (f" and {len(same) - 3} more" if len(same) > 3 else "")
            print(f"  {names}\n      {same[0].reason}")


def print_json(folder, machine, rows, unexpected, left):
    print(json.dumps({"folder": folder, "machine": machine, "counts": dict(counts_of(rows)), "not_run": left,
                      "unexpected": [{"file": row.file, "name": row.name, "status": row.status, "expected": expected}
                                     for row, expected in unexpected],
                      "rows": [dataclasses.asdict(row) for row in rows]}, indent=1))
