# How the sources are laid out, and what clang-tidy says about them.

.PHONY: format format-check tidy
#: Test
format: ## Lay out the sources by clang-format, and the notebooks without results
	@bash tests/clang.sh format
	@python3 tests/notebooks.py
format-check: ## Check that they are laid out so, and that no line is too wide
	@bash tests/columns.sh && bash tests/clang.sh format-check
tidy: compile_commands.json ## Check src/ by clang-tidy
	@JOBS=$(jobs) bash tests/clang.sh tidy

# How each file is compiled, from what make would run: for clang-tidy, clangd, editors.
#: Build
this_make := $(MAKE)
database := $(patsubst %.c,$(OBJ)/%.o,$(sources) $(blas_sources) $(tests) $(support) \
    $(engine_sources) $(wildcard examples/*.c examples/demo/*.c bench/*.c \
    $(if $(NVCC),src/backend/cuda/*.c)))
.PHONY: database
database: $(database)
compile_commands.json: FORCE ## Write the compile database, which clang reads
	@MAKEFLAGS= $(this_make) -Bn --no-print-directory V=1 database interleave= | \
	awk -v folder='$(CURDIR)' '{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\"") } \
	    match($$0, / -c [^ ]+\.c -o /) { split(substr($$0, RSTART), word, " "); \
	        printf "%s{\"directory\": \"%s\", \"command\": \"%s\", \"file\": \"%s\"}", \
	            before, folder, $$0, word[2]; before = ",\n " } \
	    BEGIN { printf "[" } END { print "]" }' >$@
