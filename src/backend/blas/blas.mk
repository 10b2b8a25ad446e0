# Making denoisers alone needs BLAS and LAPACK (theory 13). What calls them is a module beside the
# library. A program without shared libraries links it from an archive of its own. BLAS=0 builds
# without both.
blas_sources := $(sort $(wildcard src/backend/blas/*.c))

blas_cflags   = $(call once,blas_cflags,pkg-config --cflags lapacke openblas 2>/dev/null)
blas_libs    := -llapacke -lopenblas
# The module has LAPACKE inside where there is an archive of it: the shared one needs two LAPACKs.
lapacke      := $(if $(filter /%,$(shell \
    $(CC) -print-file-name=liblapacke.a 2>/dev/null)),-l:liblapacke.a)
module_blas  := $(or $(lapacke),-llapacke) -lopenblas
blas_objects := $(blas_sources:%.c=$(OBJ)/%.o)
shared_libs  := -lm -lpthread -ldl

blas_module  := $(O)/$(modules)/libcertreg_blas.so
blas_made    := $(OBJ)/$(modules)/libcertreg_blas.so
ifneq ($(BLAS),0)
libraries    += $(blas_module) $(O)/libcertreg_blas.a
# Flags of a program with OpenBLAS inside: nothing else would take the module from the archive.
blas_inside  := -Wl,-u,certreg_module_blas -lcertreg_blas $(blas_libs)
$(OBJ)/libcertreg.a: | $(OBJ)/libcertreg_blas.a
$(O)/libcertreg_blas.a: $(O)/.obj/current
endif
# For the programs that are built here.
static_libs  := $(if $(blas_inside),-L$(OBJ) $(blas_inside)) $(shared_libs)
$(blas_objects): own = $(blas_cflags)
$(blas_made): $(blas_objects) $(module_common)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(module_flags) $(LDFLAGS) $^ $(module_blas) -lm -o $@
$(blas_module): $(O)/.obj/current
