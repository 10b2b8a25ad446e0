# Example programs and the demo. They are linked with the shared library, as anybody's programs are.
examples     := $(patsubst %.c,$(OBJ)/%,$(sort $(wildcard examples/*.c)))
examples_cpp := $(patsubst %.cpp,$(OBJ)/%_cpp,$(sort $(wildcard examples/*.cpp)))
certify      := $(OBJ)/examples/engines/certify
example_cuda := $(OBJ)/examples/cuda/onnx $(if $(NVCC),$(OBJ)/examples/cuda/network)
control_loop := $(OBJ)/examples/control_loop/control_loop
episode      := $(OBJ)/examples/control_loop/episode
control_parts := $(patsubst %,$(OBJ)/examples/control_loop/%.o,loop run network plant)
# The program of examples/mpi, where there is Open MPI.
mpi_cflags := $(shell mpicc -showme:compile 2>/dev/null)
mpi        := $(if $(mpi_cflags),$(OBJ)/examples/mpi/certify)
link_shared   = $(CC) $(CFLAGS_ALL) $(filter %.o,$^) -o $@ -L$(OBJ) -lcertreg \
    -Wl,-rpath,'$$ORIGIN$(1)'

# The engines of examples/engines. Those that need a library when they are built are there where its
# headers are; tests and benches get by with the others.
engine_sources := $(addprefix examples/engines/,engine.c ort.c ort_library.c ort_tensors.c tensor.c)
engine_objects := $(engine_sources:%.c=$(OBJ)/%.o)
engine_libs    := -ldl -lm
xgboost := $(wildcard /usr/include/xgboost/c_api.h)
torch   := $(wildcard /usr/include/torch/script.h)
built_engines := $(if $(xgboost),xgboost) $(if $(torch),torch)
all_engines   := $(engine_objects) $(built_engines:%=$(OBJ)/examples/engines/%.o)
all_engine_libs = $(engine_libs) $(if $(xgboost),-lxgboost) $(if \
    $(torch),-ltorch -ltorch_cpu -lc10 -lstdc++)
$(OBJ)/examples/engines/torch.o: own = -isystem /usr/include/torch/csrc/api/include
$(OBJ)/examples/engines/%.o: examples/engines/%.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) -std=c++17 $(CPPFLAGS_ALL) $(OPT) -fPIC $(hardened) -Wall -Wextra \
	    $(if $(WERROR),-Werror) $(EXTRA) $(own) -MMD -MP -c $< -o $@

.PHONY: demo examples real
#: Run
examples: $(examples) $(examples_cpp) $(control_loop) $(episode) $(example_cuda) $(certify) $(mpi)
examples: ## Build the example programs, and say where they are
	@echo "Built in $(OBJ)/examples"
demo: all $(OBJ)/libdigits.so ## Certify a network that reads the angle of digits: DEMO=options
	@CERTREG_LIB=$(OBJ)/libcertreg.so PYTHONPATH=python:lib/deps PYTHONDONTWRITEBYTECODE=1 \
	    $(or $(PYTHON),python3) examples/demo/demo.py --digits $(OBJ)/libdigits.so $(DEMO)
# Its drawings.
$(OBJ)/libdigits.so: examples/demo/digits.c
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) -fvisibility=default -shared $< -o $@ -lm

real_program = $(wildcard examples/real/$(NAME)/$(NAME).py)
real: $(if $(real_program),all)
real: ## Certify a published model, after make deps-real: NAME=diamonds REAL=options
	@$(if $(real_program),,echo 'real: which one? NAME=diamonds, face or pitch' >&2; exit 2)
	@CERTREG_LIB=$(OBJ)/libcertreg.so PYTHONPATH=python:lib/deps:$(real) \
	    PYTHONDONTWRITEBYTECODE=1 $(or $(PYTHON),python3) $(real_program) $(REAL)

$(examples): $(OBJ)/examples/%: $(OBJ)/examples/%.o $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/..) -lm
$(control_loop): %: %.o $(control_parts) $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/../..) -lm
$(episode): %: %.o $(OBJ)/examples/control_loop/plant.o $(OBJ)/examples/control_loop/network.o
$(episode): $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/../..) -lm
# The weights, as the bits of floats; rows of them side by side, as fast as that is without flags of
# the processor.
$(OBJ)/examples/control_loop/network.o: own = -I$(@D) -O3
$(OBJ)/examples/control_loop/network.o: $(OBJ)/examples/control_loop/weights.h
$(OBJ)/examples/control_loop/weights.h: examples/control_loop/weights.f32
	@mkdir -p $(@D)
	$(call say,OD,$@)od -An -v -tx4 --endian=little $< | sed 's/ *\([0-9a-f]\{8\}\)/0x\1,/g' >$@
# In C++, of which there may be one of the same name.
CXXFLAGS_ALL = -std=c++17 $(OPT) -fPIC $(hardened) $(filter-out %-prototypes,$(WARN)) \
    $(CXXFLAGS) $(EXTRA)
$(OBJ)/%.cpp.o: %.cpp
	@mkdir -p $(@D)
	$(call say,CXX,$<)$(CXX) -Iinclude -DCERTREG_EXPERIMENTAL $(CPPFLAGS) $(CXXFLAGS_ALL) $(own) \
	    -MMD -MP -c $< -o $@
$(examples_cpp): $(OBJ)/examples/%_cpp: $(OBJ)/examples/%.cpp.o $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(CXX) $(CXXFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/..'
$(OBJ)/examples/cuda/onnx: $(OBJ)/examples/cuda/onnx.o $(engine_objects) $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/../..) $(engine_libs)
$(OBJ)/examples/cuda/network: $(OBJ)/examples/cuda/network.o $(OBJ)/libcertreg.so \
    $(OBJ)/$(modules)/libcertreg_cuda.so
	$(call say,LINK,$@)$(call link_shared,/../..) $(cuda_link) -lm
$(certify): $(OBJ)/examples/engines/certify.o $(all_engines) $(OBJ)/libcertreg.so \
    $(OBJ)/examples/engines/built
	$(call say,LINK,$@)$(call link_shared,/../..) $(all_engine_libs)
$(OBJ)/examples/mpi/%.o: own = $(mpi_cflags)
$(mpi): $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard examples/mpi/*.c))) $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/../..) $(call once,mpi_libs,mpicc -showme:link) -lm
# They look for it beside the library.
$(examples) $(examples_cpp) $(control_loop) $(episode) $(example_cuda) $(certify) $(mpi): \
    $(blas_made)
# Which engines were built: one more, or one less, links again.
ifneq ($(strip built $(built_engines)),$(strip $(file <$(OBJ)/examples/engines/built)))
$(OBJ)/examples/engines/built: FORCE
	@mkdir -p $(@D); echo built $(built_engines) >$@
endif
