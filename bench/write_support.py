#!/usr/bin/env python3
"""Rewrites the tables of docs/SUPPORT.md from what `windtunnel kernel suite DIR --json` printed.

  bench/write_support.py 'NAME=REVISION=FILE.json' …

NAME is the corpus as the page calls it (no "="), REVISION the commit that was looked at. Corpora that are not named keep
their rows. Nothing but counts and reasons goes into the page, between its markers.
"""
import collections
import json
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "SUPPORT.md"
COLUMNS = ("passed", "ran", "wrong", "refused", "unsupported", "missing", "failed", "timeout", "memory", "crashed",
           "skipped", "undescribed", "fragment")
SHOWN = ("passed", "ran", "wrong", "refused", "unsupported", "missing")
BROKEN = ("wrong", "refused", "unsupported", "missing", "failed", "timeout", "memory", "crashed")


def row_of(name, revision, result):
    """A line of the table of counts."""
    counts = collections.Counter(row["status"] for row in result["rows"])
    others = ", ".join(f"{counts[status]} {status}" for status in COLUMNS if status not in SHOWN and counts[status])
    cells = [name, f"`{revision[:12]}`", str(len(result["rows"]))] + [str(counts[s] or "") for s in SHOWN] + [others]
    return "| " + " | ".join(cells) + " |"


def reason_of(row):
    """A reason without places and numbers of one row, so that rows of a kind have the same."""
    text = re.sub(r" \((at |line |\S+\.py:)[^()]*\)", "", row["reason"])
    text = re.sub(r" \(at <block >:\d+\)", "", text)
    text = re.sub(r"\d+ of \d+ elements differ.*", "elements differ", text).replace("|", "\\|").strip()
    return text if len(text) <= 160 else text[:160] + "…"


def explanations_of(name, result):
    """Lines of the list of what does not work: status, how many, reason."""
    kinds = collections.Counter((row["status"], reason_of(row)) for row in result["rows"] if row["status"] in BROKEN)
    order = sorted(kinds.items(), key=lambda item: (BROKEN.index(item[0][0]), -item[1], item[0][1]))
    return [f"| {name} | {status} | {count} | {reason} |" for (status, reason), count in order]


def merge(page, marker, lines_by_name):
    """Puts lines between the markers: those of a corpus in the place of its old ones, or at the end."""
    begin, end = f"<!-- {marker} -->\n", f"<!-- /{marker} -->"
    head, rest = page.split(begin)
    body, tail = rest.split(end)
    old = body.splitlines()
    kept = [line for line in old if line.split("|")[1].strip() not in lines_by_name]
    order = list(dict.fromkeys([line.split("|")[1].strip() for line in old[2:]] + list(lines_by_name)))
    new = kept[:2]
    for name in order:
        new += lines_by_name.get(name, [line for line in kept[2:] if line.split("|")[1].strip() == name])
    return head + begin + "\n".join(new) + "\n" + end + tail


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    counts, reasons = {}, {}
    for argument in sys.argv[1:]:
        name, revision, file = argument.split("=", 2)
        result = json.loads(pathlib.Path(file).read_text())
        counts[name] = [row_of(name, revision, result)]
        reasons[name] = explanations_of(name, result)
    page = PAGE.read_text()
    page = merge(page, "counts", counts)
    PAGE.write_text(merge(page, "reasons", reasons))


if __name__ == "__main__":
    main()
