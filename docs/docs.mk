# The documentation site: pages of docs/, the reference of the public headers, the Python package and
# its command. The scripts and the style are in docs/site.

.PHONY: docs
#: Build
docs: ## Write the documentation site to lib/docs/html
	@command -v doxygen >/dev/null || { \
	    echo 'make docs needs doxygen: make deps installs it (Debian: apt-get install doxygen)'; \
	    exit 1; }
	@python3 docs/site/build.py
	@echo 'the site is lib/docs/html/index.html'
