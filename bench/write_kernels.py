#!/usr/bin/python3
"""Rewrites docs/KERNELS.md: each kernel of kernels/ with its profile on the simulated core.

    bench/write_kernels.py [--check]     --check: fails instead when the page is not what it would write

The text between the tables is written here, beside the shapes it speaks of.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "KERNELS.md"
PROGRAM = ROOT / "build/release/windtunnel"

MATMUL = ["lhsT=2048x2048:bf16", "rhs=2048x2048:bf16"]
ATTENTION = [f"{name}=1x2048x1024:bf16" for name in "qkv"] + ["head_dim=128"]
CHAPTERS = [
    ("A matrix product, four times", """
`kernels/matmul.py` computes the same product under four schedules. Read them in order: each removes what the profile of
the one before shows. The ideal is 2048³ · 2 FLOPs at the array's bf16 rate.
""", [
        ("matmul.py:matmul_tiled", MATMUL),
        ("matmul.py:matmul_hoisted", MATMUL),
        ("matmul.py:matmul_blocked", MATMUL + ["tiles_in_block_m=4", "tiles_in_block_n=4"]),
        ("matmul.py:matmul_blocked_k", MATMUL),
    ]),
    ("Rows: RMSNorm and softmax", """
Both put rows on partitions and make one pass: what would be a second pass over the data is a by-product of the first
(`reduce_res` of an activation). They are bound by HBM.
""", [
        ("rmsnorm.py:rmsnorm", ["x=8192x1024:bf16", "gain=1x1024:f32"]),
        ("softmax.py:softmax", ["x=4096x2048:bf16"]),
    ]),
    ("Flash attention, forward", """
`kernels/attention.py` keeps the scores on chip. Its tensor engine also transposes the probabilities, so it cannot reach
the product's share of peak.
""", [("attention.py:attention", ATTENTION), ("attention.py:attention_bounded", ATTENTION)]),
    ("Cross-entropy with softcap, fused into the head", """
`kernels/cross_entropy.py` never writes logits to HBM. The softcap bounds them, so no running maximum is needed.
""", [("cross_entropy.py:softcap_cross_entropy", ["xT=640x1024:bf16", "w=640x8192:bf16", "target=1024x1:i32"])]),
    ("AdamW", """
`kernels/adamw.py` reads four tensors and writes three, once each.
""", [("adamw.py:adamw", [f"{name}=128x32768:f32" for name in "pgmv"])]),
]

HEAD = """# Worked kernels

<!-- bench/write_kernels.py writes this page -->

Six kernels in plain NKI, each with its NumPy reference beside it. They are the tutorial: run one, look at its profile,
change it. Times are the simulated Trainium2 core's under the tool chain `nki-0.6`; [ACCURACY.md](ACCURACY.md) says how
far to trust them. Check a kernel against its reference, profile it, draw it:

```sh
windtunnel kernel check kernels/softmax.py:softmax --reference softmax_reference --arg x=256x512:f32
windtunnel kernel profile kernels/softmax.py:softmax --arg x=4096x2048:bf16
windtunnel kernel profile kernels/softmax.py:softmax --arg x=4096x2048:bf16 --trace softmax.pftrace  # ui.perfetto.dev
```
"""


def profile(kernel, args):
    words = [str(PROGRAM), "kernel", "profile", f"kernels/{kernel}", "--json", "-"]
    for arg in args:
        words += ["--arg", arg]
    done = subprocess.run(words, cwd=ROOT, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return json.loads(done.stdout)


def row(kernel, result):
    share = {name: f"{100 * engine['share']:.0f} %" for name, engine in result["engines"].items()}
    return (f"| `{kernel.split(':')[1]}` | {result['latency_us']:.1f} | {result['latency_low_us']:.1f} to "
            f"{result['latency_high_us']:.1f} | {100 * result['mfu']:.1f} % | {100 * result['mbu']:.1f} % | "
            f"{share['tensor']} | {share['vector']} | {share['scalar']} | {share['gpsimd']} | {share['dma']} |")


def advice(result):
    lines = []
    for item in result["advice"][:2]:
        at = f"line {item['at']['line']}: " if item["at"] else ""
        lines.append(f"* {at}{item['what']} ({item['gain_us']:.0f} us)")
    return lines


def chapter(title, text, kernels):
    lines = [f"## {title}", text.strip(), "",
             "| kernel | us | band | MFU | MBU | tensor | vector | scalar | gpsimd | DMA |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    results = [(kernel, args, profile(kernel, args)) for kernel, args in kernels]
    lines += [row(kernel, result) for kernel, args, result in results]
    for kernel, args, result in results:
        lines += ["", f"`{kernel.split(':')[1]}` with {', '.join(f'`{arg}`' for arg in args)}; the profile proposes:"]
        lines += advice(result) or ["* nothing that would gain a hundredth"]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = "\n\n".join([HEAD.strip()] + [chapter(*c) for c in CHAPTERS]) + "\n"
    if not options.check:
        PAGE.write_text(page)
    elif PAGE.read_text() != page:
        sys.exit("docs/KERNELS.md is not what the profiles say: run bench/write_kernels.py")


if __name__ == "__main__":
    main()
