"""What the accuracy pages share: figures over rows with a predicted time `us` and a measured `true_us`, and tables."""
import statistics
import sys

NEAR = 5  # percent of time under which a pair has no faster one


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    for i in order:
        same = [j for j in range(len(values)) if values[j] == values[i]]
        result[i] = mean(order.index(j) for j in same)
    return result


def rank_correlation(rows):
    a, b = ranks([r["us"] for r in rows]), ranks([r["true_us"] for r in rows])
    ma, mb = mean(a), mean(b)
    spread = (sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)) ** 0.5
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / spread if spread else 0.0


def pairs(rows):
    """Of two rows whose times are apart: how often the faster one is named right, and how many there are."""
    right = count = 0
    for i, a in enumerate(rows):
        for b in rows[:i]:
            if max(a["true_us"], b["true_us"]) <= (1 + NEAR / 100) * min(a["true_us"], b["true_us"]):
                continue
            count += 1
            right += (a["us"] - b["us"]) * (a["true_us"] - b["true_us"]) > 0
    return right, count


def families(rows):
    return {name: [r for r in rows if r["family"] == name] for name in dict.fromkeys(r["family"] for r in rows)}


def family_line(name, rows):
    errors = [r["error"] for r in rows]
    right, count = pairs(rows)
    return {"family": name, "rows": len(rows), "bias %": mean(errors),
            "mean error %": f"{mean(map(abs, errors)):.1f}", "median %": f"{statistics.median(map(abs, errors)):.1f}",
            "worst %": max(errors, key=abs), "pairs right": f"{right} of {count}",
            "rank correlation": f"{rank_correlation(rows):.2f}"}


def number(value):
    return f"{value:+.1f}" if isinstance(value, float) else str(value)


def table(lines):
    lines = list(lines)
    if not lines:
        return "none"
    columns = list(lines[0])
    numeric = {c for c in columns if all(str(line[c])[:1] in "+-0123456789" for line in lines)}
    out = ["| " + " | ".join(columns) + " |", "|" + "|".join("---:" if c in numeric else "---" for c in columns) + "|"]
    return "\n".join(out + ["| " + " | ".join(number(line[c]) for c in columns) + " |" for line in lines])


def us(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"


def rewrite(page, parts):
    for name, text in parts.items():
        begin, end = f"<!-- table: {name} -->\n", "<!-- end -->"
        head, found, rest = page.partition(begin)
        if not found or end not in rest:
            sys.exit(f"ACCURACY.md has no `{begin.strip()}` … `{end}`")
        page = head + begin + text + "\n" + rest[rest.index(end):]
    return page
