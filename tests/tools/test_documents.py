"""What documents show must be what there is: programs as they are, links that lead somewhere."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = os.environ.get("TREACLE_BUILD", "build")


class Documents(unittest.TestCase):
    def test_names_of_the_notation_are_names_of_the_code(self):
        rows = [line.split("|") for line in (ROOT / "docs/math/notation.md").read_text().split("\n")
                if line.startswith("|")]
        names = {name for row in rows for cell in row[1:3] for name in re.findall(r"`(\w+)", cell)}
        self.assertGreater(len(names), 15)
        files = [p for p in (ROOT / "src").rglob("*.[ch]") if p.is_file()]
        words = {word for p in files for word in re.findall(r"\w+", p.read_text())}
        self.assertEqual(sorted(names - words), [])

    def test_the_first_program_is_the_example(self):
        shown = re.search(r"```c\n(.*?)```", (ROOT / "docs/start/hello.md").read_text(), re.S)
        self.assertEqual(shown.group(1), (ROOT / "examples/hello.c").read_text())

    def test_links_lead_somewhere(self):
        pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        self.assertGreater(len(pages), 5)
        for page in pages:
            text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.S)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" not in target:
                    with self.subTest(page=page.relative_to(ROOT), target=target):
                        self.assertTrue((page.parent / target).exists())

    def test_the_table_of_cases_is_the_list(self):
        listed = subprocess.run([f"{BUILD}/validate", "--list"], capture_output=True, text=True,
                                check=True).stdout
        cases = re.findall(r"(?m)^(\S+) +(quick|full|long) +\d+  (.*)$", listed)
        self.assertGreater(len(cases), 5)
        page = (ROOT / "docs/manual/validation.md").read_text()
        rows = re.findall(r"(?m)^\| `(\S+)` \| (\w+) \| (.*?) \| .+ \| .+ \|$", page)
        self.assertEqual(rows, cases, "docs/manual/validation.md needs a row for each line of "
                                      "build/validate --list, in its order and words")


if __name__ == "__main__":
    unittest.main()
