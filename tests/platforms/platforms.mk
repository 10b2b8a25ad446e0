# The same program for every platform, without Check, BLAS and the emulated device. Cross compilers
# compile it, and it runs under emulators of their processors.
platform_program := $(OBJ)/tests/platforms/platform

.PHONY: check-platforms platform-program
#: Test
check-platforms: $(platform_program)
check-platforms: ## Compare results with other compilers, processors (qemu) and C libraries (musl)
	@MAKE='$(MAKE)' JOBS=$(jobs) NATIVE=$(platform_program) ZIG='$(ZIG)' \
	    bash tests/platforms/platforms.sh
platform-program: $(platform_program)
	@echo "program $<"

$(OBJ)/tests/platforms/%.o: own = -Itests
$(platform_program): %: %.o $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(LDFLAGS) $^ -o $@ $(static_libs)
