"""Makes the wheel of the module, for "pip install ./python": Python alone, no network.

The wheel holds the module, the shared library and the command. Those two are taken from the source
tree's build folder, or from TREACLE_BUILD; where they are missing, CMake builds them first.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
NAME = "treacle"


def version():
    text = (HERE / "treacle/_library.py").read_text(encoding="utf-8")
    return re.search(r'(?m)^VERSION = "(.*?)"', text).group(1)


def tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"py3-none-{platform}"


def metadata():
    return (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version()}\n"
            "Summary: Simulates thick liquids: honey, wax, lava, gel\nLicense-File: LICENSE\n"
            "Requires-Python: >=3.9\nProvides-Extra: arrays\n"
            'Requires-Dist: numpy; extra == "arrays"\n')


def get_requires_for_build_wheel(config_settings=None):
    return []


def is_built(folder):
    return (folder / "libtreacle.so").exists() and (folder / "treacle").exists()


def find_build(room):
    """A folder with the library and the command; built in `room` if there is none."""
    named = os.environ.get("TREACLE_BUILD")
    for folder in [pathlib.Path(named)] if named else [ROOT / "build"]:
        if is_built(folder):
            return folder
    if not shutil.which("cmake"):
        raise RuntimeError("there is no libtreacle.so in build/, and no cmake to build it; see "
                           "README.md, or run make build first")
    ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", "-S", ROOT, "-B", room, "-DCMAKE_BUILD_TYPE=Release", *ninja],
                   check=True)
    subprocess.run(["cmake", "--build", room, "--target", "treacle_shared", "treacle_cli",
                    "--parallel"], check=True)
    return pathlib.Path(room)


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def contents(build):
    """(name in the wheel, bytes, whether it is a program) of every file but the record."""
    info = f"{NAME}-{version()}.dist-info"
    for path in sorted((HERE / "treacle").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            yield f"{NAME}/{path.name}", path.read_bytes(), False
    yield f"{NAME}/libtreacle.so", (build / "libtreacle.so").read_bytes(), True
    yield f"{NAME}/bin/treacle", (build / "treacle").read_bytes(), True
    yield f"{info}/METADATA", metadata().encode(), False
    yield f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes(), False
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: false\n"
                            f"Tag: {tag()}\n").encode(), False
    yield (f"{info}/entry_points.txt", b"[console_scripts]\ntreacle = treacle._command:main\n",
           False)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    file_name = f"{NAME}-{version()}-{tag()}.whl"
    record = f"{NAME}-{version()}.dist-info/RECORD"
    lines = ""
    with tempfile.TemporaryDirectory(prefix="treacle-build-") as room, zipfile.ZipFile(
            pathlib.Path(wheel_directory) / file_name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data, is_program in contents(find_build(room)):
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))  # equal wheels have equal bytes
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            wheel.writestr(entry, data)
            lines += record_line(name, data)
        wheel.writestr(zipfile.ZipInfo(record, (2020, 1, 1, 0, 0, 0)), lines + f"{record},,\n")
    return file_name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the module is built in the source tree: pip install ./python")
