# Every program in which threads meet runs under ThreadSanitizer. Check does not fork, since a fork
# would come in the middle of other threads. Addresses are fixed where the system allows it: some
# kernels place a program where the sanitizer needs the room. Two long programs are mostly about
# one thread; only their Check case "threads" runs. The emulated device runs the threads of a block
# as fibers of one thread, so the sanitizer finds races of the host's threads only.
threaded := $(shell grep -lE 'pthread|_open_cpu' tests/*.c)
threaded := $(filter-out $(OBJ)/tests/fault_memory,$(threaded:tests/%.c=$(OBJ)/tests/%))
in_part  := $(call named,api_device unit_backend)

.PHONY: check-thread threads
#: Test
check-thread: ## Run the tests that use threads under ThreadSanitizer
	@if $(call links,$(CC) -fsanitize=thread); then \
	    $(MAKE) --no-print-directory EXTRA=-fsanitize=thread OPT='-O1 -g' NVCC= threads; \
	else echo 'skip check-thread: $(CC) has no library of ThreadSanitizer'; fi
threads: $(threaded)
	@fixed=; setarch -R true 2>/dev/null && fixed='setarch -R'; \
	    export CK_FORK=no SANITIZED=1 THREADS_ROUNDS=10 MODE=programs; \
	    WRAP="$$fixed" $(run_tests) $(filter-out $(in_part),$^) && \
	    WRAP="$$fixed" CK_RUN_CASE=threads $(run_tests) $(in_part)
