"""Pages show what programs print, and name what exists. Their commands: tests/pages.py."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from kit import Z, certreg, environment, model, needs_sources, package, root, said

sys.path.append(str(root / "tests"))
import pages  # noqa: E402

# What each block of output begins with, and the program or the test that it is compared with.
COMPARED = {
    "README.md: within 0.5 of": "examples/python/example.py",
    "adapters.md: examples/models/rotation.onnx: 784": "examples/engines/certify",
    "command-line.md: Nothing was found": "certreg",
    "command-line.md: sigma  tolerance": "certreg",
    "cpp.md: row 0: radius": "tests/cpp.sh",
    "first-certificate.md: within 0.5 of": "examples/quickstart.c",
    "tightness.md: certified": "examples/attack.c",
    "units.md: change     norm": "tests/python/heavy/test_notebooks_run.py",
}
CODE = r"[;{]$|; +/\*| = |^#|^with |^from |→"
NUMBER = r"\d+\.\d+"


def outputs(page):
    """Blocks of output, with the command before them if they begin with "$ "."""
    text = re.sub(r"^```\w+$.*?^```$", "", page.read_text("utf-8"), flags=re.S | re.M)
    assert "```" not in text, f"{page}: a fence without a language"
    for block in re.findall(r"(?:^ {4}.*\n)+", text, re.M):
        block = re.sub(r"^ {4}", "", block, flags=re.M)
        if block.startswith("$ "):
            (parts,) = re.findall(r"\A\$ ((?:.*\\\n)*.*)\n([^$]*)\Z", block)
            yield parts[0].replace("\\\n", " "), parts[1]
        elif not re.search(CODE, block, re.M) and not re.match(pages.COMMAND, block, re.M):
            yield "", block


SHOWN = [(page.name, *one) for page in pages.PAGES for one in outputs(page)]


NUMBER = re.compile(r"\d\.\d+")  # a radius may depend on the rows that share a process


def shown(program):
    """The blocks that this program prints."""
    begin = [known.partition(": ")[::2] for known, by in COMPARED.items() if by == program]
    return [(command, text) for name, command, text in SHOWN
            if any(name == page and text.strip().startswith(word) for page, word in begin)]


def test_every_block_of_output_is_compared():
    found = [f"{name}: {text.strip()}" for name, _, text in SHOWN]
    assert [text for text in found if not text.startswith(tuple(COMPARED))] == []
    assert [known for known in COMPARED if not any(text.startswith(known) for text in found)] == []


def test_programs_in_c_print_what_pages_show():
    """tests/run.sh compares the lines of examples.expected with the output of the programs."""
    printed = (root / "tests/data/examples.expected").read_text().splitlines()
    for name in "quickstart", "attack":
        for _, text in shown(f"examples/{name}.c"):
            assert {f"{name} {line}" for line in text.splitlines()} <= set(printed)


def test_the_example_prints_what_readme_shows():
    source = root / "examples/python/example.py"
    ((command, text),) = shown("examples/python/example.py")
    assert command == f"python3 {source.relative_to(root)}"
    assert f"```python\n{source.read_text()}```" in (root / "README.md").read_text()
    more = dict(capture_output=True, text=True, check=True, env=environment())
    assert subprocess.run([sys.executable, source], **more).stdout == text


def test_the_attack_in_python_prints_what_tightness_shows():
    page = (root / "docs/guide/tightness.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {"Estimator": certreg.Estimator, "model": model, "z": np.array(Z)})
    assert re.findall(r"print\(found\) +# (.*)", code) == out.getvalue().splitlines()


def test_the_program_of_wrong_sensors_prints_what_the_page_says():
    page = (root / "docs/guide/faults.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, {})
    assert re.findall(r"print\(.*\) +# (.*)", code) == out.getvalue().splitlines()


def test_a_report_repeats_its_certificate_without_the_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", (root / "SECURITY.md").read_text(), re.S | re.M)
    more = {"model": model, "z": Z, "sigma": 0.25, "tolerance": 0.5, "np": np}
    more |= {name: getattr(certreg, name) for name in certreg.__all__}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(code, more | {"Path": pathlib.Path})
    number, line, z = re.fullmatch(r"(\d+) (\{.*\}) (\[.*\])\n", out.getvalue()).groups()
    run, wrong = (json.loads(line)[name] for name in ("run", "certificate"))
    with certreg.Estimator(lambda x: 0 * x[:, 0], 3, max_samples=10_000, seed=int(run["seed"]),
                           check=False) as again:
        again.begin(json.loads(z), wrong["sigma"], int(run["noise_id"]))
        again.import_(pathlib.Path("wrong.record").read_bytes())
        found = again.certify(0, wrong["tolerance"])
    assert (int(number), found.radius) == (certreg.version(), wrong["radius"])


def test_the_program_of_the_adapters_prints_what_the_page_shows():
    program = pathlib.Path(certreg.library_path).parent / "examples/engines/certify"
    if not program.exists():
        pytest.skip("make examples builds examples/engines/certify")
    ((command, text),) = shown("examples/engines/certify")
    more = dict(capture_output=True, text=True, cwd=root)
    done = subprocess.run([program, *command.split()[1:]], **more)
    if "make deps" in done.stderr:
        pytest.skip("ONNX Runtime is not installed")
    assert re.sub(NUMBER, "", done.stdout) == re.sub(NUMBER, "", text)
    seen, wanted = ([float(n) for n in re.findall(NUMBER, one)] for one in (done.stdout, text))
    assert seen == pytest.approx(wanted, rel=1e-3)  # last digits differ between processors


def test_sessions_of_the_command_line_print_what_the_page_shows(tmp_path, monkeypatch):
    package("skl2onnx")
    monkeypatch.chdir(tmp_path)
    page = (root / "docs/guide/command-line.md").read_text("utf-8")
    exec(re.search(r"^```python\n(import numpy.*?)^```", page, re.S | re.M)[1], {})
    for command, text in shown("certreg"):
        both = [re.sub(".* (outputs asked again:|samples would make) .*", "", one)
                for one in (said(*command.split()[1:])[0], text)]
        assert len({NUMBER.sub("", one) for one in both}) == 1
        np.testing.assert_allclose(*(list(map(float, NUMBER.findall(one))) for one in both), 1e-3)
    assert len(shown("certreg")) == 3


@pytest.mark.skipif(os.environ.get("MODE") != "heavy", reason="ten seconds: make check-all")
def test_the_control_loop_prints_the_table_of_real_time():
    page = (root / "docs/guide/real-time.md").read_text("utf-8")
    program = pathlib.Path(certreg.library_path).parent / "examples/control_loop/control_loop"
    done = subprocess.run([program, "200", "20"], capture_output=True, text=True, check=True)
    assert "`control_loop 200 20`" in page and done.stdout in page


# ---- names
SUFFIX = "c|h|hpp|py|mk|sh|cu"
FILES = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()
         and not re.match(r"lib/|dist/|\.", str(path.relative_to(root)))}
ENDS = {file[at:] for file in FILES for at in range(len(file)) if at == 0 or file[at - 1] == "/"}
FOLDERS = {str(folder) for end in ENDS for folder in pathlib.PurePath(end).parents}


@needs_sources
def test_files_and_names_that_pages_name_exist():
    """Words in backticks: `src/x.c`, `x.[ch]`, `tests/x`, `cr_x`, `unit_x`; NAME stands for any."""
    code = "\n".join((root / file).read_text("utf-8", "ignore") for file in FILES
                     if re.search(rf"\.({SUFFIX})$", file))
    words = set(re.findall(r"\w+", code))
    for page in "CONTRIBUTING.md", "docs/testing.md", "docs/design.md", "src/README.md":
        for span in re.findall(r"`([^`\n]+)`", (root / page).read_text("utf-8")):
            ends = [span] if "[ch]" not in span else [span.replace("[ch]", end) for end in "ch"]
            if "NAME" in span or re.search(r"[<*$ ]|^lib/", span):
                continue
            if re.search(rf"\.({SUFFIX}|md|txt|\[ch\])$|^(src|tests|examples|docs)/", span):
                assert all(end.rstrip("/") in ENDS | FOLDERS for end in ends), f"{page}: {span}"
            elif re.fullmatch(r"(?!curand)[A-Za-z]\w*_\w+", span):
                assert span in words or f"{span}.c" in ENDS or span[-1] == "_", f"{page}: {span}"


def test_contributing_lists_the_gates_that_check_runs():
    run = re.sub(r"= heavy \].*?elif", "", (root / "tests/run.sh").read_text(), flags=re.S)
    gates = (root / "CONTRIBUTING.md").read_text().partition("## Gates in")[2].partition("\n## ")[0]
    named = set(re.findall(r"`((?:tests|docs)/\w[\w/]*(?:\.\w+)?)`", gates))
    for gate in re.findall(r"^ +start .*?((?:tests|docs)/\w+(?:/|\.sh|\.py))", run, re.M):
        assert gate.rstrip("/") in named, f"CONTRIBUTING does not name {gate}"
    assert [gate for gate in named if gate not in run and "/python/" not in gate] == []


def test_design_has_the_edges_that_rooms_checks():
    text = re.search(r"split\((.*?), edges", (root / "tests/rooms.sh").read_text(), re.S)[1]
    edges = {tuple(edge.split(">")) for edge in re.findall(r"\w+>\w+", text)}
    page = (root / "docs/design.md").read_text("utf-8")
    table = re.findall(r"^\| `(\w+)` \|.*\| ?([^|]*?) \|$", page, re.M)
    rooms = {name for edge in edges for name in edge}
    for room, also in table:
        named = set(re.findall(r"\w+", also))
        if also.startswith("all except"):
            named = rooms - named - {room}
        if room in rooms:
            assert named & rooms == {to for of, to in edges if of == room}, room
    assert rooms <= {room for room, _ in table}
