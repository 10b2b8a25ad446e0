# A long run of one process. make check makes a short one.
soak_program := $(OBJ)/tests/soak/soak
SOAK         ?= 1e6

.PHONY: soak
#: Test
soak: $(soak_program) ## Make SOAK=1e6 certificates in one process, and compare it before and after
	@time $(soak_program) $(SOAK)
$(soak_program): $(OBJ)/tests/soak/soak.o | $(OBJ)/libcertreg.so
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg $(call in_folder,/../..) -lm
