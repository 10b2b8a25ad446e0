# The CUDA module.
cuda_sources := $(sort $(wildcard src/backend/cuda/*.c src/backend/cuda/*.cu))
cuda_objects := $(addsuffix .o,$(addprefix $(OBJ)/,$(basename $(cuda_sources))))
cuda_module  := $(if $(NVCC),$(O)/$(modules)/libcertreg_cuda.so)
libraries    += $(cuda_module)
# What a program with CUDA inside is linked with: of CUDA it needs the driver alone, of C++ nothing.
cuda_link = -L$(CUDA_HOME)/lib64 -lcudart_static -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic \
    -static-libgcc -lpthread -ldl -lrt

$(OBJ)/src/backend/cuda/%.o: own = -isystem $(CUDA_HOME)/include
$(OBJ)/%.o: %.cu $(wildcard src/backend/*.h src/backend/cuda/*.h)
	@mkdir -p $(@D)
	$(call say,NVCC,$<)$(NVCC) -std=c++17 -O3 -lineinfo $(CPPFLAGS_ALL) \
	    -Xcompiler -fPIC,-fvisibility=hidden,-Wall $(hardened:%=-Xcompiler %) \
	    $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$a,code=sm_$a) \
	    $(foreach a,$(sort $(firstword $(CUDA_ARCH)) $(lastword $(CUDA_ARCH))),-gencode \
	        arch=compute_$a,code=compute_$a) -c $< -o $@
$(OBJ)/$(modules)/libcertreg_cuda.so: $(cuda_objects) $(module_common)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(module_flags) $(LDFLAGS) $^ -L$(CUDA_HOME)/lib64 \
	    -Wl,-rpath,$(CUDA_HOME)/lib64 -lcublas $(cuda_link) -lm -o $@
$(cuda_module): $(O)/.obj/current
