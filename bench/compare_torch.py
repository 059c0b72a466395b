#!/usr/bin/python3
"""Windtunnel's training step beside PyTorch's (peers/torch_gpt.py), turn by turn on the same processors, as a
Markdown table for docs/PERFORMANCE.md. A ratio of wall clocks means something only on a quiet machine; the
ratio of processor seconds a step holds on a shared one, as both sides sleep while they wait.

    /usr/bin/python3 bench/compare_torch.py --build build/release --cases nano baseline
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CASES = dict(
    nano=dict(depth=6, width=192, head_dim=64, rows=8, context=1024),
    baseline=dict(depth=10, width=640, head_dim=128, rows=4, context=1024),
    tiny=dict(depth=2, width=128, head_dim=64, rows=2, context=256),  # to try the script itself
)
# Threads that wait do not spin: spinning is counted as processor time and starves the other thread
# when the machine is busy.
ENVIRONMENT = {**os.environ, "OMP_WAIT_POLICY": "passive"}


def arguments(shape, steps, threads):
    flags = [f"--{key.replace('_', '-')}={value}" for key, value in shape.items()]
    return [*flags, f"--steps={steps}", "--warmup=1", f"--threads={threads}"]


def run(command):
    print("+ " + " ".join(map(str, command)), file=sys.stderr)
    done = subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def sides(o, shape, precision):
    """The two commands, ours first."""
    common = arguments(shape, o.steps, o.threads) + [f"--matrix={o.matrix}"]
    torch = arguments(shape, o.torch_steps, o.threads) + [f"--matrix={o.matrix}", f"--precision={precision}"]
    ours = [o.build / "bench" / "train_bench", *common, "--json"] + (["--f32"] if precision == "f32" else [])
    return ours, [sys.executable, HERE / "peers" / "torch_gpt.py", *torch]


def compare(o, case, precision):
    results = [[], []]
    for _ in range(o.rounds):
        for side, command in enumerate(sides(o, CASES[case], precision)):
            results[side].append(run(command))
    median = lambda side, key: statistics.median(r[key] for r in results[side])
    ours, torch = ({k: median(s, k) for k in ("tokens_per_second", "cpu_seconds", "peak_resident_bytes")}
                   for s in (0, 1))
    shape = CASES[case]
    return (f"| {case} {results[0][0]['parameters'] / 1e6:.1f}M, {shape['rows']} x {shape['context']} | {precision} "
            f"| {results[0][0]['isa']} | {ours['tokens_per_second']:.0f} | {torch['tokens_per_second']:.0f} "
            f"| {ours['tokens_per_second'] / torch['tokens_per_second']:.1f}x "
            f"| {ours['cpu_seconds']:.2f} | {torch['cpu_seconds']:.2f} "
            f"| {torch['cpu_seconds'] / ours['cpu_seconds']:.1f}x "
            f"| {ours['peak_resident_bytes'] / 2**20:.0f} | {torch['peak_resident_bytes'] / 2**20:.0f} |",
            results[1][0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build" / "release")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["nano", "baseline"])
    parser.add_argument("--precisions", nargs="+", choices=("bf16", "f32"), default=["bf16", "f32"])
    parser.add_argument("--matrix", choices=("muon", "adamw"), default="muon")
    parser.add_argument("--steps", type=int, default=5, help="timed steps of a turn of ours")
    parser.add_argument("--torch-steps", type=int, default=2, help="timed steps of a turn of PyTorch's")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    o = parser.parse_args()
    rows = [compare(o, case, precision) for case in o.cases for precision in o.precisions]
    torch = rows[0][1]
    print(f"PyTorch {torch['torch']} with {torch['blas']}; {o.threads} threads, {o.matrix} for the matrices and AdamW "
          f"for the rest; medians of {o.rounds} turns of {o.steps} and {o.torch_steps} steps after one to warm up.\n")
    print("| model, batch | precision | kernels | tokens/s | PyTorch | ratio | CPU s a step | PyTorch | ratio "
          "| MiB | PyTorch |")
    print("|" + "---|" * 11)
    for row, _ in rows:
        print(row)


if __name__ == "__main__":
    main()
