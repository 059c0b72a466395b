"""windtunnel price --html: the page is whole, stands alone, and shows the figures of --json."""
import collections
import html.parser
import json
import re
import unittest

from program import ROOT, ProgramTest

VOID = {"meta", "line", "br", "link"}


class Page(html.parser.HTMLParser):
    """Figures by class, drawn shapes by plot, and whether every element is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.figures, self.plots = [], collections.defaultdict(list), {}
        self.addresses, self.tags = [], collections.Counter()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags[tag] += 1
        self.addresses += [attrs[name] for name in ("src", "href", "xlink:href") if name in attrs]
        if tag == "data":
            self.figures[attrs["class"]].append(float(attrs["value"]))
        if tag == "svg":
            self.plot = self.plots.setdefault(attrs["aria-label"].split(":")[0], [])
        if "data-value" in attrs:
            self.plot.append((attrs["class"], float(attrs["data-value"])))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


class PriceHtmlTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = None

    def setUp(self):
        super().setUp()
        if self.made is None:
            done = self.call("price", ROOT / "recipes/baseline.toml", "--set", "data.context=512", "--html", "page.html",
                             "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            text = (self.folder / "page.html").read_text()
            type(self).made = (Page(text), json.loads(done.stdout), text)
        self.page, self.json, self.text = self.made

    def test_stands_alone(self):
        self.assertEqual(self.page.open, [])
        self.assertEqual(self.page.addresses, [])
        self.assertEqual(self.page.tags["script"], 0)
        self.assertNotIn("url(", self.text)
        self.assertNotIn("@import", self.text)
        self.assertIn("prefers-color-scheme:dark", self.text)
        self.assertIn("width=device-width", self.text)

    def test_figures_are_those_of_json(self):
        for key in ("step_seconds", "step_seconds_low", "step_seconds_high", "tokens_per_second", "mfu",
                    "steps_in_budget", "tokens_in_budget", "hbm_bytes_peak"):
            self.assertEqual(self.page.figures[key], [self.json[key]], key)
        for key in ("parameters", "gradients", "optimizer_state", "cached_weights", "activations", "logits"):
            self.assertEqual(self.page.figures[f"hbm-{key}"], [self.json["hbm"][key]], key)
        for name, share in self.json["evidence"].items():
            self.assertEqual(self.page.figures[f"evidence-{name}"], [share], name)

    def test_ops_are_those_of_json(self):
        groups = collections.Counter()
        for op in self.json["ops"]:
            groups[op["op"], re.sub(r"^layer\d+", "layers", op["scope"])] += op["seconds"]
        self.assertEqual(len(groups), len(self.page.figures["op"]))
        for shown, seconds in zip(self.page.figures["op"], sorted(groups.values(), reverse=True)):
            self.assertAlmostEqual(shown, seconds, places=12)

    def test_plots_are_those_of_json(self):
        waterfall = [value for _, value in self.page.plots["where the step's time goes"]]
        expected = [seconds for seconds in self.json["waterfall"].values() if seconds]
        self.assertEqual(waterfall[:-1], expected)
        self.assertAlmostEqual(waterfall[-1], sum(expected), places=12)
        tornado = sorted(value for _, value in self.page.plots["what each constant changes the step by"])
        changes = [pair for pair in self.json["sensitivity"].values() if max(map(abs, pair)) >= 0.0005]
        self.assertEqual(tornado, sorted(value for pair in changes for value in pair))
        multiplying = {(op["op"], re.sub(r"^layer\d+", "layers", op["scope"])) for op in self.json["ops"]
                       if op["flops"] > 0 and op["bytes"] > 0}
        self.assertEqual(len(self.page.plots["roofline"]), len(multiplying))

    def test_flags_are_told(self):
        self.assertTrue(self.json["flags"])
        self.assertEqual(self.text.count('class="flag"'), len(self.json["flags"]))


if __name__ == "__main__":
    unittest.main()
