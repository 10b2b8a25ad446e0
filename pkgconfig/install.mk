# Installing. Folders may be relative to this one and may hold spaces.
absolute   = $(if $(filter /%,$(firstword $(1))),$(1),$(CURDIR)/$(1))
prefix    := $(call absolute,$(PREFIX))
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
ifeq ($(prefix),/usr)
LIBDIR ?= $(prefix)/lib$(if $(MULTIARCH),/$(MULTIARCH))
endif
LIBDIR     ?= $(prefix)/lib
INCLUDEDIR ?= $(prefix)/include
DESTDIR    ?=
libdir     := $(call absolute,$(LIBDIR))
includedir := $(call absolute,$(INCLUDEDIR))
# As one word of the shell.
word_of     = '$(subst ','\'',$(1))'
to_libdir  := $(call word_of,$(DESTDIR)$(libdir))
to_include := $(call word_of,$(DESTDIR)$(includedir))
modules    := $(filter lib/certreg/%,$(libraries))
headers    := $(wildcard include/certreg/*.h)

# $(call fill_pc,PREFIX,LIBDIR,INCLUDEDIR): certreg.pc.in filled in; in it a path is between quotes.
sed_text = $(subst |,\|,$(subst &,\&,$(subst \,\\,$(1))))
fill_pc  = sed -e $(call word_of,s|@PREFIX@|$(call sed_text,$(1))|) \
    -e $(call word_of,s|@LIBDIR@|$(call sed_text,$(2))|) \
    -e $(call word_of,s|@INCLUDEDIR@|$(call sed_text,$(3))|) \
    -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS_PRIVATE@|$(static_libs)|' pkgconfig/certreg.pc.in
lib/pkgconfig/certreg.pc: pkgconfig/certreg.pc.in pkgconfig/install.mk include/certreg/certreg.h \
    lib/.obj/current
	@mkdir -p $(@D)
	@$(call fill_pc,$(CURDIR),$(CURDIR)/lib,$(CURDIR)/include) >$@

.PHONY: install uninstall
#: Install
install: all ## Install the libraries, the header and the pkg-config file below PREFIX
	$(call say,INST,$(DESTDIR)$(libdir))install -d $(to_libdir)/pkgconfig
	@install -m 644 lib/libcertreg.a $(to_libdir)/
	@install -m 755 lib/libcertreg.so.$(VERSION) $(to_libdir)/
	@ln -sf libcertreg.so.$(VERSION) $(to_libdir)/libcertreg.so.$(MAJOR)
	@ln -sf libcertreg.so.$(MAJOR) $(to_libdir)/libcertreg.so
ifneq ($(modules),)
	@install -d $(to_libdir)/certreg && install -m 755 $(modules) $(to_libdir)/certreg/
endif
	@$(call fill_pc,$(prefix),$(libdir),$(includedir)) >$(to_libdir)/pkgconfig/certreg.pc
	$(call say,INST,$(DESTDIR)$(includedir))install -d $(to_include)/certreg
	@install -m 644 $(headers) $(to_include)/certreg/
uninstall: ## Remove what install put there
	@rm -f $(to_libdir)/libcertreg.{a,so,so.$(MAJOR),so.$(VERSION)} \
	    $(to_libdir)/pkgconfig/certreg.pc $(headers:include/%=$(to_include)/%) \
	    $(to_libdir)/certreg/libcertreg_{cuda,blas}.so
	-@rmdir $(to_libdir)/certreg $(to_include)/certreg 2>/dev/null || true
