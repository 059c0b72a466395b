"""Tests of bench/write_performance.py on made-up results."""
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("perf", ROOT / "bench" / "write_performance.py")
perf = importlib.util.module_from_spec(spec)
spec.loader.exec_module(perf)


class TableTest(unittest.TestCase):
    def test_rows_may_differ_in_columns(self):
        text = perf.table({"rows": [{"shape": "a|b", "GFLOP/s": 1234.56}, {"shape": "c", "x": 2}]})
        self.assertEqual(text.splitlines(), ["| shape | GFLOP/s | x |", "|---|---:|---:|",
                                             "| a\\|b | 1,235 |  |", "| c |  | 2 |"])

    def test_google_benchmark(self):
        text = perf.table({"benchmarks": [{"name": "Stream/8", "real_time": 12.3456,
                                           "time_unit": "us", "items_per_second": 5e6}]})
        self.assertIn("| Stream/8 | 12.35 us | 5,000,000 |", text)

    def test_notes_follow_the_table(self):
        self.assertTrue(perf.table({"rows": [{"a": 1}], "notes": ["n"]}).endswith("\n\nn"))


class PageTest(unittest.TestCase):
    def test_only_the_named_table_changes_and_twice_is_once(self):
        page = perf.PAGE.read_text()
        results = {"matmul_bench": {"rows": [{"case": "\\1 new"}]}}
        once = perf.rewrite(page, results)
        self.assertIn("| \\1 new |", once)
        self.assertEqual(perf.rewrite(once, results), once)
        self.assertEqual(once.split("## Matrix")[0], page.split("## Matrix")[0])

    def test_every_program_has_its_table_and_every_table_its_program(self):
        page = perf.PAGE.read_text()
        for name in perf.PROGRAMS:
            self.assertIn(f"<!-- table: {name} -->", page)
        self.assertEqual(page.count("<!-- table: "), len(perf.PROGRAMS))

    def test_a_page_without_the_marker_is_an_error(self):
        with self.assertRaises(SystemExit):
            perf.replace("nothing", "table: x", "")


if __name__ == "__main__":
    unittest.main()
