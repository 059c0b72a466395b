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
import tomllib

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
`kernels/attention.py` keeps the scores on chip. `attention` takes any scores: it has a running maximum, and the tensor
engine also transposes the probabilities. `attention_bounded` is for scores that QK norm keeps small: with keys on
partitions nothing is transposed between the products, the sum is one more column of v, and the next scores are made before
these are needed.
""", [("attention.py:attention", ATTENTION), ("attention.py:attention_bounded", ATTENTION)]),
    ("Cross-entropy with softcap, fused into the head", """
`kernels/cross_entropy.py` never writes logits to HBM. The softcap bounds them, so no running maximum is needed.
""", [("cross_entropy.py:softcap_cross_entropy", ["xT=640x1024:bf16", "w=640x8192:bf16", "target=1024x1:i32"])]),
    ("AdamW", """
`kernels/adamw.py` reads four tensors and writes three, once each.
""", [("adamw.py:adamw", [f"{name}=128x32768:f32" for name in "pgmv"])]),
]

# The library: (host ops, kernel, arguments). Sizes are those of one core's share of a step of a 640-wide model, 8 rows of
# 2048 tokens, except where a target names others.
TOKENS, WIDE = "16384x640:bf16", "16384x2560:bf16"
HEADS = "8x2048x640:bf16"
STATE = "2048x4096:f32"
SQUARE = "2048x2048:bf16"
ANGLES = ["cos=2048x64:f32", "sin=2048x64:f32", "head_dim=128"]


def named(names, shape):
    return [f"{name}={shape}" for name in names.split()]


GRADIENT = named("dy q k v y", "1x2048x1024:bf16") + ["log_sum_exp=1x8x2048:f32", "head_dim=128"]
LIBRARY = [
    ("linear", "linear.py:linear", named("x w", SQUARE)),
    ("linear", "linear.py:linear", [f"x={TOKENS}", "w=2560x640:bf16", "kind=relu2"]),
    ("linear_dgrad", "linear.py:linear_dgrad", named("dy w", SQUARE)),
    ("linear_dgrad", "linear.py:linear_dgrad", [f"dy={WIDE}", "w=2560x640:bf16", f"addend={TOKENS}"]),
    ("linear_wgrad", "linear.py:linear_wgrad", named("dy x", SQUARE)),
    ("linear_wgrad", "linear.py:linear_wgrad", [f"dy={WIDE}", f"x={TOKENS}", "dw=2560x640:f32"]),
    ("linear", "linear.py:linear", named("x w", "2048x2048:f32")),
    ("logits", "linear.py:linear", ["x=2048x640:bf16", "w=8192x640:bf16", "softcap=15"]),
    ("attention", "attention.py:attention", ATTENTION),
    ("attention", "attention.py:attention_bounded", ATTENTION),
    ("attention", "attention.py:attention_bounded", ATTENTION + ["window=512"]),
    ("attention_grad", "attention_grad.py:attention_grad", GRADIENT),
    ("rms_norm", "rmsnorm.py:rms_norm", [f"x={TOKENS}"]),
    ("rms_norm", "rmsnorm.py:rms_norm", ["x=16384x2048:bf16"]),
    ("rms_norm_grad", "rmsnorm.py:rms_norm_grad", named("dy x addend", TOKENS)),
    ("rope_norm", "rope.py:rope_norm", [f"x={HEADS}"] + ANGLES),
    ("rope_norm_grad", "rope.py:rope_norm_grad", named("dy x", HEADS) + ANGLES),
    ("activation", "activation.py:activation", [f"x={WIDE}", "kind=relu2"]),
    ("activation", "activation.py:activation", [f"x={WIDE}", "kind=gelu"]),
    ("activation_grad", "activation.py:activation_grad", named("dy x", WIDE) + ["kind=relu2"]),
    ("activation_grad", "activation.py:activation_grad", named("dy x", WIDE) + ["kind=gelu"]),
    ("swiglu", "activation.py:swiglu", named("gate up", WIDE)),
    ("swiglu_grad", "activation.py:swiglu_grad", named("dy gate up", WIDE)),
    ("add", "pointwise.py:add", named("a b", WIDE)),
    ("cast", "pointwise.py:cast", [f"x={STATE}", "like=1x1:bf16"]),
    ("mix", "pointwise.py:mix", named("x x0", WIDE) + named("r z", "1x1:f32")),
    ("mix_grad", "pointwise.py:mix_grad", named("dy x x0 addend", WIDE) + named("r z", "1x1:f32")),
    ("embedding", "embedding.py:embedding", ["ids=16384x1:i32", "table=8192x640:f32", "like=1x1:bf16"]),
    ("embedding_grad", "embedding.py:embedding_grad", [f"dy={TOKENS}", "ids=16384x1:i32", "d_table=8192x640:f32"]),
    ("causal_conv", "conv.py:causal_conv", [f"x={HEADS}", "w=4x640:f32"]),
    ("causal_conv_grad", "conv.py:causal_conv_grad", named("dy x", HEADS) + ["w=4x640:f32"]),
    ("smear", "gate.py:smear", [f"x={HEADS}", "g=8x2048x1:bf16", "scale=1x1:f32"]),
    ("smear_grad", "gate.py:smear_grad", named("dy x", HEADS) + ["g=8x2048x1:bf16", "scale=1x1:f32"]),
    ("value_gate", "gate.py:value_gate", named("v e", TOKENS) + ["g=16384x5:bf16"]),
    ("value_gate_grad", "gate.py:value_gate_grad", named("dy e", TOKENS) + ["g=16384x5:bf16"]),
    ("gradient_scale", "pointwise.py:sum_of_squares", [f"x={STATE}"]),
    ("gradient_scale", "pointwise.py:gradient_scale", ["squares=1x64:f32", "micro_batches=1x1:f32"]),
    ("head_loss", "head_loss.py:head_loss",
     ["x=2048x640:bf16", "w=8192x640:bf16", "targets=2048x1:i32", "share=1x1:f32"]),
    ("head_loss_train", "head_loss.py:head_loss_train",
     ["x=2048x640:bf16", "w=8192x640:bf16", "targets=2048x1:i32", "share=1x1:f32"]),
    ("adamw", "adamw.py:adamw_step", named("gradient p m v", STATE) + ["scale=1x1:f32", "numbers=1x8:f32"]),
    ("muon", "muon.py:muon", named("gradient weight momentum", "640x2560:f32") +
     ["scale=1x1:f32", "numbers=1x4:f32", "moment=1x2560:f32"]),
    ("muon (iteration)", "muon.py:polar_express", ["x=1024x4096:f32"]),
    ("ema", "pointwise.py:ema", [f"p={STATE}", "decay=1x1:f32", f"average={STATE}"]),
    ("blend", "pointwise.py:blend", [f"average={STATE}", "alpha=1x1:f32", f"p={STATE}"]),
]
LIBRARY_TEXT = """## The library

Every op of a training step, but for `zero` and `slice_columns`, has a kernel in `kernels/` that takes its operands as the
host op holds them; the file says which ops it stands for. Each is checked against the reference beside it in
`tests/nki/kernels_*_test.py`, in bf16 and fp32 where the op has both.
MFU counts the FLOPs of the products that run: for attention those of whole blocks of 128 queries and keys, and none
of blocks that causality or the window rules out; {visible:.1f} % of them are pairs that a query sees at 2048 tokens.
Transposes do not count. Products of fp32 can reach a quarter. MBU is against half of a stack of HBM, {hbm:.1f} GB/s, which the DMA engines of one core can exceed.
"""

HEAD = """# Worked kernels

<!-- bench/write_kernels.py writes this page -->

Kernels in plain NKI, each with its NumPy reference beside it. Six are the tutorial: run one, look at its profile, change
it. [The library](#the-library) at the end covers a training step. Times are the simulated Trainium2 core's under the tool chain `nki-0.6`; [ACCURACY.md](ACCURACY.md) says how
far to trust them. Check a kernel against its reference, profile it, draw it:

```sh
windtunnel kernel check kernels/softmax.py:softmax --reference softmax_reference --arg x=256x512:f32
windtunnel kernel profile kernels/softmax.py:softmax --arg x=4096x2048:bf16
windtunnel kernel profile kernels/softmax.py:softmax --arg x=4096x2048:bf16 --trace softmax.pftrace  # ui.perfetto.dev
```
"""


PRICED = """## In the price of a step

`data/kernels.toml` says which of these kernels stands for which op of a step, with its arguments. `windtunnel price RECIPE
--set toolchain.mode=kernels` gives every node the time of its kernel for the shapes of one core's share, all cores busy and
without the cost of a launch; of more than 4096 rows it records 2048 and 4096 and goes on in proportion (`basis` in the JSON).
Ops without a kernel keep their compiled price and are listed. Attention uses `attention_bounded` where QK norm bounds the
scores. Times are kept under `cache/kernel_times` until a kernel, a shape, the machine, the tool chain or the program changes.

A kernel of your own replaces any of them, under any tool chain; it takes the arguments of the library's by name:

```sh
windtunnel price recipes/baseline.toml --set kernels.rms_norm=own.py:norm
```

It is first compared with the host op on a slice of the step's own shapes with random values. An element may be off by 2 % of
itself and 1 % of the largest where the op computes in bf16, by 0.1 % and 0.01 % in fp32."""


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


def grouped(args):
    """The arguments with names of one value together: x w = 2048x2048:bf16."""
    groups = {}
    for arg in args:
        name, value = arg.split("=")
        groups.setdefault(value, []).append(name)
    return ", ".join(f"{' '.join(names)} = {value}" for value, names in groups.items())


def library_row(ops, kernel, args):
    result = profile(kernel, args)
    shares = [(engine["share"], name) for name, engine in result["engines"].items()]
    busy, engine = max(shares)
    mfu = f"{100 * result['mfu']:.1f} %" if result["mfu"] > 0.01 else ""
    return (f"| {ops} | `{kernel}` | {grouped(args)} | {result['latency_us']:.1f} | {mfu} | {100 * result['mbu']:.1f} % | "
            f"{engine} {100 * busy:.0f} % |")


def library():
    """The table of LIBRARY; the two figures in its text come from the same places as the profiles."""
    time, block = 2048, 128
    visible = time * (time + 1) / 2 / (time / block * (time / block + 1) / 2 * block * block)
    rows = [library_row(*entry) for entry in LIBRARY]
    bandwidth = tomllib.loads((ROOT / "data/chips/trn2.toml").read_text())["memory"]["hbm_core_bytes_per_ns"]["value"]
    return "\n".join([LIBRARY_TEXT.format(visible=100 * visible, hbm=bandwidth),
                      "| host op | kernel | arguments | us | MFU | MBU | busiest engine |",
                      "|---|---|---|---|---|---|---|"] + rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    page = "\n\n".join([HEAD.strip()] + [chapter(*c) for c in CHAPTERS] + [library(), PRICED]) + "\n"
    if not options.check:
        PAGE.write_text(page)
    elif PAGE.read_text() != page:
        sys.exit("docs/KERNELS.md is not what the profiles say: run bench/write_kernels.py")


if __name__ == "__main__":
    main()
