# Mutants: guards, comparisons and roundings of src are changed one at a time, and tests have to
# notice (tests/mutants/run.py). For a mutant one file is compiled, and the library and the programs
# that reach it are linked.
#     MUTANTS_SEED=2         other places
#     MUTANTS_SHARE=10       ten times as many; 100: all
#     MUTANTS_FILES=solver/  places in files whose path matches this regular expression
#     MUTANTS_LONGEST=8      without tests that take more than 8 seconds
#     MUTANTS_AGAIN=1        the survivors of the last run, after a test was written
#     MUTANTS_LISTED=1       those of survivors.txt as well, which are not tried otherwise
MUTANTS_SEED  ?= 1
MUTANTS_SHARE ?= 1
MUTANTS_FILES ?= .
MUTANTS_LONGEST ?= 300
.PHONY: mutants mutants-run
#: Test
mutants: ## Make small mistakes in the sources, which tests have to notice: MUTANTS_FILES=regex
	@command -v gcov >/dev/null || { echo 'skip mutants: there is no gcov'; exit; }; \
	$(MAKE) --no-print-directory OPT=-O2 NVCC= mutants-run
mutated_with = $(entropy) $(OBJ)/tests/support.a ARCHIVE $(emulated_link) -Wl,-rpath,$$ORIGIN \
    $(check_libs) -lquadmath $(static_libs)
mutants-run: $(filter-out $(without_blas),$(programs)) $(OBJ)/tests/golden/golden
	@OBJ='$(OBJ)' JOBS='$(jobs)' PYTHON='$(PYTHON)' LONGEST=$(MUTANTS_LONGEST) \
	    COMPILE='$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL)' \
	    INSIDE='$(mutated_with)' OBJECTS='$(static_objects)' \
	    LIBRARY='$(CC) $(CFLAGS_ALL) $(library_flags) $(objects) $(shared_libs)' \
	    python3 tests/mutants/run.py --seed $(MUTANTS_SEED) --share $(MUTANTS_SHARE) \
	    --files '$(MUTANTS_FILES)' $(if $(MUTANTS_AGAIN),--again) \
	    $(if $(MUTANTS_LISTED),--listed)
