"""Tests of ./run: which stages it runs with which words, and how it ends when one fails.

It runs in a folder of its own (with a blank in its name) in which the compiler, the corpus and the
windtunnel program are stand-ins that write down how they were called.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = '#!/bin/bash\necho "$(basename "$0") $*" >>"$CALLS"\n'


class RunTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="run test "))
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("run", "setup/stages.sh", "recipes/nano.toml"):
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        windtunnel = self.root / "build" / "release" / "windtunnel"
        self.program(windtunnel, '[[ $1 != "$FAIL" ]] || { echo "error: no luck"; exit 3; }\n')
        self.program(self.root / "bin" / "cmake", 'echo "ninja: no work to do."\n')
        self.program(self.root / "setup" / "install_packages", "echo all there\n")
        prose = self.root / "setup" / "prose_v1.py"
        prose.write_text("import os, sys\n"
                         "open(os.environ['CALLS'], 'a').write(f'prose_v1 {sys.argv[1]}\\n')\n"
                         "print('made it')\n")
        self.calls_file = self.root / "calls"

    def program(self, path, body):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(RECORD + body)
        path.chmod(0o755)

    def run_it(self, *arguments, **variables):
        environment = {**os.environ, "CALLS": str(self.calls_file), "FAIL": "none", "CI": "true",
                       "PATH": f"{self.root / 'bin'}:{os.environ['PATH']}"}
        environment.pop("BUDGET", None)
        return subprocess.run([self.root / "run", *arguments], text=True, capture_output=True,
                              cwd="/", env={**environment, **variables}, timeout=60)

    def calls(self):
        return self.calls_file.read_text().splitlines()

    def test_stages_in_order(self):
        done = self.run_it("--run", "runs/a")
        self.assertEqual(done.returncode, 0, done.stderr)
        nano = f"{self.root}/recipes/nano.toml --set train.budget=60s"
        self.assertEqual(self.calls(), [
            "install_packages build corpus", "cmake --preset release",
            "cmake --build --preset release --target windtunnel",
            "prose_v1 cache/corpora/prose-v1", f"windtunnel data prepare {nano}",
            f"windtunnel train {nano} --run runs/a"])
        self.assertRegex(done.stdout, r"corpus +\d+\.\d s  made it\n")

    def test_options_reach_training_and_what_comes_before_it(self):
        self.run_it("--set", "model.depth=4", "--set=data.corpus=/a b", "--resume", BUDGET="5m")
        prepare, train = self.calls()[-2:]
        sets = "--set train.budget=5m --set model.depth=4 --set data.corpus=/a b"
        self.assertTrue(prepare.endswith(sets), prepare)
        self.assertIn(sets, train)
        self.assertTrue(train.endswith(" --resume"), train)
        self.assertFalse([call for call in self.calls() if "prose_v1" in call])

    def test_another_recipe_keeps_its_budget(self):
        recipe = self.root / "my recipe.toml"
        recipe.write_text('[data]\ncorpus = "texts"\n')
        self.run_it(str(recipe))
        self.assertRegex(self.calls()[-1], r"^windtunnel train .*/my recipe.toml --run "
                                           r"runs/my recipe-\d{8}-\d{6}$")
        self.assertEqual(self.calls()[0], "install_packages build")

    def test_a_corpus_that_is_there_needs_no_packages(self):
        manifest = self.root / "cache/corpora/prose-v1/manifest.json"
        manifest.parent.mkdir(parents=True)
        manifest.write_text("{}")
        self.run_it()
        self.assertEqual(self.calls()[0], "install_packages build")

    def test_a_failing_stage_shows_its_output_and_ends_the_run(self):
        done = self.run_it(FAIL="data")
        self.assertEqual(done.returncode, 3)
        self.assertIn("error: no luck", done.stderr)
        self.assertIn("data prepare", self.calls()[-1])

    def test_training_that_fails_fails_the_run(self):
        self.assertEqual(self.run_it(FAIL="train").returncode, 3)
        self.assertIn("windtunnel train", self.calls()[-1])

    def test_a_missing_recipe_is_named(self):
        done = self.run_it("recipes/nona.toml")
        self.assertEqual(done.returncode, 2)
        self.assertIn("nona.toml: no such recipe", done.stderr)


if __name__ == "__main__":
    unittest.main()
