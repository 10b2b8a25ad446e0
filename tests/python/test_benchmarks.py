"""docs/benchmarks.md has a place for each table that a measurement writes, and no other."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import page  # noqa: E402
from support import run  # noqa: E402

WRITES = re.compile(r'(?:bench_begin|show)\(\s*"([^"]+)"')


class Tables(unittest.TestCase):
    def test_the_page_has_every_table_once(self):
        text = page.PAGE.read_text(encoding="utf-8")
        sources = [p for p in (ROOT / "bench").iterdir() if p.suffix in (".c", ".py")]
        written = [name for p in sources for name in WRITES.findall(p.read_text(encoding="utf-8"))]
        there = [match[1] for match in page.BLOCK.finditer(text)]
        self.assertEqual(sorted(there), sorted([*written, *page.TABLES]))
        self.assertEqual(text.count(": begin -->"), len(there))
        for match in page.BLOCK.finditer(text):
            widths = {line.count("|") for line in match[2].splitlines()}
            self.assertEqual(len(widths), 1, f"{match[1]} is empty, or no table")


if __name__ == "__main__":
    run()
