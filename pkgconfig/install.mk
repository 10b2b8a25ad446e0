# Installing, and the source tarball. Folders may be relative to this one and may hold spaces; the
# scripts beside this file get them as settings.
absolute   = $(if $(filter /%,$(firstword $(1))),$(1),$(CURDIR)/$(1))
prefix    := $(call absolute,$(PREFIX))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
ifeq ($(prefix),/usr)
LIBDIR ?= $(prefix)/lib$(if $(MULTIARCH),/$(MULTIARCH))
endif
LIBDIR     ?= $(prefix)/lib
INCLUDEDIR ?= $(prefix)/include
DOCDIR     ?= $(prefix)/share/doc/certreg
DESTDIR    ?=
DISTDIR    ?= dist
# As one word of the shell.
word_of     = '$(subst ','\'',$(1))'
release    := O=$(call word_of,$(O)) VERSION=$(VERSION) MAJOR=$(MAJOR) \
    PRERELEASE=$(PRERELEASE) STATIC_LIBS='$(shared_libs) $(linking_static)' \
    BLAS_LIBS='$(if $(blas_inside),$(blas_libs))'
installed   = $(release) MODULES='$(filter $(O)/$(modules)/%,$(libraries))' SILENT=$(silent) \
    DESTDIR=$(call word_of,$(DESTDIR)) PREFIX=$(call word_of,$(prefix)) \
    LIBDIR=$(call word_of,$(call absolute,$(LIBDIR))) \
    INCLUDEDIR=$(call word_of,$(call absolute,$(INCLUDEDIR))) \
    DOCDIR=$(call word_of,$(call absolute,$(DOCDIR)))

# The same files for programs that use the build tree: $(O) is laid out as a prefix is.
descriptions := pkgconfig/certreg.pc cmake/certreg/certreg-config.cmake \
    cmake/certreg/certreg-config-version.cmake $(if $(blas_inside),pkgconfig/certreg-blas.pc)
$(descriptions:%=$(O)/%): pkgconfig/fill.sh pkgconfig/install.mk include/certreg/certreg.h \
    $(O)/.obj/current
	@mkdir -p $(@D)
	@$(release) PREFIX=$(call word_of,$(CURDIR)) LIBDIR=$(call word_of,$(call absolute,$(O))) \
	    INCLUDEDIR=$(call word_of,$(CURDIR)/include) bash pkgconfig/fill.sh $(@F) >$@
$(O)/pkgconfig/%.pc: pkgconfig/%.pc.in
$(O)/cmake/certreg/%.cmake: pkgconfig/%.cmake.in

.PHONY: install uninstall dist deb distcheck release
#: Install
# What would be built now is not what was built and tested.
ifneq ($(and $(filter install,$(MAKECMDGOALS)),$(filter-out $(config),$(file <$(O)/.obj/current))),)
$(error make install: $(O)/ was built with other variables (CC, CFLAGS, OPT, BLAS, NVCC ...): give \
    the same ones to make install, or run make with these first)
endif
install: all ## Install libraries, headers, documentation, and what pkg-config and CMake read
	@$(installed) bash pkgconfig/install.sh
uninstall: ## Remove what install put there
	@$(installed) bash pkgconfig/uninstall.sh
dist: ## Pack the sources into dist/libcertreg-VERSION.tar.gz; DIRTY=1: changes as well
	@VERSION=$(VERSION) DISTDIR=$(call word_of,$(DISTDIR)) DIRTY=$(DIRTY) bash pkgconfig/dist.sh
deb: dist ## Build Debian packages of what dist packs, in dist/debian/; after make deps-all
	@VERSION=$(VERSION) DISTDIR=$(call word_of,$(DISTDIR)) JOBS=$(jobs) bash pkgconfig/deb.sh
distcheck: ## Build, test, install and use what dist packs, in an empty folder
	@bash tests/consumers/dist.sh
release: ## Write the files of a release to dist/, and install each one in an empty environment
	@VERSION=$(VERSION) JOBS=$(jobs) PYTHON='$(any_python)' bash pkgconfig/release.sh
