#!/usr/bin/python3
"""Draws a run's training loss over charged time as SVG, for README and reports.

    plot_run.py RUN_FOLDER OUT.svg

Reads log.jsonl and result.json of the run folder; standard library only.
"""
import json
import pathlib
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 300, 56, 16, 34, 40
INK, LINE, FAINT = "#444", "#2563a8", "#ddd"


def read_steps(run):
    rows = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == "step"]


def smooth(values):
    """The mean of each step and its neighbours, a fortieth of the run on either side: single steps are noisy."""
    reach = max(1, len(values) // 40)
    windows = (values[max(0, i - reach):i + reach + 1] for i in range(len(values)))
    return [sum(window) / len(window) for window in windows]


def ticks(low, high, count):
    """Round numbers inside [low, high], about `count` of them."""
    raw = (high - low) / count
    power = 10 ** len(str(int(raw))) / 10 if raw >= 1 else 0.1
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    first = int(low / step + 0.999) * step
    return [first + i * step for i in range(int((high - first) / step) + 1)]


def draw(steps, result):
    seconds = [row["charged"] for row in steps]
    raw = [row["loss"] for row in steps]
    mean = smooth(raw)
    x_high, y_low, y_high = max(result["budget_seconds"], seconds[-1]), min(raw), max(raw)

    def x(value):
        return LEFT + value / x_high * (WIDTH - LEFT - RIGHT)

    def y(value):
        return TOP + (y_high - value) / (y_high - y_low or 1) * (HEIGHT - TOP - BOTTOM)

    def path(values):
        return " ".join(f"{x(s):.1f},{y(v):.1f}" for s, v in zip(seconds, values))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" fill="{INK}">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for value in ticks(y_low, y_high, 5):
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="{FAINT}"/>'
                     f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in ticks(0, x_high, 6):
        parts.append(f'<text x="{x(value):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{value:g} s</text>')
    parts.append(f'<polyline points="{path(raw)}" fill="none" stroke="{LINE}" stroke-opacity="0.25"/>')
    parts.append(f'<polyline points="{path(mean)}" fill="none" stroke="{LINE}" stroke-width="2"/>')
    score = f', val_bpb {result["bpb"]["val_bpb"]:.3f}' if "bpb" in result else ""
    parts.append(f'<text x="{LEFT}" y="20" font-size="14">training loss, nats per token '
                 f'({result["parameters"] / 1e6:.1f}M parameters, {result["tokens"] / 1e3:.0f}K tokens{score})</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">seconds charged</text></svg>')
    return "\n".join(parts) + "\n"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    run = pathlib.Path(sys.argv[1])
    steps = read_steps(run)
    if not steps:
        sys.exit(f"{run}/log.jsonl has no steps")
    pathlib.Path(sys.argv[2]).write_text(draw(steps, json.loads((run / "result.json").read_text())))


if __name__ == "__main__":
    main()
