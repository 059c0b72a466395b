"""Runs items in processes of their own, some at a time, each with its time, memory and scratch folder."""
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from nki._suite import outcome
from nki._suite.rows import Row, row_of

_UNCHECKED = {"NKI_CHECK_UNINITIALIZED": "0"}  # nki/_run.py


class Options:
    """What holds for all rows."""

    def __init__(self, root, expect, timeout, memory, machine):
        self.root, self.expect = os.path.abspath(root), expect
        self.timeout, self.memory, self.machine = timeout, memory, machine


class Process:
    """One item at work. `first`: the rows of an earlier process, of which some read what nothing wrote; this one runs it
    again and lets it."""

    def __init__(self, item, options, first=None):
        self.item, self.options, self.first = item, options, first
        entry = item.entry
        self.timeout = entry.get("timeout", options.timeout)
        self.memory = entry.get("memory", options.memory)
        self.scratch = tempfile.mkdtemp(prefix="wt_suite_")
        self.out = os.path.join(self.scratch, "rows.jsonl")
        self.log = open(os.path.join(self.scratch, "log.txt"), "w+", encoding="utf-8", errors="replace")
        self.start = time.monotonic()
        work = os.path.join(self.scratch, "work")
        os.mkdir(work)
        self.process = subprocess.Popen([sys.executable, "-B", "-m", "nki._suite.child"], stdin=subprocess.PIPE, cwd=work,
                                        env=self._environment(work), stdout=self.log, stderr=subprocess.STDOUT,
                                        start_new_session=True, text=True)
        try:
            json.dump(self._request(), self.process.stdin)
            self.process.stdin.close()
        except BrokenPipeError:
            pass

    def _environment(self, work):
        entry, environment = self.item.entry, dict(os.environ)
        environment.update(PYTHONDONTWRITEBYTECODE="1", HOME=work, TMPDIR=work, OMP_NUM_THREADS="1",
                           OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1", MPLCONFIGDIR=work, PYTHONHASHSEED="0",
                           PYTHONFAULTHANDLER="1")
        environment["NEURON_PLATFORM_TARGET_OVERRIDE"] = entry.get("machine", self.options.machine)
        environment.update({**self.options.expect.suite.get("env", {}), **entry.get("env", {})})
        if self.first is not None:
            environment.update(_UNCHECKED)
        return environment

    def _request(self):
        item, options = self.item, self.options
        suite = options.expect.suite
        return {"root": options.root, "file": item.file, "name": item.name, "kind": item.kind, "entry": item.entry,
                "checks": self._checks(), "env": {}, "paths": suite.get("paths", []), "pytest": suite.get("pytest", []),
                "memory": self.memory, "out": self.out, "expect": options.expect.path,
                "expect_folder": options.expect.folder}

    def _checks(self):
        """Whether a script compares values itself; it is cheaper to read here than there."""
        if self.item.kind != "script":
            return False
        import ast
        from nki._suite import blocks
        try:
            with open(os.path.join(self.options.root, self.item.file), encoding="utf-8") as file:
                return blocks.checks(ast.parse(file.read()))
        except (OSError, SyntaxError, ValueError):
            return False

    def poll(self):
        """The rows, once it has ended or its time is up; else None."""
        if self.process.poll() is None:
            if time.monotonic() - self.start < self.timeout:
                return None
            self.stop()
            rows = self._rows() + [self._row("timeout", f"after {self.timeout:g} s")]
        else:
            rows = self._rows() or [self._died()]
            if self.process.returncode and len(rows) and rows[-1].status not in ("crashed", "memory"):
                rows.append(self._died())
        self._clean()
        return rows

    def stop(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def abandon(self):
        self.stop()
        self._clean()

    def _clean(self):
        try:  # what it started itself
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.log.close()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _rows(self):
        try:
            with open(self.out, encoding="utf-8") as file:
                return [row_of(json.loads(line)) for line in file if line.endswith("\n")]
        except OSError:
            return []

    def _row(self, status, reason):
        item = self.item
        return Row(item.file, item.name, item.kind, status, reason, round(time.monotonic() - self.start, 2))

    def _died(self):
        code, log = self.process.returncode, self._log_text()
        if "MemoryError" in log or "bad_alloc" in log:
            return self._row("memory", f"more than {self.memory} MB")
        if code < 0:
            return self._row("crashed", f"by {signal.Signals(-code).name}")
        last = log.strip().splitlines()[-1:] or ["nothing was printed"]
        return self._row("crashed", f"exit code {code}: {last[0][:200]}")

    def _log_text(self):
        self.log.flush()
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - 20000))
        return self.log.read()


def forgiven(first, again):
    """The rows of a first process, of which those pass that were only refused for reading what nothing wrote and whose
    values are right when it is let."""
    right = {row.key: row for row in again if row.status == "passed"}
    rows = []
    for row in first:
        if outcome.is_unwritten_read(row.reason) and row.key in right:
            where = outcome.place_of(row.reason)
            row = dataclasses.replace(right[row.key], reason="reads what nothing wrote" + (f" ({where})" if where else ""))
        rows.append(row)
    return rows


def run(items, options, jobs, on_rows, on_tick):
    """Runs all items; `on_rows(item, rows)` as they are done, `on_tick(running)` ten times a second. Whatever ends it
    early ends what is running too."""
    waiting, running = list(reversed(items)), []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(Process(waiting.pop(), options))
            time.sleep(0.02)
            for process in list(running):
                rows = process.poll()
                if rows is None:
                    continue
                running.remove(process)
                if process.first is None and any(outcome.is_unwritten_read(row.reason) for row in rows):
                    running.append(Process(process.item, options, rows))
                else:
                    on_rows(process.item, forgiven(process.first, rows) if process.first else rows)
            on_tick(running)
    finally:
        for process in running:
            process.abandon()
