# The documentation site by Sphinx: the pages of docs/, the reference of the public headers (by
# Doxygen) and of the Python package, and the manual of its command. docs/site has the settings.

.PHONY: docs
#: Build
docs: all
docs: ## Write the documentation site to lib/docs/html, with the results of the notebooks
	@python3 docs/site/build.py --notebooks
.PHONY: structure
structure: ## Write the table of functions in src/README.md and the drawings of docs/design.md
	@python3 docs/structure.py
