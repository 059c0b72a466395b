#!/usr/bin/python3
"""Rewrites the tables of docs/PERFORMANCE.md from the JSON results of the programs in bench/.

    write_performance.py --run [NAME...]   runs the programs (all, or those named), then rewrites
    write_performance.py                   rewrites from the results that are there

A result is build/bench/NAME.json, the standard output of `NAME --json`: {"rows": [{"column": value,
...}, ...], "notes": ["..."]}, or what Google Benchmark prints. Tables without a result stay as they
are.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "PERFORMANCE.md"
RESULTS = ROOT / "build" / "bench"
PROGRAMS = {  # as typed in the repository's folder
    "train_bench": "build/release/bench/train_bench --json",
    "compare_torch": "bench/compare_torch.py --json",
    "matmul_bench": "build/release/bench/matmul_bench --json",
    "pointwise_bench": "build/release/bench/pointwise_bench --json",
    "tokenizer_bench": "build/release/bench/tokenizer_bench --json",
    "loader_bench": "build/release/bench/loader_bench --json",
}


def run(name, folder=RESULTS):
    """Keeps the result only when the program succeeded and printed JSON."""
    print(f"$ {PROGRAMS[name]}", flush=True)
    done = subprocess.run(PROGRAMS[name].split(), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{name} failed with exit code {done.returncode}; {PAGE.name} is unchanged")
    json.loads(done.stdout)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(done.stdout)


def google_rows(benchmarks):
    for b in benchmarks:
        row = {"case": b["name"], "time": f"{number(b['real_time'])} {b['time_unit']}"}
        if "items_per_second" in b:
            row["items/s"] = b["items_per_second"]
        if "bytes_per_second" in b:
            row["MB/s"] = b["bytes_per_second"] / 1e6
        yield row


def rows_of(result):
    return result["rows"] if "rows" in result else list(google_rows(result["benchmarks"]))


def number(value):
    """Four significant digits, thousands apart."""
    if isinstance(value, float):
        value = round(value) if abs(value) >= 1000 else float(f"{value:.4g}")
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def table(result):
    rows = rows_of(result)
    columns = list(dict.fromkeys(column for row in rows for column in row))
    numeric = {c for c in columns if all(isinstance(r.get(c, 0), (int, float)) for r in rows)}
    lines = ["| " + " | ".join(columns) + " |",
             "|" + "|".join("---:" if c in numeric else "---" for c in columns) + "|"]
    for row in rows:
        cells = [number(row[c]).replace("|", "\\|") if c in row else "" for c in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines + [f"\n{note}" for note in result.get("notes", [])])


def replace(page, marker, text):
    """`page` with what stands between `<!-- marker -->` and the next `<!-- end -->` replaced."""
    pattern = re.compile(rf"(<!-- {re.escape(marker)} -->\n).*?(<!-- end -->)", re.S)
    if not pattern.search(page):
        sys.exit(f"{PAGE.name} has no `<!-- {marker} -->` … `<!-- end -->`")
    return pattern.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page)


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((l.split(":")[1].strip() for l in lines if l.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True,
                            capture_output=True).stdout.strip()
    return f"{model}, {cores} cores; {datetime.date.today()}, commit {commit or 'unknown'}."


def rewrite(page, results):
    """`results` is {name: parsed JSON}."""
    for name, result in results.items():
        command = f"`{PROGRAMS[name]}`"
        page = replace(page, f"table: {name}", f"{command}\n\n{table(result)}\n")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="store_true", help="run the programs first")
    parser.add_argument("names", nargs="*", help=", ".join(PROGRAMS))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in PROGRAMS]
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; known: {', '.join(PROGRAMS)}")
    names = options.names or list(PROGRAMS)
    page = PAGE.read_text()
    if options.run:
        subprocess.run(["cmake", "--build", "--preset", "release"], cwd=ROOT, check=True)
        for name in names:
            run(name)
        page = replace(page, "machine", machine())
    files = {name: RESULTS / f"{name}.json" for name in names}
    results = {n: json.loads(file.read_text()) for n, file in files.items() if file.exists()}
    PAGE.write_text(rewrite(page, results))
    missing = [name for name in names if name not in results]
    print(f"{PAGE.relative_to(ROOT)}: {len(results)} tables" +
          (f"; no results of {', '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
