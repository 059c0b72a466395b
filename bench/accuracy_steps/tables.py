"""Tables of docs/ACCURACY.md about steps, and their place in the page."""
import re

import numpy

import model
import rows as recipes
from fits import FITTED, JUDGED


def table(head, lines, right=()):
    out = ["| " + " | ".join(head) + " |",
           "|" + "|".join("---:" if name in right else "---" for name in head) + "|"]
    return "\n".join(out + ["| " + " | ".join(str(cell) for cell in line) + " |" for line in lines])


def percent(error):
    return "" if numpy.isnan(error) else f"{100 * error:+.1f}"


def summary_table(outcome):
    groups = [("A, gold and silver", outcome.pick("A", *JUDGED)), ("A, bronze", outcome.pick("A", "bronze")),
              ("A, gold and silver at head dimension 256 and more",
               outcome.pick("A", *JUDGED) & numpy.array([not row.short for row in outcome.rows])),
              ("A, all in the fit, a straight line", None), ("B, 640-wide stack", outcome.pick("B", *JUDGED))]
    lines = []
    for name, index in groups:
        errors = outcome.straight[outcome.pick("A", *FITTED)] if index is None else outcome.error[index]
        mine = model.summary(errors)
        out = outcome.left_out[index] if index is not None and name[0] == "A" else numpy.array([numpy.nan])
        left = model.summary(out) if not numpy.isnan(out).any() else None
        lines.append([name, mine["rows"], *(f"{mine[k]:.1f}" for k in ("median", "p90", "worst")),
                      *(f"{left[k]:.1f}" if left else "" for k in ("median", "p90", "worst"))])
    head = ["rows of", "n", "median %", "p90 %", "worst %", "shape left out: median %", "p90 % ", "worst % "]
    return table(head, lines, head[1:])


def rows_table(outcome):
    lines = []
    order = sorted(range(len(outcome.rows)), key=lambda i: (outcome.rows[i].team, outcome.rows[i].shape, i))
    for i in order:
        row = outcome.rows[i]
        predicted = row.measured * (1 + outcome.error[i])
        lines.append([row.team, row.shape, f"{int(row.keys['train.tokens_per_step']) // 1024}k", row.name, row.quality,
                      f"{row.measured:.3f}", f"{predicted:.3f}", percent(outcome.error[i]), percent(outcome.left_out[i]), row.why])
    head = ["team", "shape", "tokens", "row", "class", "measured s", "price s", "error %", "left out %", "why not judged"]
    return table(head, lines, ["tokens", "measured s", "price s", "error %", "left out %"])


def constants_table():
    lines = []
    for name, row in model.PRICING["constants"].items():
        kind = f"fitted by {row['rows']}" if row.get("fitted") else row["evidence"]
        lines.append([name, f"{row['value']:g}", f"{row['spread']:g}" if row.get("fitted") else "", row["unit"], kind,
                      row.get("note", "")])
    for name, row in model.ERAS["fitted"].items():
        lines.append([name, f"{row['value']:g}", f"{row['spread']:g}", "", f"fitted by {row['rows']}; enters no price",
                      row["meaning"]])
    return table(["constant", "value", "spread", "unit", "set by", "note"], lines, ["value", "spread"])


def limits_table(held):
    lines = [[limit.what, f"{limit.value:.3g} {limit.unit}".strip(), f"{limit.low:g} to {limit.high:g}", limit.measured,
              "yes" if limit.holds else "**no**"] for limit in held]
    return table(["what", "model", "limit", "measured", "holds"], lines, ["model"])


def medians_table():
    """Medians of the last code, which no constant was fitted to."""
    spec, lines = recipes.ERAS["last_code"], []
    for name, code in spec["codes"].items():
        for count, measured in zip((1, 2, 4), code["measured"]):
            keys = {}
            recipes.apply_keys(keys, recipes.ERAS["steps_by_shape"]["common"] + recipes.ERAS["steps_by_shape"]["reference"]
                               + code["keys"] + [f"train.tokens_per_step={65536 * count}"])
            price = recipes.price(keys)["step_seconds"] / spec["derived_over_median"]
            lines.append([name, count, f"{measured:.4f}", f"{price:.4f}", percent(price / measured - 1)])
    return table(["code", "micro-batches", "median s", "price s", "error %"], lines, ["micro-batches", "median s", "price s", "error %"])


def make(outcome, held):
    return {"step summary": summary_table(outcome), "step limits": limits_table(held), "step constants": constants_table(),
            "steps": rows_table(outcome), "steps of the last code": medians_table()}


def write(path, pages):
    text = path.read_text()
    for name, content in pages.items():
        pattern = re.compile(rf"(<!-- table: {re.escape(name)} -->\n).*?(<!-- end -->)", re.S)
        if not pattern.search(text):
            raise SystemExit(f"{path} has no place for the table `{name}`")
        text = pattern.sub(lambda match, content=content: match[1] + content + "\n" + match[2], text)
    path.write_text(text)
