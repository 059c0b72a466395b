"""Tests of bench/write_performance.py on made-up results."""
import importlib.util
import json
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
spec = importlib.util.spec_from_file_location("perf", ROOT / "bench" / "write_performance.py")
perf = importlib.util.module_from_spec(spec)
spec.loader.exec_module(perf)

TRAIN = {"parameters": 59600000, "isa": "amx", "tokens_per_second": 5000.0, "share_of_peak": 0.4,
         "matmul_flops_per_second": 2e12, "matrix_peak": 5e12, "peak_resident_bytes": 2**31}


class TableTest(unittest.TestCase):
    def test_rows_may_differ_in_columns(self):
        text = perf.table([{"shape": "a|b", "GFLOP/s": 1234.56}, {"shape": "c", "x": 2}])
        self.assertEqual(text.splitlines(), ["| shape | GFLOP/s | x |", "|---|---:|---:|",
                                             "| a\\|b | 1,235 |  |", "| c |  | 2 |"])

    def test_google_benchmark_with_a_counter(self):
        rows = perf.rows_of({"benchmarks": [{"name": "Stream/8", "real_time": 12.3456, "share": 0.5,
                                             "time_unit": "us", "items_per_second": 5e6}]})
        self.assertIn("| Stream/8 | 12.35 us | 5,000,000 | 0.5 |", perf.table(rows))


class SectionTest(unittest.TestCase):
    def test_each_case_is_a_row_under_its_command(self):
        text = perf.section("train_bench", {"baseline": json.dumps(TRAIN), "nano": json.dumps(TRAIN)})
        self.assertIn("--depth 10", text)
        self.assertIn("| nano | 59,600,000 | amx | 5,000 | 0.4 |", text)

    def test_text_is_shown_as_it_is(self):
        text = perf.section("matmul_bench", {"": "fwd  12 ms\n"})
        self.assertTrue(text.endswith("--threads 2\nfwd  12 ms\n```"), text)

    def test_notes_follow_the_table(self):
        text = perf.section("compare_torch", {"nano": '{"rows": [{"a": 1}], "notes": ["n"]}'})
        self.assertTrue(text.endswith("| 1 |\n\nn"), text)


class PageTest(unittest.TestCase):
    def test_only_the_named_table_changes_and_twice_is_once(self):
        page = perf.PAGE.read_text()
        outputs = {"matmul_bench": {"": "\\1 new"}}
        once = perf.rewrite(page, outputs)
        self.assertIn("\\1 new", once)
        self.assertEqual(perf.rewrite(once, outputs), once)
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
