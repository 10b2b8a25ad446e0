# ThreadSanitizer over every program in which threads meet. They run without forks, which Check
# would begin in the middle of other threads, and where addresses may be fixed with fixed ones:
# some kernels place a program where the sanitizer needs the room.
threaded := $(shell grep -lE 'pthread|_open_cpu' tests/*.c)
threaded := $(filter-out $(OBJ)/tests/fault_memory,$(threaded:tests/%.c=$(OBJ)/tests/%))

.PHONY: check-thread threads
#: Test
check-thread: ## Run the tests that use threads under ThreadSanitizer
	@$(MAKE) --no-print-directory EXTRA=-fsanitize=thread OPT='-O1 -g' NVCC= threads
threads: $(threaded)
	@fixed=; setarch -R true 2>/dev/null && fixed='setarch -R'; \
	    CK_FORK=no CK_TIMEOUT_MULTIPLIER=20 SANITIZED=1 THREADS_ROUNDS=40 MODE=programs \
	    WRAP="$$fixed" $(run_tests) $^
