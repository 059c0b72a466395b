"""The commands as a user meets them: they work together, and say what is wrong when something is."""
import json
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM, ROOT, ProgramTest, prose  # noqa: E402


class Commands(ProgramTest):
    def test_train_eval_and_sample(self):
        result = self.train()
        self.assertEqual(result["steps"], 30)
        self.assertEqual(result["stopped"], "steps")
        self.assertLess(result["train_loss"], 5.0)  # ln 300 = 5.7 at the start
        again = json.loads(self.ok("eval", "bpb", self.run_folder, "--json"))
        for key in ("val_bpb", "nats", "bytes", "tokens", "context", "loader"):
            self.assertEqual(again[key], result["bpb"][key], key)
        self.assertEqual(json.loads((self.run_folder / "result.json").read_text())["bpb"]["bytes"], again["bytes"])
        text = self.ok("sample", self.run_folder, "--prompt", "The river", "--tokens", "8", "--temperature", "0")
        self.assertTrue(text.startswith("The river"))
        self.assertEqual(text, self.ok("sample", self.run_folder, "--prompt", "The river", "--tokens", "8",
                                       "--temperature", "0", "--seed", "9"))

    def test_rows_of_a_batch_do_not_change_the_score(self):
        self.train()
        one = json.loads(self.ok("eval", "bpb", self.run_folder, "--rows", "1", "--json"))
        seven = json.loads(self.ok("eval", "bpb", self.run_folder, "--rows", "7", "--json"))
        self.assertEqual(one["tokens"], seven["tokens"])
        self.assertAlmostEqual(one["val_bpb"], seven["val_bpb"], places=9)

    def test_a_model_file_of_the_users(self):
        result = self.train("--model", ROOT / "examples/my_model/my_model.cc")
        self.assertTrue((self.run_folder / "model.cc").exists())
        again = json.loads(self.ok("eval", "bpb", self.run_folder, "--json"))
        self.assertEqual(again["val_bpb"], result["bpb"]["val_bpb"])

    def test_a_model_file_that_does_not_compile(self):
        broken = self.folder / "broken.cc"
        broken.write_text("#include \"nn/model_file.h\"\nint x = nonsense;\n")
        self.fails("train", self.recipe, "--model", broken, saying=["does not compile", "nonsense"])

    def test_tokenizer_round_trip_and_formats(self):
        self.ok("tokenizer", "train", self.corpus, "--vocab-size", "300", "--out", "t.wtok")
        self.ok("tokenizer", "convert", "t.wtok", "tokenizer.json")
        text = self.folder / "x.txt"
        text.write_bytes("The river, 2026 \N{SNOWMAN}\n".encode() + b"\xff\xfe")
        ids = self.ok("tokenizer", "encode", "t.wtok", text)
        self.assertEqual(ids, self.ok("tokenizer", "encode", "tokenizer.json", text))
        (self.folder / "ids").write_text(ids)
        done = subprocess.run([PROGRAM, "tokenizer", "decode", "t.wtok", "ids"], cwd=self.folder, capture_output=True)
        self.assertEqual(done.stdout, text.read_bytes())

    def test_training_on_token_files_of_llm_c(self):
        made = json.loads(self.ok("tokenizer", "train", self.corpus, "--vocab-size", "300", "--out", "t.wtok", "--json"))
        for name, files in (("train.bin", self.corpus), ("val.bin", self.folder / "val")):
            ids = []
            for file in sorted(files.glob("*.txt")):
                ids += [made["bos"]] + json.loads(self.ok("tokenizer", "encode", "t.wtok", file, "--json"))["ids"]
            header = struct.pack("<256i", 20240520, 1, len(ids), *[0] * 253)
            (self.folder / name).write_bytes(header + struct.pack(f"<{len(ids)}H", *ids))
        result = self.train("--set", f"data.corpus={self.folder}/train.bin", "--set", f"data.val={self.folder}/val.bin",
                            "--set", f"data.tokenizer={self.folder}/t.wtok", "--set", "eval.tokens=512")
        self.assertEqual(result["steps"], 30)
        self.assertLess(result["train_loss"], 5.0)

    def test_every_help_shows_an_example(self):
        for command in (["data", "list"], ["data", "fetch"], ["data", "prepare"], ["tokenizer", "train"],
                        ["tokenizer", "encode"], ["tokenizer", "decode"], ["tokenizer", "convert"], ["train"],
                        ["eval", "bpb"], ["sample"]):
            self.assertIn("Example", self.ok(*command, "--help"), command)


class BadInput(ProgramTest):
    def test_a_misspelt_key_names_the_nearest(self):
        self.fails("train", self.recipe, "--set", "model.dept=3", saying=["model.dept", "model.depth"])

    def test_a_missing_corpus(self):
        self.fails("train", self.recipe, "--set", "data.corpus=nowhere/at/all.txt", saying=["nowhere/at/all.txt"])

    def test_an_unknown_corpus_name(self):
        self.fails("train", self.recipe, "--set", "data.corpus=prose-v2", saying=["prose-v2", "prose-v1"])

    def test_an_empty_file(self):
        (self.corpus / "07.txt").write_text("")
        self.fails("train", self.recipe, saying=["07.txt", "empty"])

    def test_a_broken_parquet_file(self):
        (self.corpus / "part.parquet").write_bytes(b"PAR1" + b"\x07" * 300 + b"PAR1")
        self.fails("train", self.recipe, saying=["part.parquet"])

    def test_a_truncated_token_file_is_named(self):
        self.ok("data", "prepare", self.recipe)
        tokens = next((self.folder / "cache/tokens").glob("*/train-*.tokens"))
        tokens.write_bytes(tokens.read_bytes()[:-100])
        self.fails("train", self.recipe, saying=[tokens.name])

    def test_a_checkpoint_of_another_vocabulary(self):
        self.train()
        recipe = self.run_folder / "recipe.toml"
        recipe.write_text(recipe.read_text().replace("vocab_size = 300", "vocab_size = 310"))
        self.fails("eval", "bpb", self.run_folder, saying=["[300, 32]", "[310, 32]"])

    def test_a_tokenizer_of_another_text(self):
        self.train()
        for i in range(60, 90):
            (self.corpus / f"{i}.txt").write_text(prose(40, i).upper())
        self.fails("eval", "bpb", self.run_folder, saying=["was trained with tokenizer"])

    def test_a_damaged_checkpoint(self):
        self.train()
        weights = self.run_folder / "checkpoint/model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-5])
        self.fails("eval", "bpb", self.run_folder, saying=["model.safetensors"])

    def test_a_run_folder_is_never_overwritten(self):
        self.train()
        before = (self.run_folder / "checkpoint/model.safetensors").read_bytes()
        self.fails("train", self.recipe, "--run", self.run_folder, saying=[str(self.run_folder)])
        self.assertEqual((self.run_folder / "checkpoint/model.safetensors").read_bytes(), before)

    def test_a_disk_that_fills_while_saving_keeps_the_last_checkpoint(self):
        self.train("--set", "train.steps=5")
        before = (self.run_folder / "checkpoint/model.safetensors").read_bytes()

        def small_files():  # the nearest thing to a full disk that a test may ask for
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))

        self.fails("train", "--resume", self.run_folder, "--no-eval", saying=["checkpoint"], preexec_fn=small_files)
        self.assertEqual((self.run_folder / "checkpoint/model.safetensors").read_bytes(), before)

    def test_no_memory_for_the_recipe(self):
        self.fails("train", self.recipe, "--set", "model.width=65536", "--set", "model.depth=300",
                   saying=["needs", "train.rows_per_core"])

    def test_resume_without_a_run(self):
        self.fails("train", "--resume", "no/run", saying=["no/run"])

    def test_tokens_that_do_not_divide(self):
        self.fails("train", self.recipe, "--set", "train.tokens_per_step=100", saying=["tokens_per_step"])


if __name__ == "__main__":
    unittest.main()
