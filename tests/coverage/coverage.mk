# Which lines of src/ the tests reach, of everything but the CUDA module, by gcov: what check-fast
# runs, the certificates of tests/golden, and of the longer tests those that reach more. Kernels of
# every instruction set that this processor has are reached, since tests force each of them
# (unit_contract). lib/coverage.txt has the lines that no test reaches, and why not
# (tests/coverage/unreached.txt).
covered   := $(filter-out $(in_cpp),$(fast)) $(call named,api_device_attack api_device_failures \
    prop_deadline_closing prop_units prop_solver_hessian prop_worst_function)
COVERAGE  ?= 92

.PHONY: coverage coverage-report
#: Test
coverage: ## Write to lib/coverage.txt which lines no test reaches; fails below COVERAGE=92 per cent
	@command -v gcov >/dev/null || { echo 'coverage: skipped, no gcov'; exit; }; \
	    $(MAKE) --no-print-directory CC=gcc CXX=g++ EXTRA=--coverage OPT='-O1 -g' NVCC= \
	        coverage-report
coverage-report: $(covered) $(OBJ)/tests/golden/golden
	@find $(OBJ) -name '*.gcda' -delete
	@CK_FORK=no CK_TIMEOUT_MULTIPLIER=10 SANITIZED=1 MODE=programs $(run_tests) \
	    $(covered)
	@$(OBJ)/tests/golden/golden >/dev/null
	@python3 tests/coverage/report.py $(OBJ) $(COVERAGE)
