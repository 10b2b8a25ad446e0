"""Names, numbers and structs in Python are those of the headers."""

import dataclasses
import inspect
import re
import unittest

from support import certreg, root, run

text = "".join((root / "include/certreg" / name).read_text() for name in ("certreg.h", "solver.h"))
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def structs():
    """The fields of the structs of the headers, by name."""
    fields = {}
    for name, body in re.findall(r"struct certreg_(\w+) \{(.*?)\}", text, re.S):
        body = re.sub(r"\(\*(\w+)\)\(.*?\)", r"\1", body, flags=re.S)  # pointers to functions
        words = [word for line in body.split(";") for word in line.split(",") if word.strip()]
        fields[name] = [re.sub(r"\[.*", "", word.split()[-1]).lstrip("*") for word in words]
    return fields


def python_name(name):
    return "".join(word.title() for word in name.split("_"))


class Header(unittest.TestCase):
    def test_structs_have_the_fields_of_the_headers_in_their_order(self):
        self.assertEqual(len(structs()), 16)
        for name, fields in structs().items():
            ours = getattr(certreg, "_" + python_name(name))
            self.assertEqual([field[0] for field in ours._fields_], fields, name)

    def test_structs_have_the_sizes_of_the_library(self):
        table = (root / "src/base/sizes.h").read_text()
        sizes = re.findall(r"X\(certreg_(\w+), \w+, \d+, (\d+)\)", table)
        self.assertEqual({name for name, _ in sizes}, set(structs()))
        for name, size in sizes:
            ours = getattr(certreg, "_" + python_name(name))
            self.assertEqual(certreg.C.sizeof(ours), int(size), name)

    def test_questions_and_answers_have_the_fields_of_the_headers(self):
        python_fills = {"struct_size", "reserved", "look_count"}
        for name in structs().keys() - {"error", "batch", "model", "plan"}:
            if name.endswith("_plan"):
                continue
            ours = getattr(certreg, python_name(name))
            fields = {field.name for field in dataclasses.fields(ours)}
            if name == "bounds":  # those of which something is known
                self.assertIsInstance(ours.constraints, property)
                fields.add("constraints")
            self.assertEqual(fields, set(structs()[name]) - python_fills, name)

    def test_errors_have_the_fields_of_the_header(self):
        error = certreg.CertregError(certreg.Status.BUSY)
        wanted = set(structs()["error"]) - {"struct_size", "text"}
        self.assertEqual(set(vars(error)), wanted | {"certificates"})

    def test_what_makes_a_handle_has_the_names_of_the_plans(self):
        python_fills = {"struct_size", "reserved", "user", "progress_user", "eval"}
        python_fills |= {"memory", "memory_bytes"}
        backend = {"threads", "device", "stream", "module"}
        for made, names, more in (
            (certreg.Estimator, ("model", "plan"), {"model"} | backend),
            (certreg.Solver, ("solver_plan",), set()),
            (certreg.Bisection, ("bisection_plan",), set()),
        ):
            wanted = {field for name in names for field in structs()[name]} - python_fills
            self.assertEqual(set(inspect.signature(made).parameters), wanted | more, made)

    def test_numbers_have_the_names_of_the_headers(self):
        numbers = dict(re.findall(r"CERTREG_(\w+)\s*=\s*(-?\d+)", text))
        numbers["E_OK"] = numbers.pop("OK")
        self.assertGreater(len(numbers), 60)
        for name, value in numbers.items():
            ours = getattr(certreg, name, None)
            if ours is None:
                prefix, _, member = name.partition("_")
                enum = getattr(certreg, "Status" if prefix == "E" else prefix.title())
                ours = enum[member]
            self.assertEqual(ours, int(value), name)

    def test_enums_have_no_names_of_their_own(self):
        for enum in vars(certreg).values():
            if isinstance(enum, type) and issubclass(enum, certreg.enum.Enum):
                prefix = "E" if enum is certreg.Status else enum.__name__.upper()
                for member in enum:
                    name = f"CERTREG_{prefix}_{member.name}".replace("_E_OK", "_OK")
                    self.assertRegex(text, rf"\b{name}\s*=\s*{member.value}\b")

    def test_methods_have_the_names_of_the_functions(self):
        made_by_python = "create destroy size device_size error begin_level".split()
        renamed = {"import": "import_"}  # a reserved word
        for name in re.findall(r"^CERTREG_API [^;]*?\bcertreg_(\w+)\(", text, re.M):
            handle, _, verb = name.partition("_")
            if handle in ("backend", "status"):
                continue
            if handle in ("estimator", "solver", "bisection"):
                if verb not in made_by_python:
                    made = getattr(certreg, handle.title())
                    self.assertTrue(callable(getattr(made, renamed.get(verb, verb))), name)
            elif name == "write_json":
                self.assertTrue(callable(certreg.to_json))
            else:
                self.assertTrue(hasattr(certreg.Estimator, name) or hasattr(certreg, name), name)

    def test_version_is_that_of_the_header_and_of_the_library(self):
        number = int(re.search(r"CERTREG_VERSION_NUMBER (\d+)", text).group(1))
        self.assertEqual((certreg.VERSION_NUMBER, certreg.version()), (number, number))


if __name__ == "__main__":
    run()
