# AArch64 without such a processor: cross compilers build into lib/arm, and programs run under
# qemu-user, with the libraries of Debian's arm64 packages in lib/deps/arm64. No time is measured.
arm_root  := $(CURDIR)/lib/deps/arm64
arm_libs  := $(arm_root)/usr/lib/aarch64-linux-gnu
arm_flags := -isystem $(arm_root)/usr/include \
    -isystem $(arm_root)/usr/include/aarch64-linux-gnu/openblas-pthread -L$(arm_libs) \
    -L$(arm_libs)/openblas-pthread -Wl,-rpath-link,$(arm_libs):$(arm_libs)/openblas-pthread
arm_run   := qemu-aarch64 -L /usr/aarch64-linux-gnu \
    -E LD_LIBRARY_PATH=$(arm_libs):$(arm_libs)/openblas-pthread:/usr/aarch64-linux-gnu/lib
arm_build = --no-print-directory O=lib/arm NVCC= AR=aarch64-linux-gnu-ar blas_cflags= \
    check_cflags= check_libs='-lcheck_pic -lsubunit -lrt -lm' NATIVE=$(platform_program)
# Too slow in the emulator: minutes each, most of them in long doubles, which aarch64 computes in
# software.
arm_slow  := $(call named,prop_solver prop_true_radius unit_group_sequential)
arm_programs := $(filter-out $(arm_slow),$(call named,unit_% api_% fault_% prop_%))

counter := $(OBJ)/tests/arm/counter
$(counter): $(OBJ)/tests/arm/counter.o $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)

.PHONY: check-arm deps-arm on-arm on-arm-clang
#: Test
check-arm: $$(golden) $$(platform_program) $$(counter)
check-arm: ## Build for aarch64 by gcc and clang, and run tests and certificates in an emulator
	@for tool in aarch64-linux-gnu-g++ clang qemu-aarch64; do \
	    command -v $$tool >/dev/null || { echo "skip check-arm: there is no $$tool"; exit; }; done; \
	[ -e $(arm_libs)/libcheck.a ] || { \
	    echo 'skip check-arm: no arm64 packages in lib/deps/arm64 (make deps-all)'; exit; }; \
	$(golden) >$(OBJ)/golden.txt && \
	$(MAKE) $(arm_build) CC='aarch64-linux-gnu-gcc $(arm_flags)' \
	    CXX='aarch64-linux-gnu-g++ $(arm_flags)' BASE=$(OBJ)/golden.txt on-arm && \
	$(MAKE) $(arm_build) CC='clang --target=aarch64-linux-gnu' BLAS=0 on-arm-clang && \
	bash tests/arm/instructions.sh $(counter) qemu-x86_64 -cpu max
# SANITIZED: limits of memory would be limits of the emulator.
on-arm: $(arm_programs) $$(golden) $$(platform_program) $$(counter)
	@MODE=programs SANITIZED=1 WRAP='$(arm_run)' $(run_tests) $(arm_programs)
	@NATIVE=$(NATIVE) bash tests/platforms/check.sh aarch64-gcc $(platform_program) $(arm_run)
	@bash tests/golden/compare.sh $(golden) $(BASE) 1e-12 $(arm_run)
	@bash tests/arm/instructions.sh $(counter) $(arm_run)
# clang has no __builtin_setjmp for aarch64, which tests with the emulated device need.
on-arm-clang: $(OBJ)/libcertreg.so $$(platform_program) $$(counter)
	@NATIVE=$(NATIVE) bash tests/platforms/check.sh aarch64-clang $(platform_program) $(arm_run)
	@bash tests/arm/instructions.sh $(counter) $(arm_run)

deps-all: deps-arm
deps-arm: ## Install what check-arm needs beyond deps: Debian's arm64 packages into lib/deps/arm64
	@$(call install_debian,g++-aarch64-linux-gnu clang qemu-user)
	@[ -e $(arm_libs)/libcheck.a ] || bash tests/arm/packages.sh $(arm_root)
