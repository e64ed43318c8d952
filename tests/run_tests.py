"""Runs the tests of a Python file so that ctest sees a skip: exit code 77, or 1 where CI is set in the
environment, for nothing may be skipped there.

usage: run_tests.py FILE.py          or, for tests that cannot even be built here: run_tests.py --skip REASON
"""

import importlib.util
import os
import sys
import unittest

EXIT_SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def load(path):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def exit_code(failed, skipped):
    """What to end with, given how many tests failed, and the (name, reason) of those skipped."""
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}", flush=True)
    if failed > 0 or (skipped and os.environ.get("CI")):
        return 1
    return EXIT_SKIPPED if skipped else 0


def run(path):
    result = unittest.main(load(path), argv=[path], verbosity=2, exit=False).result
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    skipped = [(test.id(), reason) for test, reason in result.skipped]
    if result.testsRun == 0 and not skipped:
        print(f"there is no test in {path}")
        failed = 1
    return exit_code(failed, skipped)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--skip":
        sys.exit(exit_code(0, [("all", sys.argv[2])]))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(run(sys.argv[1]))
