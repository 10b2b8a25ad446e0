# Example programs and the demo. They are linked with the shared library, as anybody's programs are.
examples     := $(patsubst %.c,$(OBJ)/%,$(sort $(wildcard examples/*.c)))
example_cuda := $(OBJ)/examples/cuda/onnx $(if $(NVCC),$(OBJ)/examples/cuda/network)
link_shared   = $(CC) $(CFLAGS_ALL) $(filter %.o,$^) -o $@ -L$(OBJ) -lcertreg \
    -Wl,-rpath,'$$ORIGIN$(1)'

# The engines of the networks that demo, tests and benches share.
engine_sources := $(filter-out %/check_engines.c,$(sort $(wildcard examples/engines/*.c)))
engine_objects := $(engine_sources:%.c=$(OBJ)/%.o)
engine_cflags   = $(call once,engine_cflags,pkg-config --cflags openblas)
engine_libs     = $(call once,engine_openblas,pkg-config --libs openblas) -ldl -lm
demo_objects   := $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard examples/demo/*.c))) \
    $(engine_objects)
$(OBJ)/examples/engines/%.o: own = $(engine_cflags)

.PHONY: demo demo-full examples
#: Run
examples: $(examples) $(example_cuda) ## Build the example programs, and say where they are
	@echo "Built in $(OBJ)/examples"
demo: all $(OBJ)/demo ## Certify a network that reads the angle of turned digits
	@$(OBJ)/demo
demo-full: all $(OBJ)/demo ## The same with the protocol of the benchmarks
	@DEMO_IMAGES=100 DEMO_N=10000 $(OBJ)/demo

$(examples): $(OBJ)/examples/%: $(OBJ)/examples/%.o $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/..) -lm
$(OBJ)/examples/cuda/onnx: $(OBJ)/examples/cuda/onnx.o $(OBJ)/examples/engines/ort.o \
    $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,/../..) -ldl
$(OBJ)/examples/cuda/network: $(OBJ)/examples/cuda/network.o $(OBJ)/libcertreg.so \
    $(OBJ)/certreg/libcertreg_cuda.so
	$(call say,LINK,$@)$(call link_shared,/../..) $(cuda_link) -lm
$(OBJ)/demo: $(demo_objects) $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(call link_shared,) $(engine_libs) -lz -lpthread
$(OBJ)/check_engines: $(OBJ)/examples/engines/check_engines.o $(engine_objects)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(engine_libs)
# They look for it beside the library.
$(examples) $(example_cuda) $(OBJ)/demo: $(blas_made)
