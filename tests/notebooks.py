"""notebooks.py lays out the notebooks of examples without results, for make format."""

import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "examples/notebooks"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def kept(text):
    """A notebook as it is kept."""
    cells, line = [], json.JSONEncoder(ensure_ascii=False).encode
    for cell in json.loads(text)["cells"]:
        empty = {"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {}
        head = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": {}, **empty}
        source = map(line, "".join(cell["source"]).splitlines(keepends=True))
        cells.append(line(head)[:-1] + ', "source": [\n ' + ",\n ".join(source) + "]}")
    rest = line({"metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5})
    return '{"cells": [\n' + ",\n".join(cells) + "],\n" + rest[1:] + "\n"


if __name__ == "__main__":
    for path in FOLDER.glob("*.ipynb"):
        path.write_text(kept(path.read_text(encoding="utf-8")), encoding="utf-8")
