# The static and the shared library. blas.mk and cuda.mk add the modules, in a folder with the major
# version in its name, since two of them may be installed in one folder.
modules   := certreg-$(MAJOR)
sources   := $(sort $(wildcard src/*/*.c))
objects   := $(sources:%.c=$(OBJ)/%.o)
libraries := $(O)/libcertreg.a $(O)/libcertreg.so
# Modules are opened by their path, and share what reports errors and grows structs.
module_common := $(OBJ)/src/base/error.o
module_flags  := -shared $(linking) $(linking_module)
include src/backend/blas/blas.mk

# `own` is what one file needs beyond the common flags.
ifneq ($(filter x86_64-%,$(target)),)
$(OBJ)/%_avx2.o:   own := $(avx2)
$(OBJ)/%_avx512.o: own := $(avx512)
endif
ifeq ($(lastword $(filter -O%,$(OPT) $(CFLAGS) $(EXTRA))),-O2)
interleave := $(call known,$(interleaving))
$(addprefix $(OBJ)/src/backend/cpu_,portable.o neon.o avx2.o avx512.o): own += $(interleave)
endif
# Objects do not name this folder, so that two clones give the same bytes.
maps_paths := $(call known,-ffile-prefix-map=a=b)
same_bytes  = $(if $(maps_paths),$(call word_of,-ffile-prefix-map=$(CURDIR)=.))
$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(same_bytes) $(own) -MMD -MP -c $< -o $@

# The libraries are made per configuration and copied to $(O), which holds what was asked for last.
library_flags = -shared -Wl,-soname,libcertreg.so.$(MAJOR) \
    -Wl,--version-script=src/certreg.map $(linking)
$(OBJ)/libcertreg.a: $(objects)
$(OBJ)/libcertreg_blas.a: $(blas_objects)
$(OBJ)/libcertreg.a $(OBJ)/libcertreg_blas.a:
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^
$(OBJ)/libcertreg.so: $(objects) src/certreg.map
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(library_flags) $(LDFLAGS) \
	    $(filter %.o,$^) $(shared_libs) -o $@
	@ln -sf libcertreg.so $(@D)/libcertreg.so.$(MAJOR)
$(O)/%.a: $(OBJ)/%.a
	$(call say,COPY,$@)cp --remove-destination $< $@
$(O)/libcertreg.so: $(OBJ)/libcertreg.so
	$(call say,COPY,$@)cp --remove-destination $< $(O)/libcertreg.so.$(VERSION)
	@ln -sf libcertreg.so.$(VERSION) $(O)/libcertreg.so.$(MAJOR)
	@ln -sf libcertreg.so.$(MAJOR) $@
$(O)/$(modules)/%.so: $(OBJ)/$(modules)/%.so
	@mkdir -p $(@D)
	$(call say,COPY,$@)cp --remove-destination $< $@

# Which configuration $(O) holds: a change of flags makes the copies again.
$(O)/libcertreg.a $(O)/libcertreg.so: $(O)/.obj/current
ifneq ($(config),$(file <$(O)/.obj/current))
$(O)/.obj/current: FORCE
	@mkdir -p $(@D); echo $(config) >$@
endif
