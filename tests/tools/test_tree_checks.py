"""The checks of the tree must be able to fail: each bad tree here breaks one rule."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
BIB = "@article{BB08,\n  year = {2008}\n}\n"


def complaints(check, files):
    """What tools/check_<check>.py says of a tree with the given files, one line each."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = pathlib.Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, "-B", TOOLS / f"check_{check}.py", root],
                              capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()[:-1]
    assert done.returncode == (1 if lines else 0), done
    return lines


class Layers(unittest.TestCase):
    def one(self, files, words):
        said = complaints("layers", files)
        self.assertEqual(len(said), 1, said)
        self.assertIn(words, said[0])

    def test_downward_arrows_are_allowed(self):
        files = {"src/phys/p.c": '#include "base/alloc.h"\n#include "treacle/base.h"\n',
                 "apps/treacle/main.c": '#include "treacle/treacle.h"\n#include "own.h"\n',
                 "apps/treacle/own.h": "", "include/treacle/treacle.h": "",
                 "bench/bench_p.c": '#include "phys/p.h"\n',
                 "tests/unit/test_p.c": '#include "phys/p.h"\n#include <pthread.h>\n'}
        self.assertEqual(complaints("layers", files), [])

    def test_an_upward_arrow_fails(self):
        self.one({"src/grid/a.c": '\n#include "sim/sim_internal.h"\n'}, "src/grid/a.c:2: ")

    def test_the_towers_do_not_meet_below(self):
        self.one({"src/cache/a.c": '#include "sim/sim_internal.h"\n'}, "not below it")

    def test_an_unknown_folder_fails(self):
        self.one({"src/misc/a.c": '#include "base/alloc.h"\n'}, "not in the table")

    def test_an_include_without_folder_fails(self):
        self.one({"src/base/a.c": '#include "alloc.h"\n'}, "has no folder")

    def test_programs_have_no_back_door(self):
        for folder in ("apps/treacle", "validate", "examples"):
            self.one({f"{folder}/a.c": '#include "base/alloc.h"\n'}, "not of the public API")

    def test_benches_may_look_inside(self):
        files = {"bench/a.c": '#include "base/alloc.h"\n', "src/base/alloc.h": ""}
        self.assertEqual(complaints("layers", files), [])

    def test_public_headers_show_nothing_internal(self):
        self.one({"include/treacle/a.h": '#include "base/alloc.h"\n'}, "not a public header")

    def test_two_files_of_one_name_fail(self):
        self.one({"src/base/a.c": "", "src/math/a.c": ""}, "file names are unique")

    def test_a_library_stays_in_its_folder(self):
        self.one({"src/phys/a.c": "#include <pthread.h>\n"}, "belongs to src/base")


class Words(unittest.TestCase):
    page = ("# Words\n\n## Gone\n\n| word | say | in folders |\n|---|---|---|\n"
            "| share, shares | fraction | all |\n| sweep | collide | phys |\n\n## What stays\n")

    def said(self, files):
        return complaints("words", {"docs/dev/words.md": self.page, **files})

    def test_a_word_that_is_gone_fails(self):
        said = self.said({"src/grid/a.c": "int x;\nint cell_share;\n"})
        self.assertEqual(len(said), 1, said)
        self.assertIn("src/grid/a.c:2: cell_share: not 'share' but: fraction", said[0])

    def test_only_whole_words_of_identifiers_count(self):
        files = {"src/grid/a.c": 'int shared; // the share\nchar s[] = "share";\n'}
        self.assertEqual(self.said(files), [])

    def test_a_word_may_be_gone_from_one_folder_alone(self):
        self.assertEqual(self.said({"src/solve/a.c": "int sweep_tiles;\n"}), [])
        self.assertEqual(len(self.said({"src/phys/a.c": "int sweep_tiles;\n"})), 1)

    def test_public_names_stay_but_not_for_others(self):
        header = {"include/treacle/t.h": "struct treacle_t { int share; } treacle_share_t;\n"}
        self.assertEqual(self.said({**header, "src/sim/a.c": "x = t->share + treacle_share_t;\n"}),
                         [])
        self.assertEqual(len(self.said({**header, "src/sim/a.c": "int share;\n"})), 1)

    def test_static_functions_of_many_files_carry_their_file(self):
        files = {f"src/grid/f{i}.c": "static void fill(void) {\n}\n" for i in range(4)}
        self.assertEqual(self.said(files), [])
        said = self.said({**files, "src/sim/g.c": "static const int* fill(int a) {\n}\n"})
        self.assertEqual(len(said), 1, said)
        self.assertIn("'fill' in 5 files", said[0])

    def test_exceptions_are_counted_and_must_be_needed(self):
        listed = {"tools/word_exceptions.txt": "# why\nshare src/sim/a.c 1 named so\n"}
        self.assertEqual(self.said({**listed, "src/sim/a.c": "int share;\n"}), [])
        self.assertEqual(len(self.said({**listed, "src/sim/a.c": "int share, shares_share;\n"})), 3)
        self.assertEqual(len(self.said({**listed, "src/sim/a.c": "int x;\n"})), 1)


class Sizes(unittest.TestCase):
    def one(self, text, words):
        said = complaints("sizes", {"src/base/a.c": text})
        self.assertEqual(len(said), 1, said)
        self.assertIn(words, said[0])

    @staticmethod
    def function(lines):
        return "static int f(int a,\n             int b) {\n" + "    a += b;\n" * (lines - 3) + "}\n"

    def test_a_function_of_100_lines_is_allowed(self):
        self.assertEqual(complaints("sizes", {"src/base/a.c": self.function(100)}), [])

    def test_a_function_of_101_lines_fails(self):
        self.one("int x;\n" + self.function(101), "src/base/a.c:2: f has 101 lines")

    def test_braces_in_strings_and_macros_do_not_count(self):
        text = '#define OPEN \\\n    {\nconst char* s = "{";\n' + self.function(101)
        self.one(text, "src/base/a.c:4: f has 101 lines")

    def test_a_long_table_is_no_function(self):
        text = "static const int t[] = {\n" + "    1,\n" * 200 + "};\n"
        self.assertEqual(complaints("sizes", {"src/base/a.c": text}), [])

    def test_a_file_of_1001_lines_fails(self):
        self.one("int a;\n" * 1001, "1001 lines")

    def test_a_line_of_101_columns_fails(self):
        self.one("//" + "x" * 99 + "\n", "101 columns")

    def test_dead_code_fails(self):
        self.one("#if 0\n#endif\n", "switched off")

    def test_a_bare_note_fails(self):
        self.one("// TODO: later\n", "issue number")
        self.assertEqual(complaints("sizes", {"src/base/a.c": "// TODO: later, #12\n"}), [])


class Budgets(unittest.TestCase):
    LIST = "tools/budget_exceptions.txt"

    def one(self, files, words):
        said = complaints("budgets", files)
        self.assertEqual(len(said), 1, said)
        self.assertIn(words, said[0])

    @staticmethod
    def struct(members):
        pairs = "    double *x, (*y)[3]; // one, two\n" * (members // 2)
        return "typedef struct s {\n" + pairs + "    int a;\n" * (members % 2) + "} s;\n"

    def test_twenty_members_are_allowed(self):
        self.assertEqual(complaints("budgets", {"src/base/a.h": self.struct(20)}), [])

    def test_a_struct_of_21_members_fails(self):
        self.one({"src/base/a.h": self.struct(21)}, "src/base/a.h:s: has 21 members")

    def test_nine_headers_of_our_own_fail(self):
        text = "".join(f'#include "base/{c}.h"\n' for c in "abcdefghi")
        self.one({"src/base/z.c": text}, "includes 9 of our headers")
        public = text.replace("base/a.h", "treacle/a.h")
        self.assertEqual(complaints("budgets", {"src/base/z.c": public}), [])

    def test_a_c_file_of_a_step_has_its_own_header(self):
        self.one({"src/step/a.c": "int a;\n"}, "src/step/a.c: has no header of its own")
        files = {"src/step/a.c": "", "src/step/a.h": "", "src/base/b.c": ""}
        self.assertEqual(complaints("budgets", files), [])

    def test_a_header_that_three_files_implement_fails(self):
        files = {"src/sim/a.h": "int f(int x);\nint g(void);\nint h(void);\n",
                 "src/sim/a.c": "int f(int x) {\n    return x;\n}\n",
                 "src/sim/b.c": "int g(void) {\n    return f(1);\n}\n", "src/sim/b.h": ""}
        self.assertEqual(complaints("budgets", files), [])
        self.one({**files, "src/sim/c.h": "", "src/sim/c.c": "int h(void) {\n    return 1;\n}\n"},
                 "src/sim/a.h: is implemented by 3 .c files")

    def test_an_exception_may_shrink_and_not_grow(self):
        listed = {self.LIST: "# a list\nmembers src/base/a.h:s 22 for now\n"}
        for count in (21, 22):
            files = {"src/base/a.h": self.struct(count), **listed}
            self.assertEqual(complaints("budgets", files), [])
        self.one({"src/base/a.h": self.struct(23), **listed}, "has 23 members, at most 22")

    def test_an_exception_that_is_not_needed_fails(self):
        self.one({"src/base/a.h": self.struct(20), self.LIST: "members src/base/a.h:s 22 was\n"},
                 "take the line out")


class Citations(unittest.TestCase):
    def one(self, files, words):
        said = complaints("citations", {"docs/math/references.bib": BIB, **files})
        self.assertEqual(len(said), 1, said)
        self.assertIn(words, said[0])

    def test_known_keys_and_anchors_pass(self):
        files = {"docs/math/references.bib": BIB,
                 "docs/math/viscosity.md": "**[visc.3]** a = b [BB08 sec. 4]\n",
                 "src/phys/a.c": "// [BB08 eq. 11] gives [visc.3]\nint a[3], b[BB09];\n",
                 "README.md": "cite as `[XY99]`\n"}
        self.assertEqual(complaints("citations", files), [])

    def test_an_unknown_key_fails(self):
        self.one({"src/base/a.c": "\n// see [BB09 eq. 1]\n"}, "src/base/a.c:2: [BB09]")

    def test_an_unknown_key_in_prose_fails(self):
        self.one({"docs/a.md": "see [BB09]\n"}, "docs/a.md:1: [BB09]")

    def test_an_unknown_anchor_fails(self):
        self.one({"src/base/a.c": "// see [visc.3]\n"}, "no **[visc.3]**")

    def test_an_anchor_that_nobody_cites_fails(self):
        self.one({"docs/math/a.md": "**[visc.3]** a = b\n"}, "no code cites [visc.3]")

    def test_a_law_without_a_reference_fails(self):
        self.one({"src/phys/a.c": "int a;\n"}, "a law without a reference")

    def test_a_key_that_is_there_twice_fails(self):
        self.one({"docs/math/references.bib": BIB + BIB}, "BB08 is there twice")


class SolveNames(unittest.TestCase):
    CODE = "typedef struct plan_of_it {\n    int a;\n} plan_of_it;\n\nvoid run_it(int x) {\n}\n"

    def said_of(self, page):
        return complaints("solve_names", {"src/solve/README.md": page, "src/solve/a.c": self.CODE})

    def test_functions_types_and_files_of_the_folder_are_known(self):
        self.assertEqual(self.said_of("`run_it` of `a.c` by `plan_of_it`, with `restart`\n"), [])

    def test_a_function_that_is_gone_fails(self):
        said = self.said_of("\n`run_it`, `ran_it`\n")
        self.assertEqual(len(said), 1, said)
        self.assertIn("src/solve/README.md:2: src/solve has no ran_it", said[0])

    def test_a_file_that_is_gone_fails(self):
        self.assertEqual(len(self.said_of("`b.c`\n")), 1)


if __name__ == "__main__":
    unittest.main()
