"""Skips are seen: by ctest, and in the last line of .ci/run; and with CI set they are failures."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

FILE = """import unittest
class Some(unittest.TestCase):
    def test_holds(self): pass
    def test_is_skipped(self): {skip}
    def test_may_fail(self): {fail}
"""

SKIPS = """enable_testing()
foreach(code 0 1 77)
  add_test(NAME ends_with_${code} COMMAND sh -c "echo 'skipped: here: because'; exit ${code}")
  set_tests_properties(ends_with_${code} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
"""


class Skips(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def environment(self, ci=None, **more):
        kept = {name: value for name, value in os.environ.items() if name != "CI"}
        return {**kept, **({"CI": ci} if ci else {}), **more}

    def run_tests(self, *words, ci=None):
        return subprocess.run([sys.executable, "-B", ROOT / "tests/run_tests.py", *words],
                              capture_output=True, text=True, check=False,
                              env=self.environment(ci))

    def file(self, skip="pass", fail="pass"):
        path = self.dir / "test_some.py"
        path.write_text(FILE.format(skip=skip, fail=fail))
        return path

    def test_a_python_test_that_skips_ends_with_77(self):
        skip = "self.skipTest('no such thing here')"
        self.assertEqual(self.run_tests(self.file()).returncode, 0)
        done = self.run_tests(self.file(skip))
        self.assertEqual(done.returncode, 77)
        self.assertIn("skipped: test_some.Some.test_is_skipped: no such thing here", done.stdout)
        self.assertEqual(self.run_tests(self.file(skip), ci="1").returncode, 1)

    def test_a_failure_is_not_hidden_by_a_skip(self):
        failing = self.file("self.skipTest('x')", "self.fail('wrong')")
        self.assertEqual(self.run_tests(failing).returncode, 1)

    def test_a_file_without_tests_fails(self):
        empty = self.dir / "test_empty.py"
        empty.write_text("")
        self.assertEqual(self.run_tests(empty).returncode, 1)

    def test_tests_that_were_not_built_are_skipped(self):
        self.assertEqual(self.run_tests("--skip", "no MPI").returncode, 77)
        self.assertEqual(self.run_tests("--skip", "no MPI", ci="true").returncode, 1)

    def run_ci(self):
        """.ci/run test of a tree whose "make test" runs the three tests of SKIPS by real ctest."""
        tree, tools = self.dir / "tree", self.dir / "tools"
        for folder in (tree / ".ci", tree / "tools", tools):
            folder.mkdir(parents=True)
        (tree / ".ci/run").write_bytes((ROOT / ".ci/run").read_bytes())
        (tree / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.20)\nproject(skips NONE)\n" + SKIPS)
        for path, text in ((tree / "tools/install_packages.sh", "true"),
                           (tools / "make", "cmake -S . -B build && ctest --test-dir build")):
            path.write_text("#!/bin/sh\n" + text + "\n")
            path.chmod(0o755)
        return subprocess.run(["bash", tree / ".ci/run", "test"], capture_output=True, text=True,
                              check=False, env=self.environment(
                                  PATH=f"{tools}:{os.environ['PATH']}"))

    def test_ci_counts_what_was_skipped(self):
        done = self.run_ci()
        lines = done.stdout.splitlines()
        self.assertEqual(lines[-1], "1 passed, 1 failed, 1 skipped", done.stdout + done.stderr)
        self.assertRegex(lines[-2], r"^test +1 passed +1 failed +1 skipped +\d+ s")
        self.assertIn("skipped: here: because", lines)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
