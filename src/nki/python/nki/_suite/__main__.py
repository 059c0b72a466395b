"""The command: python3 -m nki._suite DIR …, started by `windtunnel kernel suite`."""
import argparse
import dataclasses
import json
import os
import re
import signal
import sys

from nki._suite import find, pool, report
from nki._suite.expect import Expect, ExpectError
from nki._suite.rows import Row, row_of


def main():
    arguments = _parse()
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        expect = Expect(arguments.expect)
        items = expect.plan(find.items_of(arguments.folder))
        if arguments.only:
            items = [item for item in items if re.search(arguments.only, item.key)]
        if arguments.list:
            return _list(items, arguments.json)
        return Suite(arguments, expect, items).run()
    except (ExpectError, re.error, OSError) as error:
        print(f"windtunnel: {error}", file=sys.stderr)
        return 1


def _parse():
    parser = argparse.ArgumentParser(prog="windtunnel kernel suite")
    parser.add_argument("folder")
    parser.add_argument("--expect")
    parser.add_argument("--results")
    parser.add_argument("--only")
    parser.add_argument("--machine", default=os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE") or "trn2")
    parser.add_argument("--timeout", type=float, default=120)
    parser.add_argument("--memory", type=int, default=4096)
    parser.add_argument("--jobs", type=int, default=0)
    for flag in ("--json", "--list", "--resume"):
        parser.add_argument(flag, action="store_true")
    return parser.parse_args()


def _interrupt(*_):
    raise KeyboardInterrupt


def _list(items, as_json):
    if as_json:
        print(json.dumps([{"file": item.file, "name": item.name, "kind": item.kind} for item in items], indent=1))
    for item in [] if as_json else items:
        print(f"{item.kind:8} {item.key}")
    return 0


class Suite:
    def __init__(self, arguments, expect, items):
        self.arguments, self.expect, self.items = arguments, expect, items
        self.entries = {item.key: item.entry for item in items}
        self.rows = {}  # by item: its rows
        self.file = None

    def run(self):
        arguments = self.arguments
        suite = self.expect.suite
        options = pool.Options(arguments.folder, self.expect, suite.get("timeout", arguments.timeout),
                               suite.get("memory", arguments.memory), suite.get("machine", arguments.machine))
        self._open_results()
        todo = [item for item in self.items if item.key not in self.rows]
        progress = report.Progress(len(todo))

        def on_rows(item, rows):
            self._keep(item, rows)
            progress.add(rows)

        interrupted = False
        try:
            pool.run(todo, options, arguments.jobs or os.cpu_count() or 1, on_rows, progress.tick)
        except KeyboardInterrupt:
            interrupted = True
        progress.clear()
        return self._finish(options.machine, interrupted)

    def _open_results(self):
        """With --resume the file's rows count as done; without, the file begins anew."""
        path = self.arguments.results
        if not path:
            return
        known = {item.key for item in self.items}
        if self.arguments.resume and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    if line.endswith("\n"):
                        done = json.loads(line)
                        if done["item"] in known:
                            self.rows[done["item"]] = [row_of(row) for row in done["rows"]]
        self.file = open(path, "a" if self.arguments.resume else "w", encoding="utf-8")

    def _keep(self, item, rows):
        self.rows[item.key] = rows
        if self.file:
            self.file.write(json.dumps({"item": item.key, "rows": [dataclasses.asdict(row) for row in rows]}) + "\n")
            self.file.flush()

    def _finish(self, machine, interrupted):
        rows = [row for item in self.items for row in self.rows.get(item.key, [])]
        left = len(self.items) - len(self.rows)
        unexpected = self._unexpected(rows, complete=not left) if self.arguments.expect else []
        show = report.print_json if self.arguments.json else None
        folder = os.path.abspath(self.arguments.folder)
        if show:
            show(folder, machine, rows, unexpected, left)
        else:
            report.print_matrix(self.arguments.folder, rows, unexpected, left)
        return 130 if interrupted else 1 if unexpected else 0

    def _unexpected(self, rows, complete):
        """[(row, what was expected)], with rows that the file knows and the folder no longer has."""
        found = []
        for row in rows:
            expected = self.expect.judge(row, self.entries.get(row.key, {}))
            if expected:
                found.append((row, expected))
        if complete and not self.arguments.only:
            for entry in self.expect.rows:
                if not any(entry["pattern"].fullmatch(row.key) for row in rows):
                    gone = Row(entry["match"], "", "row", "gone", "no row matches")
                    found.append((gone, "such a row"))
        return found


if __name__ == "__main__":
    sys.exit(main())
