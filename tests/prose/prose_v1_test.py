"""Tests of setup/prose_v1.py's extraction helpers on small made-up inputs; no packages needed."""
import contextlib
import gzip
import importlib.util
import io
import json
import pathlib
import struct
import tarfile
import tempfile
import unittest
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("prose_v1", ROOT / "setup" / "prose_v1.py")
prose = importlib.util.module_from_spec(spec)
spec.loader.exec_module(prose)


def r_vector(strings):
    body = struct.pack(">II", 16, len(strings))
    for s in strings:
        raw = s.encode()
        body += struct.pack(">II", 0x40009, len(raw)) + raw
    return body


class CleanTest(unittest.TestCase):
    def test_controls_and_blank_runs_go(self):
        self.assertEqual(prose.clean("a\x02b \n\n\n\nc\u00a0d\r\n"), "ab\n\nc d\n")

    def test_entities_are_resolved_twice(self):
        self.assertEqual(prose.unescape("an &amp;quot;act&quot;"), 'an "act"')

    def test_bare_ampersand_stays(self):
        self.assertEqual(prose.unescape("AT&T; R & D"), "AT&T; R & D")

    def test_unwrap_joins_lines_and_keeps_paragraphs(self):
        self.assertEqual(prose.unwrap(["It was", "a day.", "", "", "Then"]), "It was a day.\n\nThen")

    def test_emphasis_but_not_names_with_underscores(self):
        self.assertEqual(prose.plain_emphasis("_very_ a_b_c"), "very a_b_c")


class AustenTest(unittest.TestCase):
    def test_character_vector(self):
        raw = b"X\n\x00\x00\x00\x03" + r_vector(["Title", "", "line – two"]) + b"\x00\x00\x00\xfe"
        self.assertEqual(prose.read_r_strings(raw), [["Title", "", "line – two"]])

    def test_cut_vector_is_not_read(self):
        self.assertEqual(prose.read_r_strings(r_vector(["whole", "cut off"])[:-3]), [])

    def test_records_follow_each_other(self):
        data = b"".join(struct.pack(">I", len(r)) + zlib.compress(r) for r in (b"one", b"three"))
        self.assertEqual(list(prose.r_records(data)), [b"one", b"three"])

    def test_wrong_size_is_an_error(self):
        with self.assertRaises(prose.BuildError):
            list(prose.r_records(struct.pack(">I", 9) + zlib.compress(b"one")))


class BibleTest(unittest.TestCase):
    def test_notes_and_words(self):
        osis = ('<w lemma="x">Christ</w>,<note>1:1 means <w>it</w></note><w>the</w> son'
                '<note>n</note>. <div sID="a" type="x-p"/>Next &amp; last')
        self.assertEqual(prose.osis_to_text(osis), "Christ, the son.\n\nNext & last")

    def test_verse_lines(self):
        osis = ('He said:<div eID="p" type="x-p"/> <lg sID="g"/> <l level="1" sID="a"/>“One,'
                '<l eID="a"/> <l level="2" sID="b"/>two.”<l eID="b"/><lg eID="g"/>'
                '<div sID="q" type="x-p"/>After')
        self.assertEqual(prose.osis_to_text(osis), "He said:\n\n“One,\ntwo.”\n\nAfter")

    def test_book_split_over_blocks_is_joined(self):
        def book(key, text):
            return (f'<div canonical="true" osisID="{key}" sID="1" type="book"/> '
                    f'<milestone n="Book of {key}" type="x-usfm-toc1"/> {text * 200}')
        blocks = [book("Rom", "first. "), "middle. " * 100, book("Gal", "other. ")]
        data, index = b"", b""
        for block in blocks:
            packed = zlib.compress(block.encode())
            index += struct.pack("<III", len(data), len(packed), len(block))
            data += packed
        files = {"m/ot.bzs": b"", "m/ot.bzz": b"", "m/nt.bzs": index, "m/nt.bzz": data}
        books = dict(prose.world_english_bible(files))
        self.assertEqual(list(books), ["web-bible/Rom", "web-bible/Gal"])
        self.assertTrue(books["web-bible/Rom"].startswith("Book of Rom\n\nfirst."))
        self.assertEqual(books["web-bible/Rom"].count("middle."), 100)


class JargonTest(unittest.TestCase):
    def test_entry_and_links(self):
        self.assertEqual(prose.jargon_block(["   :foo bar: /foo/, n."]), "foo bar: /foo/, n.")
        self.assertEqual(prose.jargon_block(["   See {bar", "   baz} and {/dev/null}."]),
                         "See bar baz and /dev/null.")

    def test_code_keeps_its_lines_and_tables_go(self):
        self.assertEqual(prose.jargon_block(["     if so", "       then"]), "if so\n  then")
        self.assertEqual(prose.jargon_block(["   ┌──┐", "   │ab│"]), "")

    def test_drawings_go(self):
        self.assertEqual(prose.jargon_block(["     /\\/\\", "     |__|"]), "")


class DevilTest(unittest.TestCase):
    def test_prose_and_verse(self):
        self.assertEqual(prose.devil_block(["ABLE, adj.  Having", "power."]), "ABLE, adj. Having power.")
        self.assertEqual(prose.devil_block(["    One,", "        two."]), "One,\ntwo.")
        self.assertEqual(prose.devil_block(["first", "line", "    Then more"]), "first line\n\nThen more")

    def test_notice_before_the_preface_goes(self):
        raw = "00-database\nnotice\n\n   PREFACE\n\n_The Book_ was\nbegun."
        (key, text), = prose.devils_dictionary({"x/devil.dict.dz": gzip.compress(raw.encode())})
        self.assertEqual(text, "THE DEVIL'S DICTIONARY\n\nPREFACE\n\nThe Book was begun.\n")


class FactbookTest(unittest.TestCase):
    LONG = ("The country became independent in a year long ago and has been at peace with all of "
            "its neighbours since. ")

    def country(self, **more):
        name = {"conventional short form": {"text": "Testland (the)"}}
        return {"Introduction": {"Background": {"text": self.LONG + "<p>More.</p>"}},
                "Government": {"Country name": name}, **more}

    def test_name_and_sentences(self):
        files = {"package/europe/tl.json": json.dumps(self.country(x="12,000 (2015)")).encode()}
        (key, text), = prose.world_factbook(files)
        self.assertEqual(key, "factbook/europe/tl")
        self.assertEqual(text, "Testland\n\n" + self.LONG + "More.\n")

    def test_broken_letters_are_left_out(self):
        self.assertEqual(prose.factbook_text({"a": self.LONG + "\ufffd."}), [])

    def test_parts_become_paragraphs_once(self):
        text = self.LONG.strip()
        self.assertEqual(prose.factbook_text({"a": f"{text} ++ {text}", "b": text}), [text])


class BuildTest(unittest.TestCase):
    def run_main(self, folder):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = prose.main([str(folder)])
        return code, out.getvalue(), err.getvalue()

    def with_sources(self, sources):
        before, prose.SOURCES = prose.SOURCES, sources
        self.addCleanup(setattr, prose, "SOURCES", before)

    def package(self, folder, text):
        (folder / "packages").mkdir(parents=True)
        with tarfile.open(folder / "packages" / "thing-1.tgz", "w:gz") as archive:
            info = tarfile.TarInfo("package/data/1790_x.txt")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))

    def test_builds_once_and_rebuilds_a_damaged_corpus(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.package(folder, "Fellow—citizens".encode())
            self.with_sources([("Part", "npm", "thing", "1", "free", prose.state_of_the_union)])
            self.assertEqual(self.run_main(folder)[0], 0)
            line = json.loads((folder / "prose-v1.jsonl").read_text())
            self.assertEqual(line, {"text": "Fellow—citizens\n", "id": "sotu/1790_x",
                                    "source": "Part", "licence": "free"})
            self.assertIn("nothing to do", self.run_main(folder)[1])
            (folder / "prose-v1.jsonl").write_text("damaged")
            self.assertIn("1 works", self.run_main(folder)[1])
            self.assertIn("Fellow", (folder / "prose-v1.jsonl").read_text())

    def test_damaged_package_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "packages").mkdir()
            (folder / "packages" / "thing-1.tgz").write_bytes(b"not a package")
            self.with_sources([("Part", "npm", "thing", "1", "free", prose.state_of_the_union)])
            code, _, err = self.run_main(folder)
            self.assertEqual(code, 1)
            self.assertIn("thing-1.tgz", err)
            self.assertIn("delete it", err)

    def test_unreachable_package_names_the_command(self):
        with tempfile.TemporaryDirectory() as name:
            self.with_sources([("Part", "deb", "no-such-package-of-any-kind", None, "free", None)])
            code, _, err = self.run_main(pathlib.Path(name))
            self.assertEqual(code, 1)
            self.assertIn("apt-get", err)
            self.assertIn("no-such-package-of-any-kind", err)


if __name__ == "__main__":
    unittest.main()
