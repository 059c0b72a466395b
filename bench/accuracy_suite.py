"""Kernels of somebody's folder, as `windtunnel kernel suite --json` predicts them, against a table of measured times.

The table (CSV) has kernel, shape, chip, measured_us, and may have true_time_factor and source. A row of the suite is a
table's kernel when its name, or its file's, is the kernel's name or that name's last word, or its file is named after
kernel and shape; and when the shape fits its inputs (has_shape). Times of one kernel that was measured more than once: their median.
"""
import collections
import csv
import json
import os
import pathlib
import re
import statistics

from accuracy_figures import families, family_line, pairs, rank_correlation, rewrite, table, us

ROOT = pathlib.Path(__file__).resolve().parents[1]
BEGIN = "suite"


def compare(files, times, page):
    """Prints the comparison; with `page` rewrites its table there."""
    path = table_path(times)
    if path is None:
        print("no table of measured times: give --times TABLE.csv; nothing is compared")
        return
    results = [json.loads(pathlib.Path(file).read_text()) for file in files]
    rows = join(results, read_times(path))
    if not rows:
        print(f"no kernel of {', '.join(files)} is in {path}; nothing is compared")
        return
    parts = [table(row_lines(rows)), table(family_line(name, members) for name, members in families(rows).items()),
             table({"figure": k, "value": v} for k, v in summary(rows).items())]
    print("\n\n".join(parts))
    if page is not None:
        page.write_text(rewrite(page.read_text(), {BEGIN: parts[2] + "\n\n" + parts[1]}))


def table_path(times):
    if times:
        return pathlib.Path(times)
    shared = pathlib.Path(os.environ.get("WINDTUNNEL_SHARED", ROOT.parent / "shared"))
    path = shared / "data" / "kernel_timings.csv"
    return path if path.exists() else None


def read_times(path):
    with open(path, encoding="utf-8") as file:
        times = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for time in times:
        time["true_us"] = float(time["measured_us"]) * float(time.get("true_time_factor") or 1)
    return times


def join(results, times):
    """One row a kernel that is in both: family, what was predicted, the median of what was measured."""
    rows = []
    for result in results:
        here = [time for time in times if time["chip"].startswith(result.get("machine", "trn2"))]
        for row in result["rows"]:
            found = [time for time in here if is_named(row, time) and has_shape(row, time)] if row.get("latency_us") else []
            by_kernel = collections.defaultdict(list)
            for time in found:
                by_kernel[time["kernel"], time["shape"]].append(time["true_us"])
            for (kernel, shape), measured in list(by_kernel.items())[:1]:
                true = statistics.median(measured)
                rows.append({"family": shape_family(shape, kernel), "row": kernel, "us": row["latency_us"], "true_us": true,
                             "low": row.get("latency_low_us") or row["latency_us"],
                             "high": row.get("latency_high_us") or row["latency_us"],
                             "error": 100 * (row["latency_us"] / true - 1)})
    return rows


def shape_family(shape, kernel):
    """Variants of one operator at one shape are a family."""
    named = re.match(r"[a-z_]+(?=_[A-Z]\d)", shape)
    return named.group() if named else kernel.split()[0]


def names_of(row):
    return {pathlib.PurePath(row["file"]).stem, re.sub(r"\[.*", "", row["name"])}


def is_named(row, time):
    names = names_of(row)
    last = re.split(r"[ :]", time["kernel"])[-1]
    after_shape = any(name.startswith(time["shape"]) for name in names) and time["shape"].startswith(last + "_")
    return time["kernel"] in names or last in names or after_shape


def has_shape(row, time):
    """Every number of the table's shape is a size of an input, or in the name, or neighbours of one are the other's
    product."""
    if not row.get("shapes"):
        return True
    sizes = {int(n) for name in (row["file"], row["name"]) for n in re.findall(r"\d+", name)}
    for shape in row["shapes"]:
        sizes.update(product for _, _, product in runs(shape))
    numbers = [int(n) for n in re.findall(r"(?<=[A-Z])\d+", time["shape"])]
    known = {i for first, last, product in runs(numbers) if product in sizes for i in range(first, last)}
    return all(i in known or n == 1 for i, n in enumerate(numbers))


def runs(numbers):
    """(first, end, product) of every run of neighbours."""
    for first in range(len(numbers)):
        product = 1
        for last in range(first, len(numbers)):
            product *= numbers[last]
            yield first, last + 1, product


def summary(rows):
    errors = [abs(row["error"]) for row in rows]
    right, count = map(sum, zip(*(pairs(members) for members in families(rows).values())))
    inside = sum(row["low"] <= row["true_us"] <= row["high"] for row in rows)
    return {
        "kernels with a measured time": len(rows),
        "median error": f"{statistics.median(errors):.1f} %",
        "mean error": f"{statistics.mean(errors):.1f} %",
        "rank correlation within a family, mean": f"{rank_mean(rows):.2f}",
        "pairs of a family over 5 % apart, named right": f"{right} of {count}",
        "measured times within the band": f"{inside} of {len(rows)}",
    }


def rank_mean(rows):
    return statistics.mean([rank_correlation(f) for f in families(rows).values() if len(f) > 2] or [0.0])


def row_lines(rows):
    for row in sorted(rows, key=lambda row: -abs(row["error"])):
        inside = row["low"] <= row["true_us"] <= row["high"]
        yield {"kernel": row["row"], "predicted us": us(row["us"]), "measured us": us(row["true_us"]), "error %": row["error"],
               "band us": f"{us(row['low'])} to {us(row['high'])}", "in it": "yes" if inside else "no"}
