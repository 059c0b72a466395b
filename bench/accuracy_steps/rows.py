"""Measured training steps as recipes: reads the measurements' CSV files and data/pricing/eras.toml, prices each row with
`windtunnel price --json` and keeps what the program counted."""
import csv
import dataclasses
import functools
import json
import os
import pathlib
import subprocess
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WINDTUNNEL_BIN", str(ROOT / "build/release/windtunnel"))
ERAS = tomllib.loads((ROOT / "data/pricing/eras.toml").read_text())
BASE = ROOT / "recipes/baseline.toml"


@dataclasses.dataclass
class Row:
    team: str
    name: str
    measured: float
    keys: dict
    quality: str            # gold, silver, bronze, fit (helps to fit), out
    chip: float = 1.0
    old_code: bool = False  # before the team's compiler flags: takes the era factor
    why: str = ""
    price: dict = dataclasses.field(default_factory=dict)

    @property
    def shape(self):
        k = self.keys
        heads = int(k["model.width"]) // int(k["model.head_dim"])
        text = f"{k['model.depth']}x{k['model.width']} {k['model.head_dim']} {heads}/{int(k['model.kv_heads']) or heads}"
        ratio = float(k["model.mlp_ratio"])
        return text if ratio == 4 else f"{text} x{ratio:g}"

    @property
    def short(self):
        return int(self.keys["model.head_dim"]) <= 128


def data_folder():
    """The measurements: $WINDTUNNEL_SHARED or a folder `shared` beside the repository; None when there are none."""
    for place in (os.environ.get("WINDTUNNEL_SHARED"), ROOT.parent / "shared"):
        if place and (pathlib.Path(place) / "data" / ERAS["steps_by_shape"]["file"]).exists():
            return pathlib.Path(place) / "data"
    return None


def apply_keys(keys, settings):
    for setting in settings:
        name, value = setting.split("=", 1)
        keys[name] = value


def shape_keys(line, keys):
    ratio = line.get("mlp_mult", "4")
    apply_keys(keys, [f"model.depth={line['depth']}", f"model.width={line['width']}",
                      f"model.head_dim={line['head_dim']}", f"model.mlp_ratio={float(ratio)}",
                      f"model.kv_heads={line.get('n_kv_heads', 0)}",
                      f"train.tokens_per_step={line['tokens_per_step']}"])


def rows_by_shape(folder):
    spec = ERAS["steps_by_shape"]
    for line in csv.DictReader(open(folder / spec["file"])):
        era, note = spec["era"][line["era"]], {}
        for name in (line["note"], f"{line['era']}: {line['note']}", f"{line['era']}: {line['depth']}x{line['width']}"):
            note = spec["note"].get(name, note)
        keys = {}
        apply_keys(keys, spec["common"])
        shape_keys(line, keys)
        apply_keys(keys, era["keys"] + note.get("keys", []))
        name = f"{line['era']} {line['chip']} {line['note'].split(' (')[0] or 'plain'}"
        yield Row("A", name, float(line["derived_step_s"]), keys, note.get("class", era["class"]),
                  spec["chips"].get(line["chip"], 1.0), era.get("factor", False), note.get("why", era.get("why", "")))


def stack_keys(line, spec):
    keys = {}
    apply_keys(keys, spec["common"])
    shape_keys(line, keys)
    label = line["label"]
    if int(line["depth"]) == 7:
        keys["model.value_embedding_layers"] = "[0, 2, 4, 6]"
    keys["machine.lnc"], keys["machine.ranks"] = line["lnc"], line["world"]
    keys["data.context"] = line["seq_len"]
    if "mlp" in label:
        keys["model.mlp_ratio"] = f"{label[label.index('mlp') + 3]}.0"
    rows = int(keys["train.rows_per_core"])
    while int(line["tokens_per_step"]) % (rows * int(line["seq_len"]) * int(line["world"])):
        rows //= 2
    keys["train.rows_per_core"] = str(rows)
    return keys


def rows_of_stack(folder):
    spec = ERAS["stack_640"]
    for line in csv.DictReader(open(folder / spec["file"])):
        compiled, date, label = int(line["compiled"]), int(line["date_2026"]), line["label"]
        if not compiled or int(line["depth"]) > 7 or date > 911 or int(line["world"]) == 1:
            continue
        left_out = spec["left_out"].get(label)
        yield Row("B", label, float(line["derived_step_s"]), stack_keys(line, spec), "out" if left_out else "silver",
                  old_code=label in spec["before_evening_of_9Sep"], why=left_out or "")


@functools.lru_cache(maxsize=None)
def price_of(settings):
    command = [PROGRAM, "price", str(BASE), "--json"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def price(keys):
    return price_of(tuple(f"{name}={value}" for name, value in sorted(keys.items())))


def measured_rows(folder):
    rows = [*rows_by_shape(folder), *rows_of_stack(folder)]
    for row in rows:
        row.price = price(row.keys)
    return rows
