"""The documentation site has every public name of the package."""

import sys
import unittest

from support import certreg, root, run

sys.path.insert(0, str(root / "docs/site"))
import python_pages  # noqa: E402


@unittest.skipUnless((root / "python/certreg").exists(), "the sources of the package are not here")
class Documented(unittest.TestCase):
    def test_the_pages_have_the_names_that_the_package_has(self):
        pages = [name for names in python_pages.public().values() for name in names]
        self.assertEqual(set(pages), set(certreg.__all__) - {"__version__"})


if __name__ == "__main__":
    run()
