# Making denoisers alone needs BLAS and LAPACK (theory 13). What calls them is a module beside the
# library; the static library has it inside. BLAS=0 builds without both.
blas_sources := $(sort $(wildcard src/backend/blas/*.c))
# Sources of the library that the static one compiles again, with -DCR_BLAS_INSIDE.
blas_inside  := src/backend/blas.c

blas_cflags   = $(call once,blas_cflags,pkg-config --cflags lapacke openblas 2>/dev/null)
blas_libs    := -llapacke -lopenblas
# The module has LAPACKE inside where there is an archive of it: the shared one needs two LAPACKs.
lapacke      := $(if $(filter /%,$(shell \
    $(CC) -print-file-name=liblapacke.a 2>/dev/null)),-l:liblapacke.a)
module_blas  := $(or $(lapacke),-llapacke) -lopenblas
blas_objects := $(blas_sources:%.c=$(OBJ)/%.o)
shared_libs  := -lm -lpthread -ldl

blas_module    := $(O)/certreg/libcertreg_blas.so
libraries      += $(if $(filter 0,$(BLAS)),,$(blas_module))
blas_made      := $(OBJ)/certreg/libcertreg_blas.so
static_libs    := $(strip $(if $(filter 0,$(BLAS)),,$(blas_libs)) $(shared_libs))
inside_objects := $(if $(filter 0,$(BLAS)),,$(blas_inside:%.c=$(OBJ)/inside/%.o) $(blas_objects))
static_objects := $(filter-out $(inside_objects:$(OBJ)/inside/%=$(OBJ)/%),$(objects)) \
    $(inside_objects)
$(blas_objects): own = $(blas_cflags)
$(OBJ)/inside/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(own) -DCR_BLAS_INSIDE -MMD -MP \
	    -c $< -o $@
$(OBJ)/certreg/libcertreg_blas.so: $(blas_objects) $(module_common)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(module_flags) $(LDFLAGS) $^ $(module_blas) -lm -o $@
$(blas_module): $(O)/.obj/current
