"""Tests of the gates and the set-up scripts in setup/: that each refuses what it is there to refuse.

Nothing is installed: dpkg-query, apt-get and the like are stand-ins on a PATH of the test's own.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Folder(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="gates test "))
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, name, text):
        self.write(f"bin/{name}", "#!/bin/bash\n" + text).chmod(0o755)

    def run_script(self, script, *arguments, **variables):
        return subprocess.run([script, *arguments], text=True, capture_output=True,
                              env={**os.environ, **variables}, timeout=60)


class FoldersTest(Folder):
    def check(self):
        return self.run_script(ROOT / "setup" / "check_folders", str(self.root))

    def test_a_room_may_use_rooms_before_it(self):
        self.write("src/nn/a.cc", '#include "nn/a.h"\n#include "base/b.h"\n#include <vector>\n')
        done = self.check()
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "nn"))

    def test_a_room_after_it_is_refused_with_file_and_line(self):
        self.write("src/nn/a.cc", '// x\n#include "train/loop.h"\n')
        done = self.check()
        self.assertEqual(done.returncode, 1)
        self.assertIn('src/nn/a.cc:2: "train/loop.h": nn may use only base, tensor, nn',
                      done.stderr)

    def test_text_must_not_know_models(self):
        self.write("src/text/a.h", '#  include "nn/graph.h"\n')
        self.assertEqual(self.check().returncode, 1)

    def test_tests_and_comments(self):
        self.write("src/base/a_test.cc", '// #include "cli/a.h"\n#include "base/a.h"\n')
        self.assertEqual(self.check().returncode, 0)
        self.write("src/base/b_test.cc", '#include "cli/a.h"\n')
        self.assertEqual(self.check().returncode, 1)

    def test_an_include_without_its_room_is_refused(self):
        self.write("src/base/a.cc", '#include "a.h"\n')
        self.assertIn('write "ROOM/a.h"', self.check().stderr)

    def test_an_unknown_room_is_refused(self):
        self.write("src/utils/a.cc", "\n")
        self.assertIn("no such room", self.check().stderr)

    def test_801_lines_are_too_many(self):
        self.write("src/base/a.cc", "\n" * 800)
        self.assertEqual(self.check().returncode, 0)
        self.write("src/base/a.cc", "\n" * 801)
        self.assertIn("801 lines, at most 800", self.check().stderr)

    def test_this_repository_passes(self):
        done = self.run_script(ROOT / "setup" / "check_folders")
        self.assertEqual(done.stderr, "")


class FormatTest(Folder):
    def test_another_version_is_refused(self):
        self.program("formatter", "echo clang-format version 99.0.1\n")
        done = self.run_script(ROOT / "setup" / "check_format",
                               CLANG_FORMAT=str(self.root / "bin" / "formatter"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("99.0.1", done.stderr)


class InstallTest(Folder):
    """Against a made-up system on which the package `here` is installed."""

    def setUp(self):
        super().setUp()
        self.script = self.write("setup/install_packages",
                                 (ROOT / "setup" / "install_packages").read_text())
        self.script.chmod(0o755)
        self.apt_log = self.root / "apt"
        self.program("dpkg-query", '[[ " $* " != *" here "* ]] || echo here=installed\nexit 1\n')
        self.program("apt-get", f'echo "$@" >>"{self.apt_log}"\nexit ${{APT_CODE:-0}}\n')
        self.program("id", "echo ${USER_ID:-0}\n")
        self.program("sudo", "exit 1\n")
        self.program("sleep", "exit 0\n")

    def install(self, packages, *arguments, **variables):
        listed = self.write("packages.txt", packages)
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        return self.run_script(self.script, *arguments, PATH=path,
                               WINDTUNNEL_PACKAGES=str(listed), **variables)

    def apt_calls(self):
        return self.apt_log.read_text() if self.apt_log.exists() else ""

    def test_nothing_missing_calls_nothing(self):
        done = self.install("# a comment\nhere build why\ngone test why\n", "build")
        self.assertEqual((done.returncode, done.stdout), (0, "1 packages, all there\n"))
        self.assertEqual(self.apt_calls(), "")

    def test_only_the_missing_are_installed(self):
        done = self.install("here build why\ngone build why\n", "build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(self.apt_calls(), r"install --no-install-recommends gone\n")

    def test_an_alternative_serves_as_well(self):
        done = self.install("gone|here build why\nalso-gone|bin:bash build why\n", "build")
        self.assertEqual(done.stdout, "2 packages, all there\n")

    def test_a_user_without_sudo_is_told_the_command(self):
        done = self.install("gone build why\n", "build", USER_ID="1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("apt-get install -y --no-install-recommends gone", done.stderr)
        self.assertEqual(self.apt_calls(), "")

    def test_a_user_with_everything_needs_no_sudo(self):
        self.assertEqual(self.install("here build why\n", "build", USER_ID="1000").returncode, 0)

    def test_failure_is_tried_again_then_reported(self):
        done = self.install("gone build why\n", "build", APT_CODE="100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("could not be installed: gone", done.stderr)
        self.assertIn("update", self.apt_calls())

    def test_an_unknown_group_is_an_error(self):
        self.assertEqual(self.install("here build why\n", "biuld").returncode, 2)


if __name__ == "__main__":
    unittest.main()
