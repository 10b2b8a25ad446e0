# As on other processors. Denoisers are made with every instruction set of OpenBLAS that this
# processor has. What uses the CPU backend runs in a build that knows only the portable kernels, and
# in one that knows AVX2 too; all of them have to give the same bytes.
by_blas := $(shell grep -l denoiser_create tests/*.c)
by_blas := $(filter-out $(OBJ)/tests/unit_denoiser,$(by_blas:tests/%.c=$(OBJ)/tests/%))

by_path := $(fast) $(call named,unit_cpu prop_conditions prop_true_radius)
compared := $(golden) $(OBJ)/tests/platforms/platform

.PHONY: check-paths on-path
#: Test
check-paths: $(by_blas) $(compared)
check-paths: ## Run tests as on processors without AVX-512 and AVX2, and under every BLAS kernel
	@set -e; for core in $$(bash tests/paths/cores.sh); do echo "OPENBLAS_CORETYPE=$$core"; \
	    OPENBLAS_CORETYPE=$$core MODE=paths $(run_tests) $(by_blas); done
	@$(golden) >$(OBJ)/golden.txt
	@set -e; for path in CR_CPU_PORTABLE CR_CPU_AVX2; do echo "$$path"; $(MAKE) NVCC= \
	    --no-print-directory CPPFLAGS='$(CPPFLAGS) -DCR_CPU_MAX_PATH='$$path \
	    BASE=$(OBJ)/golden.txt on-path; done
on-path: $(by_path) $(compared)
	@BASE=$(BASE) MODE=paths $(run_tests) $(by_path)
