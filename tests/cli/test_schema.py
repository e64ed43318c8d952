"""The JSON Schema takes every scene that the program takes, and nothing that it knows is wrong."""

import ast
import functools
import json
import pathlib
import subprocess
import unittest

import harness

try:
    import jsonschema
    import yaml
except ImportError:  # tools/install_packages.sh test
    jsonschema = yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCENES = sorted([*ROOT.glob("scenes/*.yaml"), *ROOT.glob("scenes/extra/*.yaml"),
                 *ROOT.glob("tests/scene/good/*.yaml")])
BAD = sorted(ROOT.glob("tests/scene/bad/*.yaml"))

# Bad scenes whose mistake a schema can see. Of others it is not in one value, or not in the file.
SEEN = ROOT / "tests/cli/seen_by_schema.txt"

# What the add-on offers -> section and key of the table.
ADDON = {"viscosity": ("material", "viscosity"), "temperature": ("emitter", "temperature"),
         "density": ("body", "density"), "resolution": ("domain", "resolution")}


@functools.lru_cache(None)
def schema():
    return json.loads(subprocess.run([harness.TREACLE, "schema"], capture_output=True,
                                             text=True, check=True).stdout)


@functools.lru_cache(None)
def loader():
    """YAML as editors read it: "on" and "off" are words, dates are texts."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rules if "timestamp" not in tag
                and not (tag.endswith(":bool") and first in "yYnNoO")]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()}
    return Loader


def complaints(path):
    try:
        scene = as_json(yaml.load(path.read_text(), Loader=loader()))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as problem:
        return [str(problem)]
    validator = jsonschema.Draft7Validator(schema())
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}"
            for e in validator.iter_errors(scene)]


def as_json(value, room=None):
    """Keys of maps as texts, as JSON has them. Aliases of aliases may not grow without end."""
    room = [100000] if room is None else room
    room[0] -= 1
    if room[0] < 0:
        raise ValueError("too many values")
    if isinstance(value, dict):
        return {str(key): as_json(item, room) for key, item in value.items()}
    return [as_json(item, room) for item in value] if isinstance(value, list) else value


def properties(section):
    return schema()["definitions"][section]["anyOf"][0]["properties"]


def bounds(section, key):
    """(least, most) of the numbers that a key takes without a unit."""
    value = properties(section)[key]["allOf"][0]
    number = value["anyOf"][0] if "anyOf" in value else value
    return number.get("minimum", number.get("exclusiveMinimum")), number["maximum"]


@unittest.skipIf(jsonschema is None, "needs python3-jsonschema and python3-yaml")
class Scenes(unittest.TestCase):
    def test_schema_is_a_schema(self):
        jsonschema.Draft7Validator.check_schema(schema())

    def test_takes_every_scene(self):
        self.assertGreater(len(SCENES), 20)
        for path in SCENES:
            with self.subTest(path.name):
                self.assertEqual(complaints(path), [])

    def test_refuses_bad_scenes_whose_mistake_it_can_see(self):
        refused = {path.stem for path in BAD if complaints(path)}
        self.assertEqual(set(SEEN.read_text().split()) - refused, set())

    def test_knows_units_of_the_wrong_kind(self):
        validator = jsonschema.Draft7Validator(schema())
        for cell, is_right in (("5 mm", True), ("5", True), (0.005, True),
                               ("5 s", False), ("5 kg", False), (0, False), ("wide", False)):
            scene = {"domain": {"size": [1, 1, 1], "cell": cell}}
            self.assertEqual(validator.is_valid(scene), is_right, cell)


class Addon(unittest.TestCase):
    """What the Blender add-on offers lies within the table, with the table's defaults."""

    def offered(self):
        tree = ast.parse((ROOT / "blender/treacle_addon/properties.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Call):
                yield node.target.id, {
                    word.arg: word.value.value for word in node.annotation.keywords
                    if isinstance(word.value, ast.Constant)}

    def test_ranges_and_defaults_are_the_tables(self):
        offered = dict(self.offered())
        for name, (section, key) in ADDON.items():
            with self.subTest(name):
                least, most = bounds(section, key)
                self.assertGreaterEqual(offered[name]["min"], least)
                self.assertLessEqual(offered[name].get("max", least), most)
                if "default" in properties(section)[key]:
                    self.assertEqual(offered[name]["default"], properties(section)[key]["default"])


class File(harness.Case):
    def test_writes_the_same_to_a_file(self):
        self.treacle("schema", "a.json")
        self.assertEqual(json.loads((self.dir / "a.json").read_text()), schema())

    def test_reports_a_file_that_cannot_be_written(self):
        done = self.treacle("schema", "missing/a.json", code=5)
        self.assertIn("cannot write missing/a.json", done.stderr)


if __name__ == "__main__":
    harness.main()
