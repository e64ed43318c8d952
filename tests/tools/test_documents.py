"""What documents show must be what there is: programs as they are, links that lead somewhere."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Documents(unittest.TestCase):
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


if __name__ == "__main__":
    unittest.main()
