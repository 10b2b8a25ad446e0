# The static and the shared library. blas.mk and cuda.mk add the modules, in a folder with the major
# version in its name, since two of them may be installed in one folder.
modules   := certreg-$(MAJOR)
sources   := $(sort $(wildcard src/*/*.c))
objects   := $(sources:%.c=$(OBJ)/%.o)
libraries := $(O)/libcertreg.a $(O)/libcertreg.so
# Modules are opened by their path, and share what reports errors and grows structs.
module_common := $(OBJ)/src/base/error.o
module_flags  := -shared -Wl,-z,defs $(hardened_link) -Wl,--exclude-libs,ALL
include src/backend/blas/blas.mk

# `own` is what one file needs beyond the common flags.
ifneq ($(filter x86_64-%,$(target)),)
$(OBJ)/%_avx2.o:   own := -mavx2 -mfma
$(OBJ)/%_avx512.o: own := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
endif
# Under -O2 the kernels get what interleaves the work on different numbers. (-O3 would turn the
# partial sums of a Gram matrix into permutations.)
ifeq ($(lastword $(filter -O%,$(OPT) $(CFLAGS) $(EXTRA))),-O2)
interleave := $(shell for flag in -fschedule-insns -fsched-pressure -finline-functions \
    -funroll-loops; do \
    $(CC) -Werror $$flag -x c -fsyntax-only /dev/null 2>/dev/null && echo $$flag; done)
$(addprefix $(OBJ)/src/backend/cpu_,portable.o neon.o avx2.o avx512.o): own += $(interleave)
endif
$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(own) -MMD -MP -c $< -o $@

# The libraries are made per configuration and copied to $(O), which holds what was asked for last.
library_flags = -shared -Wl,-soname,libcertreg.so.$(MAJOR) \
    -Wl,--version-script=src/certreg.map -Wl,-z,defs $(hardened_link)
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
