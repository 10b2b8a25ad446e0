# libcertreg: certified radii for noise-smoothed regression.   make help   lists the targets.
# Everything that is built goes to lib/, or to the folder O=: the libraries, and objects below
# .obj/<hash of compiler and flags>/, so that sanitizer objects never mix with release ones. The
# rules are beside what they build, in the *.mk files included below.
SHELL  := /bin/bash
PREFIX ?= /usr/local
OPT    ?= -O2 -g
EXTRA  ?=
BLAS   ?= 1
O      := lib

# One job per core, unless -j or JOBS= says otherwise; the tests take as many.
cores := $(shell nproc)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(JOBS),$(cores))
endif
jobs = $(or $(JOBS),$(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),$(cores))

# Several goals run one after the other, each of them on all cores: make deps check, make clean all.
commands := $(foreach goal,$(MAKECMDGOALS),$(if $(findstring /,$(goal)),,$(goal)))
ifneq ($(and $(commands),$(word 2,$(MAKECMDGOALS))),)
.PHONY: $(MAKECMDGOALS) in-turn
$(MAKECMDGOALS): in-turn
	@:
in-turn:
	@set -e; for goal in $(MAKECMDGOALS); do $(MAKE) --no-print-directory $$goal; done
else

# ---- settings -----------------------------------------------------------------------------------
number  := $(shell sed -n 's/^.define CERTREG_VERSION_NUMBER \([0-9]*\).*/\1/p' \
    include/certreg/certreg.h)
VERSION := $(shell echo $$(($(number) / 10000)).$$(($(number) / 100 % 100)).$$(($(number) % 100)))
MAJOR   := $(firstword $(subst ., ,$(VERSION)))
PRERELEASE := $(shell sed -n 's/.*  Version [0-9.]*-\(.*\)$$/\1/p' include/certreg/certreg.h)

# A switch that lacks a value of its enum would take it for another one (tests/enums.sh).
WARN := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
    -Werror=switch -Werror=switch-enum $(if $(WERROR),-Werror)
include src/flags.mk
CPPFLAGS_ALL := -Iinclude -Isrc $(definitions) $(CPPFLAGS)
target := $(shell $(CC) -dumpmachine 2>/dev/null)
# $(call known,FLAGS): those that this compiler knows.
known = $(shell for flag in $(1); do \
    $(CC) -Werror $$flag -x c -fsyntax-only /dev/null 2>/dev/null && echo $$flag; done)
include src/harden.mk
CFLAGS_ALL := -std=c11 $(OPT) -fPIC -fvisibility=hidden $(hardened) $(WARN) $(CFLAGS) $(EXTRA) \
    $(exact)
# Some compilers have no macro for these, by which src/base/platform_checks.h could refuse them.
unsafe := $(filter -funsafe-math-optimizations -fassociative-math -freciprocal-math -fapprox-func \
    -fno-signed-zeros -fno-honor-nans -fno-honor-infinities,$(CC) $(CPPFLAGS) $(CFLAGS_ALL))
$(if $(unsafe),$(error build libcertreg without $(unsafe): it rounds outward, and tests for NaN))

# platform_checks.h would say so once for each file.
$(if $(filter 4,$(shell echo __SIZEOF_POINTER__ | \
    $(CC) $(CFLAGS) $(EXTRA) -E -P -x c - 2>/dev/null)),\
    $(error libcertreg needs 64-bit sizes and pointers: build it for a 64-bit processor))

# "  CC    src/base/error.c" in front of a command; V=1 shows the command itself, -s nothing.
silent := $(findstring s,$(filter-out --% %=%,$(firstword $(MAKEFLAGS))))
say     = $(if $(V),,@$(if $(silent),,printf '  %-5s %s\n' '$(1)' '$(2:$(OBJ)/%=%)';))
# The output of a command, asked for once and only where it is needed.
once    = $(eval $(1) := $(shell $(2)))$($(1))

# Of two interpreters the first one that can run the tests of the package, else one that has NumPy.
PYTHON ?= $(call once,PYTHON, \
    for m in 'numpy; import joblib; import pytest; import hypothesis' numpy; do \
    for p in python3 /usr/bin/python3; do \
        $$p -c "import $$m" 2>/dev/null && echo $$p && exit; done; done)
check_cflags = $(call once,check_cflags,pkg-config --cflags check)
check_libs   = $(call once,check_libs,pkg-config --libs check)

include src/backend/cuda/toolkit.mk
config := $(shell echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(NVCC) $(CUDA_ARCH) $(BLAS:1=)' | \
    sha256sum | cut -c1-12)
OBJ := $(O)/.obj/$(config)

# ---- targets ------------------------------------------------------------------------------------
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all deps deps-real onnxruntime clean distclean help FORCE
FORCE:

include src/library.mk
include src/backend/cuda/cuda.mk
include pkgconfig/install.mk
# Distributions may remove folders that the library does not need.
-include examples/examples.mk
-include tests/tests.mk
-include tests/*/*.mk
-include tests/style.mk
-include bench/bench.mk
-include python/python.mk
-include docs/docs.mk

#: Build
all: $(libraries) $(descriptions:%=$(O)/%) ## Build the libraries into lib/, CUDA module included
	$(if $(NVCC)$(silent),,@echo 'no CUDA toolkit (nvcc, cuBLAS, cuRAND): built without its module')

# $(call install_debian,PACKAGES): those that are missing.
define install_debian
missing=; for p in $(1); do \
    dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || \
        missing="$$missing $$p"; done; \
if [ -n "$$missing" ]; then \
    echo "installing:$$missing"; sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
    $$sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive \
        $$sudo apt-get install -y -q --no-install-recommends $$missing; fi
endef
packages := gcc g++ make pkg-config libopenblas-dev liblapacke-dev check python3 \
    python3-numpy python3-pandas python3-sklearn python3-joblib python3-matplotlib python3-onnx \
    python3-torch python3-xgboost \
    python3-pip python3-pytest python3-hypothesis python3-mpmath valgrind clang-format clang-tidy \
    cmake doxygen python3-sphinx python3-myst-parser python3-breathe furo libxgboost-dev \
    libeigen3-dev luajit meson
deps: ## Install what is missing: Debian packages, ONNX Runtime and LightGBM into lib/deps
	@$(call install_debian,$(packages))
	@cmp -s examples/engines/pins.txt lib/deps/pins.txt || \
	    $(MAKE) --no-print-directory onnxruntime
# $(call install_python,FOLDER,PINS): for the interpreter of demo and tests, which is known once
# Debian's packages are there. It ends the shell where that succeeds.
define install_python
mkdir -p $(1); for p in $(PYTHON) python3 /usr/bin/python3; do \
    $$p -m pip install -q --no-deps --require-hashes --target $(1) -r $(2) && exit; done
endef
onnxruntime:
	@($(call install_python,lib/deps,examples/engines/pins.txt); exit 1) && \
	    cp examples/engines/pins.txt lib/deps/ || \
	    echo 'ONNX Runtime and LightGBM could not be installed: the demo needs them, tests skip them'
real := lib/deps/real
deps-real: ## Install what make real needs beyond deps, Python packages into lib/deps/real
	@$(call install_debian,alsa-utils)
	@cmp -s examples/real/pins.txt $(real)/pins.txt || { rm -rf $(real); \
	    ($(call install_python,$(real),examples/real/pins.txt); exit 1) && \
	    cp examples/real/pins.txt $(real)/; }
clean: ## Remove what was built, except lib/deps
	rm -rf .gpu dist $(addprefix $(O)/,.obj cmake pkgconfig certreg-* libcertreg.*) lib/arm lib/demo \
	    lib/docs lib/wheel lib/.mypy lib/bench*.csv lib/bench*.md lib/bench*.txt \
	    lib/misses*.csv lib/coverage.txt lib/golden.txt* lib/fuzz compile_commands.json
distclean: clean ## Remove lib/ as a whole
	rm -rf lib

# A heading for each "#: NAME", a line for each "target: ## text" below one of that name.
help: ## List the targets
	@awk '/^#: / { group = substr($$0, 4) } \
	    match($$0, /^[a-z_.-]+:.*## /) { \
	        split($$0, name, ":"); if (group != last[1]) last[1] = group; \
	        text[group] = text[group] sprintf("  %-22s %s\n", name[1], \
	            substr($$0, RSTART + RLENGTH)) } \
	    END { count = split("Build Test Run Measure Install", order, " "); \
	        for (i = 1; i <= count; i++) printf "%s\n%s\n", order[i], text[order[i]] }' \
	    $(MAKEFILE_LIST)
	@echo 'Variables: JOBS=N (default: one per core)  V=1 (show commands)  WERROR=1  CC  OPT'
	@echo '    PREFIX  LIBDIR  INCLUDEDIR  DOCDIR  DESTDIR  NVCC= (no CUDA)'
	@echo '    BLAS=0 (without OpenBLAS)  HARDEN=0  DIRTY=1 (make dist packs changes)'
	@echo '    O=FOLDER (build there, not in lib/: for another processor)'
	@echo 'Options of the demo: make demo DEMO=--help'

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
endif
