"""windtunnel compare: keys, prices and scores of two recipes or runs, side by side."""
import json
import unittest

from program import ROOT, ProgramTest

BASELINE = ROOT / "recipes/baseline.toml"


class CompareTest(ProgramTest):
    def compare(self, *words):
        done = self.call("compare", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_one_key(self):
        text = self.compare(BASELINE, BASELINE, "--set", "model.kv_heads=1")
        for part in ("model.kv_heads: 0 -> 1", "tokens/s", "HBM", "difference", "linear_wgrad in layers", "outside"):
            self.assertIn(part, text)

    def test_json_adds_up(self):
        result = json.loads(self.compare(BASELINE, BASELINE, "--json", "--set", "model.mlp_ratio=3"))
        self.assertEqual([key["key"] for key in result["keys"]], ["model.mlp_ratio"])
        change = result["price_change"]
        self.assertAlmostEqual(sum(op["change_s"] for op in change["ops"]), change["seconds"], places=4)
        self.assertAlmostEqual(result["after"]["step_seconds"] - result["before"]["step_seconds"], change["seconds"])
        self.assertLess(change["seconds_low"], change["seconds"])
        self.assertTrue(change["real"])

    def test_nothing_changed(self):
        self.assertIn("it may be nothing", self.compare(BASELINE, BASELINE))

    def test_runs_show_their_scores(self):
        for name, score in (("a", 1.2), ("b", 1.1)):
            run = self.folder / name
            run.mkdir()
            (run / "recipe.toml").write_text(BASELINE.read_text())
            (run / "result.json").write_text(json.dumps({"steps": 7, "bpb": {"val_bpb": score}}))
        self.assertIn("-0.1000", self.compare("a", "b"))
        self.assertAlmostEqual(json.loads(self.compare("a", "b", "--json"))["val_bpb_change"], -0.1)

    def test_no_such_run(self):
        done = self.call("compare", BASELINE, "nowhere.toml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nowhere.toml", done.stderr)


if __name__ == "__main__":
    unittest.main()
