#!/usr/bin/python3
"""Rewrites the tables of docs/PERFORMANCE.md from what the programs in bench/ print.

    write_performance.py --run [NAME...]   runs the programs (all, or those named), then rewrites
    write_performance.py                   rewrites from what was printed last time

What a program prints is kept as build/bench/NAME.CASE.out. JSON becomes a table: an object is a row
and its plain fields the columns, {"rows": [...]} is several rows, Google Benchmark's format is known;
text is shown as it is. Tables of programs that have not run stay as they are.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "PERFORMANCE.md"
RESULTS = ROOT / "build" / "bench"
BIN = "build/release/bench"
TRAIN = f"{BIN}/train_bench --profile --threads 2 --rows 8 --context 1024"
# Real text: encoding made-up words is easier.
TEXT = next((p for p in ("../shared/corpus/books",) if (ROOT / p).is_dir()),
            "cache/corpora/prose-v1/prose-v1.jsonl")
# Table: {case: command as typed in the repository's folder}.
PROGRAMS = {
    "train_bench": {
        "baseline": f"{TRAIN} --depth 10 --width 640 --head-dim 128 --steps 1 --warmup 0",
        "nano": f"{TRAIN} --depth 6 --width 192 --head-dim 64",
    },
    "compare_torch": {
        "nano": "/usr/bin/python3 bench/compare_torch.py --cases nano --rounds 1 --steps 2 --torch-steps 1",
        "baseline": "/usr/bin/python3 bench/compare_torch.py --cases baseline --precisions f32 --rounds 1"
                    " --steps 1 --torch-steps 1",
    },
    "matmul_bench": {"": f"{BIN}/matmul_bench --threads 2"},
    "pointwise_bench": {"": f"{BIN}/pointwise_bench --benchmark_format=json --benchmark_min_time=0.1"},
    "tokenizer_bench": {"": f"{BIN}/tokenizer_bench {TEXT}"},
    "loader_bench": {"": f"{BIN}/loader_bench --benchmark_format=json --benchmark_min_time=0.2"},
    "compare_numpy": {"": "/usr/bin/python3 bench/compare_numpy.py"},
    "chip_values_bench": {"": f"{BIN}/chip_values_bench --benchmark_format=json --benchmark_min_time=0.1"},
    "chip_search_bench": {"": f"{BIN}/chip_search_bench --benchmark_format=json --benchmark_min_time=0.1"},
    "schedule_bench": {"": f"{BIN}/schedule_bench --benchmark_format=json --benchmark_min_time=0.5"},
    "nki_issue_bench": {"": f"{BIN}/nki_issue_bench"},
    "profile_bench": {"": f"{BIN}/profile_bench"},
}
GOOGLE_KEYS = {"name", "family_index", "per_family_instance_index", "run_name", "run_type",
               "repetitions", "repetition_index", "threads", "iterations", "real_time", "cpu_time",
               "time_unit", "items_per_second", "bytes_per_second", "label"}


def google_rows(benchmarks):
    for b in benchmarks:
        row = {"case": b["name"], "time": f"{number(b['real_time'])} {b['time_unit']}"}
        if "items_per_second" in b:
            row["items/s"] = b["items_per_second"]
        if "bytes_per_second" in b:
            row["MB/s"] = b["bytes_per_second"] / 1e6
        yield row | {key: b[key] for key in b if key not in GOOGLE_KEYS}


def rows_of(result):
    if "benchmarks" in result:
        return list(google_rows(result["benchmarks"]))
    return result["rows"] if "rows" in result else [result]


def number(value):
    """Four significant digits, thousands apart."""
    if isinstance(value, float):
        value = round(value) if abs(value) >= 1000 else float(f"{value:.4g}")
    return f"{value:,}" if isinstance(value, (int, float)) else str(value)


def table(rows):
    rows = [{c: v for c, v in row.items() if not isinstance(v, (dict, list))} for row in rows]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    numeric = {c for c in columns if all(isinstance(r.get(c, 0), (int, float)) for r in rows)}
    lines = ["| " + " | ".join(columns) + " |",
             "|" + "|".join("---:" if c in numeric else "---" for c in columns) + "|"]
    for row in rows:
        cells = [number(row[c]).replace("|", "\\|") if c in row else "" for c in columns]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def machine_of(name):
    """Where a table was made; nothing when nobody wrote it down."""
    file = RESULTS / f"{name}.machine"
    return [file.read_text()] if file.exists() else []


def section(name, outputs, made_on=()):
    """What stands under a heading; `outputs` is {case: what the program printed}."""
    commands = "\n".join(f"$ {PROGRAMS[name][case]}" for case in outputs)
    rows, texts, notes = [], [], []
    for case, output in outputs.items():
        try:
            result = json.loads(output)
        except ValueError:
            texts.append(output.rstrip())
            continue
        found = rows_of(result)
        notes += result.get("notes", [])
        rows += [{"case": case} | row if case else row for row in found]
    shown = "\n".join(["```", commands, *texts, "```"])
    return "\n\n".join([shown] + ([table(rows)] if rows else []) + notes + list(made_on))


def replace(page, marker, text):
    """`page` with what stands between `<!-- marker -->` and the next `<!-- end -->` replaced."""
    pattern = re.compile(rf"(<!-- {re.escape(marker)} -->\n).*?(<!-- end -->)", re.S)
    if not pattern.search(page):
        sys.exit(f"{PAGE.name} has no `<!-- {marker} -->` … `<!-- end -->`")
    return pattern.sub(lambda match: f"{match[1]}{text}\n{match[2]}", page)


def rewrite(page, outputs):
    """`outputs` is {table: {case: output}}."""
    for name, cases in outputs.items():
        page = replace(page, f"table: {name}", section(name, cases, machine_of(name)))
    return page


def machine():
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((l.split(":")[1].strip() for l in lines if l.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0))
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True,
                            capture_output=True).stdout.strip()
    return f"{model}, {cores} cores; {datetime.date.today()}, commit {commit or 'unknown'}."


def result_file(name, case):
    return RESULTS / (f"{name}.{case}.out" if case else f"{name}.out")


def run(name, case, command):
    """Keeps what was printed only when the program succeeded."""
    print(f"$ {command}", flush=True)
    done = subprocess.run(shlex.split(command), cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{name} failed with exit code {done.returncode}; {PAGE.name} is unchanged")
    RESULTS.mkdir(parents=True, exist_ok=True)
    result_file(name, case).write_text(done.stdout)
    (RESULTS / f"{name}.machine").write_text(machine())


def outputs_of(names):
    """{table: {case: output}} of the tables all of whose cases have run."""
    files = {name: {case: result_file(name, case) for case in PROGRAMS[name]} for name in names}
    return {name: {case: file.read_text() for case, file in cases.items()}
            for name, cases in files.items() if all(file.exists() for file in cases.values())}


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
            for case, command in PROGRAMS[name].items():
                run(name, case, command)
    outputs = outputs_of(names)
    PAGE.write_text(rewrite(page, outputs))
    missing = [name for name in names if name not in outputs]
    print(f"{PAGE.relative_to(ROOT)}: {len(outputs)} tables" +
          (f"; no results of {', '.join(missing)}" if missing else ""))


if __name__ == "__main__":
    main()
