#!/usr/bin/python3
"""The training step of train_bench in eager PyTorch (Debian's 1.13: no fused attention, no compile), as the
peer that bench/compare_torch.py measures it against: the same GPT, batch, precision and optimizer.

    /usr/bin/python3 bench/peers/torch_gpt.py --depth 6 --width 192 --rows 8 --precision bf16
"""
import argparse
import json
import math
import resource
import statistics
import time

import torch
import torch.nn.functional as F

EPS = 1.1920929e-7
POLAR_EXPRESS = (
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
)


def norm(x):
    return x * torch.rsqrt(x.float().square().mean(-1, keepdim=True) + EPS).to(x.dtype)


class Gpt(torch.nn.Module):
    def __init__(self, o):
        super().__init__()
        self.o, self.heads = o, o.width // o.head_dim
        bound = math.sqrt(3 / o.width)
        self.embedding = torch.nn.Parameter(0.8 * torch.randn(o.vocab, o.width))
        self.head = torch.nn.Parameter(0.001 * torch.randn(o.vocab, o.width))
        self.residual_scale = torch.nn.Parameter(torch.ones(o.depth))
        self.x0_scale = torch.nn.Parameter(0.05 * torch.ones(o.depth))
        uniform = lambda rows: torch.nn.Parameter(torch.empty(rows, o.width).uniform_(-bound, bound))
        zeros = lambda cols: torch.nn.Parameter(torch.zeros(o.width, cols))
        self.layers = torch.nn.ModuleList(
            torch.nn.ParameterDict(dict(q=uniform(o.width), k=uniform(o.width), v=uniform(o.width),
                                        out=zeros(o.width), up=uniform(4 * o.width), down=zeros(4 * o.width)))
            for _ in range(o.depth))
        half = o.head_dim // 2
        angle = torch.arange(o.context)[:, None] * 100000.0 ** (-torch.arange(half) / half)
        self.register_buffer("cos", angle.cos()[:, None])
        self.register_buffer("sin", angle.sin()[:, None])
        self.register_buffer("mask", torch.full((o.context, o.context), -math.inf).triu(1))

    def matrices(self):
        return [p for layer in self.layers for p in layer.values()]

    def rotated(self, x):
        x = x.view(*x.shape[:2], self.heads, self.o.head_dim)
        a, b = x.chunk(2, -1)
        cos, sin = self.cos.to(x.dtype), self.sin.to(x.dtype)
        return norm(torch.cat([a * cos + b * sin, b * cos - a * sin], -1)).transpose(1, 2)

    def attention(self, h, w):
        q, k = self.rotated(F.linear(h, w["q"])), self.rotated(F.linear(h, w["k"]))
        v = F.linear(h, w["v"]).view(*h.shape[:2], self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.o.head_dim) + self.mask.to(q.dtype)
        y = scores.softmax(-1).to(v.dtype) @ v
        return F.linear(y.transpose(1, 2).reshape(h.shape), w["out"])

    def forward(self, tokens, targets):
        x = x0 = norm(F.embedding(tokens, self.embedding).to(self.o.stream))
        for i, w in enumerate(self.layers):
            x = self.residual_scale[i].to(x.dtype) * x + self.x0_scale[i].to(x.dtype) * x0
            x = x + self.attention(norm(x), w)
            x = x + F.linear(F.relu(F.linear(norm(x), w["up"])).square(), w["down"])
        logits = F.linear(norm(x), self.head).float()
        return F.cross_entropy((15 * torch.tanh(logits / 15)).view(-1, self.o.vocab), targets.view(-1))


class Muon:
    """Matrices of one shape are stacked, so that an iteration is three batched products."""

    def __init__(self, parameters, dtype):
        shapes = {}
        for p in parameters:
            shapes.setdefault(p.shape, []).append(p)
        self.groups, self.dtype = list(shapes.values()), dtype
        self.momentum = [torch.zeros(len(g), *g[0].shape) for g in self.groups]
        self.second = [0.0] * len(self.groups)

    @torch.no_grad()
    def step(self, lr=0.02, momentum=0.95, decay=0.02, beta2=0.9):
        for i, group in enumerate(self.groups):
            g, w = torch.stack([p.grad for p in group]), torch.stack(list(group))
            buf = self.momentum[i].lerp_(g, 1 - momentum)
            x = g.lerp_(buf, momentum).to(self.dtype)
            x = x / (1.01 * x.norm(dim=(1, 2), keepdim=True) + 1e-6)
            tall = x.shape[1] > x.shape[2]
            for a, b, c in POLAR_EXPRESS:
                gram = x.mT @ x if tall else x @ x.mT
                poly = b * gram + c * (gram @ gram)
                x = a * x + (x @ poly if tall else poly @ x)
            x = x.float()
            mean = x.square().mean(2 if x.shape[1] >= x.shape[2] else 1, keepdim=True)
            self.second[i] = beta2 * self.second[i] + (1 - beta2) * mean
            scaled = x * self.second[i].clamp_min(1e-10).rsqrt()
            x = scaled * (x.norm(dim=(1, 2), keepdim=True) / scaled.norm(dim=(1, 2), keepdim=True))
            rate = lr * math.sqrt(max(1.0, x.shape[1] / x.shape[2]))
            w -= rate * x + rate * decay * w * (x * w >= 0)
            for p, value in zip(group, w):
                p.copy_(value)


def options():
    parser = argparse.ArgumentParser()
    for name, value in dict(depth=6, width=192, head_dim=64, rows=8, context=1024, vocab=8192, steps=2, warmup=1,
                            threads=2).items():
        parser.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    parser.add_argument("--precision", choices=("bf16", "f32"), default="bf16")
    parser.add_argument("--matrix", choices=("muon", "adamw"), default="muon")
    o = parser.parse_args()
    o.stream = torch.bfloat16 if o.precision == "bf16" else torch.float32
    return o


def blas():
    """The BLAS library that fp32 products go to, as loaded."""
    names = {line.split("/")[-1].strip() for line in open("/proc/self/maps") if "blas" in line}
    return ", ".join(sorted(names))


def main():
    o = options()
    torch.set_num_threads(o.threads)
    torch.manual_seed(1)
    model = Gpt(o)
    matrices = set(model.matrices())
    rest = [p for p in model.parameters() if o.matrix == "adamw" or p not in matrices]
    adam = torch.optim.AdamW(rest, lr=0.01, betas=(0.8, 0.96), eps=1e-10, weight_decay=0.01, foreach=True)
    muon = Muon(model.matrices(), o.stream) if o.matrix == "muon" else None
    tokens, targets = (torch.randint(o.vocab, (o.rows, o.context)) for _ in range(2))

    def step():
        model.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=o.precision == "bf16"):
            loss = model(tokens, targets)
        loss.backward()
        adam.step()
        if muon:
            muon.step()
        return float(loss.detach())

    for _ in range(o.warmup):
        step()
    seconds, cpu = [], []
    for _ in range(o.steps):
        start, start_cpu = time.perf_counter(), time.process_time()
        loss = step()
        seconds.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    took = statistics.median(seconds)
    print(json.dumps(dict(
        torch=torch.__version__, blas=blas(), threads=o.threads, precision=o.precision, matrix=o.matrix,
        parameters=sum(p.numel() for p in model.parameters()), step_seconds=took,
        tokens_per_second=o.rows * o.context / took, cpu_seconds=statistics.median(cpu), loss=loss,
        peak_resident_bytes=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)))


if __name__ == "__main__":
    main()
