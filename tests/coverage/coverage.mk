# Which lines of src/ the tests reach, of everything but the CUDA module, by gcov. Tests that
# simulate for long are left out; they reach what others reach. lib/coverage.txt has the lines that
# no test reaches, and why not (tests/coverage/unreached.txt).
simulated := $(call named,cover_%)
covered   := $(filter-out $(simulated) $(call named,prop_solver),$(slow) $(fast)) \
    $(OBJ)/tests/golden/golden
COVERAGE  ?= 92

.PHONY: coverage coverage-report
#: Test
coverage: ## Write to lib/coverage.txt which lines no test reaches; fails below COVERAGE=92 per cent
	@command -v gcov >/dev/null || { echo 'coverage: skipped, no gcov'; exit; }; \
	    $(MAKE) --no-print-directory CC=gcc CXX=g++ EXTRA=--coverage OPT='-O1 -g' NVCC= \
	        coverage-report
coverage-report: $(covered)
	@find $(OBJ) -name '*.gcda' -delete
	@CK_FORK=no CK_TIMEOUT_MULTIPLIER=10 SANITIZED=1 MODE=programs $(run_tests) \
	    $(filter-out %/golden,$(covered))
	@$(OBJ)/tests/golden/golden >/dev/null
	@python3 tests/coverage/report.py $(OBJ) $(COVERAGE)
