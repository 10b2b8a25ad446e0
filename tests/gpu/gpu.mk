# Tests on a real device. With a toolkit they build everywhere; without a device they say so.
gpu_programs := $(if $(NVCC),$(OBJ)/check_gpu $(OBJ)/bench_gpu $(OBJ)/sqrt_all)
check_gpu    := $(addprefix $(OBJ)/tests/gpu/,check_gpu.o contract.o uses.o crash.o) \
    $(OBJ)/libcertreg.a

.PHONY: check-gpu check-gpu-memory gpu-bundle
#: Test
check-gpu: all $(gpu_programs) ## Test the CUDA backend on a device against the CPU
	@$(if $(NVCC),$(OBJ)/check_gpu,echo 'check-gpu: skipped, no nvcc')
check-gpu-memory: all $(gpu_programs) ## Run check-gpu under compute-sanitizer
	@failed=; for tool in memcheck racecheck synccheck initcheck; do echo "== $$tool"; \
	    CK_RUN_CASE=typical compute-sanitizer --tool $$tool --error-exitcode 9 $(OBJ)/check_gpu || \
	        failed="$$failed $$tool"; done; \
	    [ -z "$$failed" ] || { echo "check-gpu-memory: failed:$$failed"; exit 1; }

$(OBJ)/tests/gpu/check_gpu.o: own = -Itests -isystem $(CUDA_HOME)/include $(check_cflags)
$(OBJ)/check_gpu: $(check_gpu) $(OBJ)/$(modules)/libcertreg_cuda.so $(blas_made)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(filter %.o %.a,$^) -o $@ $(check_libs) $(cuda_link) \
	    $(static_libs)
$(OBJ)/sqrt_all: $(OBJ)/tests/gpu/sqrt_all.o
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $< -o $@ $(cuda_link) -lm

# Tests of the words on the host take cuRAND's header in where it is.
$(if $(NVCC),$(OBJ)/tests/unit_grid_rounding: $(OBJ)/tests/gpu/curand_words.cpp.o)
$(OBJ)/tests/gpu/curand_words.cpp.o: own = -isystem $(CUDA_HOME)/include \
    -isystem $(CUDA_HOME)/include/cccl

# What a machine with a driver and CUDA's libraries, and nothing else, needs to run these: .gpu/,
# with the host's libraries in .gpu/libs. The C library is that machine's.
bundle       := $(OBJ)/bundle
bundled      := $(addprefix $(bundle)/,check_gpu bench_gpu libcertreg.so.$(MAJOR)) $(OBJ)/sqrt_all
bundled_modules := $(OBJ)/$(modules)/libcertreg_cuda.so $(blas_module:$(O)/%=$(bundle)/%)
bundle_libs  := $(module_blas) -lm -lpthread -ldl
bundle_link   = $(CC) $(CFLAGS_ALL) -s -Wl,--disable-new-dtags,-rpath,'$$ORIGIN$(1)/libs' \
    $(filter %.o %.a,$^) -o $@
the_hosts    := /(ld-linux|libc|libm|libdl|librt|libpthread|libcuda|libcublas|libcublasLt)[-.]
$(bundle)/check_gpu: $(check_gpu)
$(bundle)/bench_gpu: $(OBJ)/bench/gpu/bench_gpu.o $(OBJ)/libcertreg.a
$(bundle)/check_gpu $(bundle)/bench_gpu:
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(call bundle_link,) $(check_libs) $(cuda_link) $(bundle_libs)
$(bundle)/libcertreg.so.$(MAJOR): $(objects) src/certreg.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(call bundle_link,) $(library_flags) $(shared_libs)
$(bundle)/$(modules)/libcertreg_blas.so: $(blas_objects) $(module_common)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(call bundle_link,/..) $(module_flags) $(bundle_libs)

# first.sh and second.sh, and what they run in Python.
scripts       := tests/gpu/first.sh tests/gpu/second.sh tests/gpu/steps.sh \
    bench/gpu/torch_peer.py examples/python/torch_model.py examples/models/rotation.onnx
bundle_scripts = mkdir -p $(1)/python && cp $(scripts) $(1)/ && \
    cp -r python/certreg $(1)/python/ && find $(1)/python -name __pycache__ -prune -exec rm -r {} +

gpu-bundle: $(if $(NVCC),$(bundled) $(bundled_modules))
gpu-bundle: ## Collect in .gpu/ what a bare machine needs
ifneq ($(NVCC),)
	@rm -rf .gpu; mkdir -p .gpu/$(modules) .gpu/libs
	$(call say,COPY,.gpu)cp $(bundled) .gpu/ && cp $(bundled_modules) .gpu/$(modules)/
	@find .gpu -type f -exec ldd {} + | sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u | \
	    grep -vE '$(the_hosts)' | xargs -I{} cp -L {} .gpu/libs/
	@strip --strip-unneeded .gpu/sqrt_all .gpu/$(modules)/* .gpu/libs/*
	@$(call bundle_scripts,.gpu)
else
	@echo 'gpu-bundle: skipped, no nvcc'
endif

# The bundle once more, of the emulated device, so that the scripts are tried to their end where no
# device is (tests/gpu/rehearse.sh). Its programs do a part of the work.
rehearsal := $(OBJ)/tests/rehearsal
rehearsed := $(addprefix $(rehearsal)/,check_gpu bench_gpu sqrt_all libcertreg.so.$(MAJOR) \
    $(modules)/libcertreg_cuda.so)
$(rehearsal)/%.o: own = -Itests/emulated -Itests $(check_cflags) -DBENCH_PART=20 \
    -Dgpu_crash=emulated_crash
$(rehearsal)/%.o: tests/gpu/%.c
	@mkdir -p $(@D)
	$(call say,CC,$< (emulated))$(CC) $(own) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(rehearsal)/%.o: bench/gpu/%.c
	@mkdir -p $(@D)
	$(call say,CC,$< (emulated))$(CC) $(own) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(rehearsal)/sqrt_all.o: tests/gpu/sqrt_all.cu
	@mkdir -p $(@D)
	$(call say,CXX,$< (emulated))$(CXX) -x c++ -std=c++17 -Itests/emulated $(CPPFLAGS_ALL) $(OPT) \
	    '-DSQRT_EACH=(1u<<16)' -ffp-contract=off $(EXTRA) -MMD -MP -c $< -o $@
$(rehearsal)/check_gpu $(rehearsal)/bench_gpu $(rehearsal)/sqrt_all: $(rehearsal)/%: \
    $(rehearsal)/%.o $(OBJ)/tests/support.a $(OBJ)/libcertreg.a | $(emulated)
	$(call say,LINK,$@)$(CXX) $(OPT) $(EXTRA) $(filter %.o %.a,$^) -o $@ -L$(OBJ)/tests \
	    -lemulated_cuda -Wl,-rpath,'$$ORIGIN/..' $(check_libs) $(static_libs)
$(rehearsal)/libcertreg.so.$(MAJOR): $(OBJ)/libcertreg.so
	@mkdir -p $(@D) && cp -L $< $@
$(rehearsal)/$(modules)/libcertreg_cuda.so: $(OBJ)/tests/emulated_module.so
	@mkdir -p $(@D) && cp $< $@
.PHONY: gpu-rehearsal
gpu-rehearsal: $(rehearsed)
	@$(call bundle_scripts,$(rehearsal))
