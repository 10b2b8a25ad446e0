# The documentation site: the pages of docs/, the reference of the public headers, the Python
# package and its command. The scripts, the style and the Doxyfile are in docs/site.

.PHONY: docs
#: Build
docs: ## Write the documentation site to lib/docs/html
	@python3 docs/site/build.py
