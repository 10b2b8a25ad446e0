# Measurements. What is measured runs alone, after everything has been built.
latency := $(OBJ)/bench/bench_latency
benches := $(filter-out $(latency),$(patsubst %.c,$(OBJ)/%,$(sort $(wildcard bench/bench_*.c))))

# A package of bench/ in Python, with what it reads.
of_bench = CERTREG_LIB=$(OBJ)/libcertreg.so REPRODUCE_DIGITS=$(CURDIR)/$(OBJ)/libdigits.so \
    PYTHONPATH=python:bench:examples/models:lib/deps:lib/deps/real PYTHONDONTWRITEBYTECODE=1 \
    $(or $(PYTHON),python3)

.PHONY: bench bench-gpu bench-latency bench-page bench-rows reproduce figures
#: Measure
bench: all $(benches) ## Time the library against its peers
	@rm -f lib/bench.md
	@set -e; for b in $(benches); do echo "== $$(basename $$b)"; \
	    PYTHON='$(PYTHON)' $$b lib/bench.md; done
bench-page: ## Write what was measured into docs/
	@$(or $(PYTHON),python3) bench/page.py
bench-latency: $(latency) ## Time the ticks of the control loop, ten minutes: TICKS=100000
	@$< $(or $(TICKS),100000) lib/bench_latency.md
bench-rows: all ## Time certify_rows of the Python package, after make deps-all
	@for b in rows tables networks; do CERTREG_LIB=$(OBJ)/libcertreg.so PYTHONPATH=python \
	    $(or $(PYTHON),$(wildcard $(venv)/bin/python),python3) bench/bench_$$b.py || exit; done
reproduce: all $(OBJ)/libdigits.so ## Repeat the paper's experiments; QUICK=1: two minutes
	@$(of_bench) -m reproduce $(PARTS)
figures: all $(control_loop) $(OBJ)/libdigits.so
figures: ## Draw the figures of the guide; QUICK=1: in small, 15 seconds
	@$(of_bench) -m figures $(PARTS)
bench-gpu: all $(gpu_programs) ## Time the CUDA backend on a device
ifneq ($(NVCC),)
	@rm -f lib/bench_gpu.csv; $(OBJ)/bench_gpu lib/bench_gpu.csv
else
	@echo 'bench-gpu: skipped, no nvcc'
endif
	@-$(if $(PYTHON),$(PYTHON) bench/gpu/torch_peer.py lib/bench_gpu.csv)

$(OBJ)/bench/%.o: own = -Itests -Iexamples
$(benches): $(OBJ)/bench/%: $(OBJ)/bench/%.o $(OBJ)/tests/support.a $(OBJ)/examples/engines.a \
    $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(engine_libs) $(static_libs)
$(latency): %: %.o $(control_parts) $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)
$(OBJ)/bench/gpu/bench_gpu.o: own = -isystem $(CUDA_HOME)/include
$(OBJ)/bench_gpu: $(OBJ)/bench/gpu/bench_gpu.o $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(filter %.o %.a,$^) -o $@ $(cuda_link) $(static_libs)
$(benches) $(latency) $(OBJ)/bench_gpu: $(blas_made)
$(OBJ)/bench_gpu: $(OBJ)/$(modules)/libcertreg_cuda.so
