# Fuzzing: each tests/fuzz/NAME.c is one fuzzer, with fuzz_one of fuzz.h. make check replays the
# inputs of tests/fuzz/corpus/NAME.hex with the ordinary compiler; make fuzz goes on from them with
# clang's libFuzzer, and with sanitizers unless FUZZ_SAN is empty.
fuzz_common := tests/fuzz/replay.c tests/fuzz/libfuzzer.c
fuzz_names  := $(patsubst tests/fuzz/%.c,%,$(filter-out $(fuzz_common),$(wildcard tests/fuzz/*.c)))
replays     := $(fuzz_names:%=$(OBJ)/tests/fuzz/%)
fuzzers     := $(fuzz_names:%=$(OBJ)/tests/fuzz/%-fuzzer)
sanitized: $(replays)

FUZZ     ?= $(fuzz_names)
FUZZ_S   ?= 60
FUZZ_SAN ?= address,undefined
comma    := ,
.PHONY: fuzz fuzzers fuzz-corpus
#: Test
fuzz: ## Run the fuzzers for FUZZ_S=60 seconds each: FUZZ=names; FUZZ_SAN=memory, or empty
	@$(call whole,FUZZ_S); for name in $(filter-out $(fuzz_names),$(FUZZ)); do \
	    echo "FUZZ: there is no fuzzer $$name, only $(fuzz_names)" >&2; exit 2; done; \
	$(if $(FUZZ),,echo 'FUZZ: name at least one fuzzer' >&2; exit 2;) \
	$(call links,clang -fsanitize=fuzzer-no-link$(FUZZ_SAN:%=$(comma)%)) || { \
	    echo 'skip fuzz: there is no clang with its sanitizers (make deps-all)'; exit; }; \
	$(MAKE) --no-print-directory CC=clang OPT='-O2 -g' NVCC= \
	    $(if $(findstring memory,$(FUZZ_SAN)),BLAS=0) \
	    EXTRA='-fsanitize=fuzzer-no-link$(FUZZ_SAN:%=$(comma)%) -fno-sanitize-recover=all \
        -fno-sanitize-coverage=trace-cmp,trace-div,trace-gep' \
	    FUZZ='$(FUZZ)' FUZZ_S='$(FUZZ_S)' fuzzers
fuzzers: $(FUZZ:%=$(OBJ)/tests/fuzz/%-fuzzer)
	@OBJ=$(OBJ) JOBS=$(jobs) SECONDS_EACH=$(FUZZ_S) bash tests/fuzz/run.sh $(FUZZ)
fuzz-corpus: ## Keep in tests/fuzz/corpus the fewest inputs that reach what fuzz has reached
	@$(MAKE) --no-print-directory MERGE=1 fuzz

$(OBJ)/tests/fuzz/%.o: own = -Itests
fuzz_objects := $(entropy) $(OBJ)/tests/support.a
$(replays): $(OBJ)/tests/fuzz/%: $(OBJ)/tests/fuzz/%.o $(OBJ)/tests/fuzz/replay.o \
    $(fuzz_objects) $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)
$(fuzzers): $(OBJ)/tests/fuzz/%-fuzzer: $(OBJ)/tests/fuzz/%.o $(OBJ)/tests/fuzz/libfuzzer.o \
    $(fuzz_objects) $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) -fsanitize=fuzzer $^ -o $@ $(static_libs)
