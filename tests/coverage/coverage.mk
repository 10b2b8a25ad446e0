# Which lines of src/ the tests reach, by gcovr, without the CUDA module. The tests are those of
# check-fast, the certificates of tests/golden, and those longer tests that reach more lines. Tests
# force every instruction set that this processor has (unit_cpu), so its kernels are reached.
# lib/coverage.txt lists the lines that no test reaches.
covered   := $(filter-out $(in_cpp),$(fast)) $(call named,api_device_failures \
    prop_deadline prop_conditions prop_solver)
COVERAGE  ?= 92

.PHONY: coverage coverage-report
#: Test
coverage: ## List the lines no test reaches in lib/coverage.txt; fails below COVERAGE=92 per cent
	@[[ '$(COVERAGE)' =~ ^[0-9]+([.][0-9]+)?$$ ]] || { \
	    echo 'COVERAGE=$(COVERAGE): give a percentage, as 92 or 92.5' >&2; exit 2; }; \
	for tool in gcc g++ gcovr; do \
	    command -v $$tool >/dev/null || { echo "skip coverage: there is no $$tool"; exit; }; \
	done; $(MAKE) --no-print-directory CC=gcc CXX=g++ EXTRA=--coverage OPT='-O1 -g' NVCC= \
	        coverage-report
coverage-report: $(covered) $(OBJ)/tests/golden/golden
	@find $(OBJ) -name '*.gcda' -delete
	@CK_FORK=no SANITIZED=1 MODE=programs $(run_tests) \
	    $(covered)
	@$(OBJ)/tests/golden/golden >/dev/null
	@gcovr --root . --filter src/ --exclude src/backend/cuda/ $(OBJ) --txt lib/coverage.txt \
	    --fail-under-line $(COVERAGE); status=$$?; tail -3 lib/coverage.txt; exit $$status
