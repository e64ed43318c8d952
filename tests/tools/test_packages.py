"""What is installed can be used: by pkg-config, by CMake, from Python; man pages, completion, .deb."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("TREACLE_BUILD", ROOT / "build")).resolve()

PROJECT = """cmake_minimum_required(VERSION 3.20)
project(other C)
find_package(treacle 0.1 REQUIRED)
add_executable(hello hello.c)
target_link_libraries(hello PRIVATE treacle::treacle m)
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=250, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp(prefix="treacle-install-"))
        cls.prefix = cls.dir / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.dir, ignore_errors=True)

    def test_a_program_is_built_by_pkg_config(self):
        library = self.prefix / "lib"
        env = dict(os.environ, PKG_CONFIG_PATH=str(library / "pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "treacle", env=env).split()
        program = self.dir / "hello"
        run("cc", ROOT / "examples/hello.c", "-o", program, *flags, "-lm")
        run(program, cwd=self.dir, env=dict(os.environ, LD_LIBRARY_PATH=str(library)))

    def test_a_program_is_linked_statically(self):
        env = dict(os.environ, PKG_CONFIG_PATH=str(self.prefix / "lib/pkgconfig"))
        flags = run("pkg-config", "--static", "--cflags", "--libs", "treacle", env=env).split()
        archive = self.prefix / "lib/libtreacle.a"
        flags = [archive if flag == "-ltreacle" else flag for flag in flags]
        program = self.dir / "hello_static"
        run("cc", ROOT / "examples/hello.c", "-o", program, *flags, "-lm")
        run(program, cwd=self.dir)
        self.assertNotIn("libtreacle", run("ldd", program))

    def test_what_is_installed_is_removed_and_no_other_file(self):
        prefix = self.dir / "gone"
        run("cmake", "--install", BUILD, "--prefix", prefix)
        manifest = self.dir / "manifest.txt"
        shutil.copy(BUILD / "install_manifest.txt", manifest)
        (prefix / "share/treacle/mine").write_text("mine")
        told = run(ROOT / "packaging/uninstall.sh", manifest)
        self.assertRegex(told, r"^\d+ files are removed\n$")
        left = [path for path in prefix.rglob("*") if not path.is_dir()]
        self.assertEqual(left, [prefix / "share/treacle/mine"])
        self.assertFalse((prefix / "include/treacle").exists())

    def test_a_program_is_built_by_cmake(self):
        source = self.dir / "other"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(PROJECT)
        shutil.copy(ROOT / "examples/hello.c", source)
        run("cmake", "-S", source, "-B", source / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run("cmake", "--build", source / "build")
        run(source / "build/hello", cwd=self.dir)

    def test_the_python_module_is_installed(self):
        version = "%d.%d" % sys.version_info[:2]
        folder = self.prefix / f"lib/python{version}/dist-packages"  # as below /usr/local
        self.assertTrue((folder / "treacle/py.typed").is_file())
        env = dict(os.environ, PYTHONPATH=str(folder),
                   LD_LIBRARY_PATH=str(self.prefix / "lib"))
        env.pop("TREACLE_LIBRARY", None)
        told = run(sys.executable, "-c", "import treacle; print(treacle.__version__)", env=env,
                   cwd=self.dir)
        self.assertRegex(told, r"^\d+\.\d+\.\d+\n$")

    def test_man_pages_say_what_the_help_says(self):
        treacle = self.prefix / "bin/treacle"
        commands = re.findall(r"^  (\w+) +\S", run(treacle, "help"), re.M)
        self.assertGreater(len(commands), 10)
        for name in commands:
            if name == "help":
                continue
            page = (self.prefix / f"share/man/man1/treacle-{name}.1").read_text()
            plain = page.replace("\\-", "-").replace("\\fI", "").replace("\\fP", "")
            for option in re.findall(r"--[\w-]+", run(treacle, "help", name).split("\n\n")[2]):
                self.assertIn(option, plain, name)
            for line in page.splitlines():  # every request is one of man's
                if line.startswith("."):
                    self.assertRegex(line, r"^\.(TH|SH|TP|B|I|BR|PP|nf|fi)\b", name)
        if shutil.which("man"):
            warnings = subprocess.run(["man", "--warnings", "-l", self.prefix /
                                       "share/man/man1/treacle-run.1"], capture_output=True,
                                      text=True).stderr
            self.assertEqual(warnings, "")

    def complete(self, *words):
        script = self.prefix / "share/bash-completion/completions/treacle"
        listed = " ".join(f"'{word}'" for word in words)
        return run("bash", "-c", f"source {script}; COMP_WORDS=({listed}); "
                   f"COMP_CWORD={len(words) - 1}; _treacle; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                   cwd=self.dir).split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("treacle", "ex"), ["export"])
        self.assertIn("--threads", self.complete("treacle", "run", "--t"))
        self.assertEqual(self.complete("treacle", "export", "--wh"), ["--what"])
        self.assertIn("prefix", self.complete("treacle", "view", "pre"))
        self.assertIn("--listen", (self.prefix / "share/zsh/site-functions/_treacle").read_text())

    def test_a_debian_package_is_made(self):
        if shutil.which("dpkg-deb") is None or shutil.which("dpkg-shlibdeps") is None:
            self.skipTest("there is no dpkg")
        out = self.dir / "deb"
        run("cpack", "-G", "DEB", "-B", out, cwd=BUILD)
        package, = out.glob("*.deb")
        listed = run("dpkg-deb", "-c", package)
        for path in ("./usr/bin/treacle", "./usr/lib/libtreacle.so.0", "./usr/share/man/man1/",
                     "./usr/share/treacle/treacle-blender.zip",
                     "./usr/lib/python3/dist-packages/treacle/py.typed"):
            self.assertIn(path, listed)
        self.assertNotIn(str(BUILD), listed)
        self.assertIn("libembree3", run("dpkg-deb", "-f", package, "Depends"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
