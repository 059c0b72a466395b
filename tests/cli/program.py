"""What the command-line tests share: running windtunnel in a folder of its own, small corpora, small recipes."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WINDTUNNEL_BIN", str(ROOT / "build/release/windtunnel"))

RECIPE = """
[model]
depth = 2
width = 32
head_dim = 16
[schedule]
by = "steps"
momentum_warmup = 10
[data]
corpus = "{corpus}"
val = "{val}"
vocab_size = 300
context = 32
layout = "stream"
[train]
budget = "1h"
steps = 30
tokens_per_step = 128
rows_per_core = 2
save_every = 0
[eval]
tokens = 2048
rows = 4
"""

WORDS = "the a of and to in river stone walks under light old house keeps her window open when rain comes".split()


def prose(sentences, seed):
    """English-like text with something to learn."""
    draw = random.Random(seed)
    return " ".join(
        " ".join(draw.choice(WORDS) for _ in range(draw.randint(4, 9))).capitalize() + "." for _ in range(sentences))


class ProgramTest(unittest.TestCase):
    """A temporary folder, in it a corpus of text files, a recipe and a cache."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wt_cli_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.corpus = self.folder / "corpus"
        val = self.folder / "val"
        for folder, seeds in ((self.corpus, range(60)), (val, range(60, 66))):
            folder.mkdir()
            for i in seeds:
                (folder / f"{i:02}.txt").write_text(prose(40, i))
        self.recipe = self.folder / "tiny.toml"
        self.recipe.write_text(RECIPE.format(corpus=self.corpus, val=val))
        self.run_folder = self.folder / "run"

    def call(self, *words, **options):
        environment = dict(os.environ, WINDTUNNEL_CACHE=str(self.folder / "cache"))
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=240, **options)

    def ok(self, *words):
        done = self.call(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def fails(self, *words, saying, **options):
        done = self.call(*words, **options)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertGreater(done.returncode, 0, f"died by a signal: {done.stderr}")
        for text in saying:
            self.assertIn(text, done.stderr)

    def train(self, *more):
        return json.loads(self.ok("train", self.recipe, "--run", self.run_folder, "--json", *more))
