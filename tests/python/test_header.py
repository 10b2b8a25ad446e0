"""Names, numbers and structs in Python are the same as in the headers."""

import ctypes
import dataclasses
import fnmatch
import inspect
import pathlib
import re
import shutil
import subprocess
import sys

from kit import certreg, parametrize, root
from certreg import structs as S

sys.path.insert(0, str(root / "tests"))
import abi  # noqa: E402

HEADERS = sorted(path.name for path in (root / "include/certreg").glob("*.h"))
text = "".join((root / "include/certreg" / name).read_text() for name in HEADERS)
text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def python_name(name):
    return "".join(word.title() for word in name.split("_"))


def ours(name):
    return getattr(S, python_name(name))


def structs():
    """The fields of the structs of the headers, by name."""
    names = re.findall(r"struct certreg_(\w+) \{", text)
    return {name: [field for field, _ in ours(name)._fields_] for name in names}


KINDS = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "certreg_status": ctypes.c_int32,
    "double": ctypes.c_double,
}


RUST = "examples/bindings/rust/src"


def copied(folder):
    """The headers and the files that are made of them, as the package and the crate have them."""
    shutil.copytree(root / "include", folder / "include")
    package = folder / "python/certreg"
    package.mkdir(parents=True)
    for name in ("structs.py", "constants.py"):
        shutil.copy(pathlib.Path(certreg.__file__).with_name(name), package)
    shutil.copytree(root / RUST, folder / RUST)


def generated(folder):
    """The files that python/generate.py would change in a folder, or why it refuses."""
    command = [sys.executable, root / "python/generate.py", "--check", folder]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == bool(found.stdout + found.stderr)
    return found.stdout + found.stderr


def test_the_package_has_what_the_headers_have(tmp_path):
    copied(tmp_path)
    assert generated(tmp_path) == "", "run make structs"


@parametrize(
    "old, new, file",
    ("    size_t used_first,", "    size_t more, used_first,", "structs.py"),
    ("certreg_estimator_sample(certreg_estimator *, ", "certreg_estimator_sample(", "structs.py"),
    ("CERTREG_E_BUSY = 18", "CERTREG_E_BUSY = 20", "c.rs"),
    ("CERTREG_E_BUSY = 18", "CERTREG_E_BUSY = 18, CERTREG_E_MORE = 19", "constants.py"),
    ("#define CERTREG_VERSION_NUMBER ", "#define CERTREG_VERSION_NUMBER 1", "constants.py"),
    ("enum certreg_stop {", "enum certreg_stop { CERTREG_NEW = 1,", "add NEW to"),
)
def test_a_change_of_a_header_is_noticed(tmp_path, old, new, file):
    copied(tmp_path)
    (header,) = [h for h in (tmp_path / "include").glob("*/*.h") if old in h.read_text()]
    header.write_text(header.read_text().replace(old, new))
    assert file in generated(tmp_path)


def test_fields_lie_where_the_compiler_puts_them():
    """In the order, at the offsets and of the kinds of the headers."""
    interface = abi.structs(root / "include/certreg")
    for name, fields in structs().items():
        owner = f"certreg_{name}"
        listed = [k.partition(".")[2] for k in interface if k.startswith(owner + ".")]
        assert listed == fields
        assert interface[owner].split()[1] == str(ctypes.sizeof(ours(name)))
        for field in fields:
            offset, kind = interface[f"{owner}.{field}"].split(" ", 1)
            assert getattr(ours(name), field).offset == int(offset), field
            assert KINDS.get(kind, ours(name).kinds[field]) is ours(name).kinds[field], field
    assert len(structs()) == 38


def test_questions_and_answers_have_the_fields_of_the_headers():
    python_fills = {"struct_size", "reserved", "look_count", "prediction_count", "region_count"}
    hidden = {"error", "batch", "model", "plan", "calibration", "coverage", "attack_options"}
    hidden |= {"denoiser_facts", "masks"}  # Faulty has their names
    for name in structs().keys() - hidden:
        if name.endswith("_plan") or name.startswith(("queue", "alternative")):
            continue
        made = getattr(certreg, python_name(name))
        fields = {field.name for field in dataclasses.fields(made)}
        if name == "bounds":  # those of which something is known
            assert isinstance(made.constraints, property)
            fields.add("constraints")
        if name == "rule":  # by which the library knows its calibration
            fields.add("calibration")
        if name == "attack_result":  # what the function gives besides
            fields -= {"certified_radius", "shift"}
        if name == "tick":  # what the function gives besides
            fields -= {"value"}
        if name == "question":  # which no answer depends on
            fields -= {"name"}
        assert fields == set(structs()[name]) - python_fills, name


def test_errors_have_the_fields_of_the_header():
    error = certreg.CertregError(certreg.Status.BUSY)
    wanted = set(structs()["error"]) - {"struct_size", "text"}
    assert set(vars(error)) == wanted | {"certificates", "_raw"}


def test_what_makes_a_handle_has_the_names_of_the_plans():
    python_fills = {"struct_size", "reserved", "reserved_2", "user", "progress_user", "eval"}
    python_fills |= {"memory", "memory_bytes", "audit", "masks"}
    backend = {"threads", "device", "stream", "module"}
    for made, names, more in (
        (certreg.Estimator, ("model", "plan"), {"model", "check", "faulty"} | backend),
        (certreg.Solver, ("solver_plan",), set()),
        (certreg.Bisection, ("bisection_plan",), set()),
        (certreg.Service, ("service_plan",), {"estimator", "question", "certificate"}),
        (certreg.Estimator.attack, ("attack_options",), {"self", "question"}),
    ):
        wanted = {field for name in names for field in structs()[name]} - python_fills
        assert set(inspect.signature(made).parameters) == wanted | more, made


def test_methods_have_the_names_of_the_functions():
    made_by_python = "create destroy size error begin_level calibrate".split()
    renamed = {"import": "import_"}  # a reserved word
    for name in re.findall(r"^CERTREG_API [^;]*?\bcertreg_(\w+)\(", text, re.M):
        handle, _, verb = name.partition("_")
        if handle in ("backend", "status", "reason", "queue", "audit"):
            continue
        if handle in ("estimator", "solver", "bisection", "service"):
            if verb not in made_by_python:
                made = getattr(certreg, handle.title())
                made = certreg.Calibrated if verb in ("interval", "covers") else made
                assert callable(getattr(made, renamed.get(verb, verb))), name
        elif handle == "attack":
            methods = {"run": "attack", "gradient": "gradient"}
            if verb not in made_by_python:
                assert callable(getattr(certreg.Estimator, methods[verb])), name
        elif handle == "denoiser":
            methods = {"apply": "apply", "export": "export", "import": "load", "info": "digest"}
            if verb not in made_by_python:
                assert hasattr(certreg.Denoised, methods[verb]), name
        elif name == "worst_function_values":
            assert callable(certreg.WorstFunction.values)
        elif name == "count_level":
            assert callable(certreg.population)
        elif name == "move_certificate":
            assert callable(certreg.Certificate.moved)
        else:
            assert hasattr(certreg.Estimator, name) or hasattr(certreg, name), name


def test_a_table_of_the_page_about_bindings_has_every_function():
    page = (root / "docs/bindings.md").read_text(encoding="utf-8")
    table = page.partition("| function of C |")[2].partition("\n\n")[0]
    families = re.findall(r"`([\w*]+)`", " ".join(re.findall(r"^\| (`.*?) \|", table, re.M)))
    names = [name.removeprefix("certreg_") for name in S.FUNCTIONS]
    assert [n for n in names if not any(fnmatch.fnmatch(n, f) for f in families)] == []
    assert [f for f in families if not fnmatch.filter(names, f)] == []


def test_generators_of_bindings_find_nothing_that_they_cannot_express():
    """Enums have tags and stay out of signatures; numbers have fixed widths; no struct is
    passed by value; nothing is variadic, inline or a union; no macro is needed."""
    code = re.sub(r"^#.*$", "", text, flags=re.M)
    for tag in re.findall(r"\benum\b\s*(\w*)", code):
        assert re.search(r"^certreg_\w+$", tag)
    assert not re.search(r"\b(union|inline|static|long|short|char (?!\*|text\[)|bool)\b", code)
    assert "..." not in code.replace("_...", "")
    macros = re.findall(r"^#define (\w+)(?:\s|\()", text, re.M)
    guards = {"CERTREG_API"} | {name for name in macros if name.endswith("_H")}
    assert set(macros) - guards == {"CERTREG_VERSION_NUMBER"}
    plain = "void|int32_t|uint32_t|int64_t|uint64_t|size_t|float|double|certreg_status"
    handles = "backend|estimator|attack|solver|bisection|denoiser|queue|service"
    structs_of = rf"certreg_(?:{'|'.join(structs())}|{handles})"
    allowed = rf"(?:const )?(?:{plain}|char|{structs_of})\s*\*{{0,2}}\s*\w*"
    functions = re.findall(r"^CERTREG_API ([^;(]*?)\bcertreg_\w+\(([^;]*)\);", code, re.M)
    assert len(functions) > 50
    assert len(functions) == len(re.findall(r"^CERTREG_API", code, re.M))
    for result, parameters in functions:
        for word in [result, *parameters.split(",")]:
            word = " ".join(word.split())
            assert re.search(rf"^{allowed}$", word)
            if "*" not in word and word != "void":
                assert re.search(rf"^(?:{plain})(?: \w+)?$", word), parameters


def test_version_is_that_of_the_header_and_of_the_library():
    number = int(re.search(r"CERTREG_VERSION_NUMBER (\d+)", text).group(1))
    assert (certreg.VERSION_NUMBER, certreg.version()) == (number, number)
    header = (root / "include/certreg/certreg.h").read_text(encoding="utf-8")
    said = re.search(r"  Version (\S+)$", header, re.M).group(1)
    assert certreg.__version__ == said.replace("-dev", ".dev0")
    assert said.partition("-")[0] == certreg.constants.version_text(number)
