# Certificates attacked by statistics (tests/misses): make check runs a fixed number of settings,
# make check-misses as many as there is time for.
misses         := $(OBJ)/tests/misses/misses
misses_objects := $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/misses/*.c)))
check: $(misses)

SECONDS ?= 60
.PHONY: check-misses
#: Test
check-misses: $(misses) ## Attack certificates by statistics for SECONDS=60; table in lib/misses.csv
	@OBJ=$(OBJ) JOBS=$(jobs) SECONDS_EACH=$(SECONDS) bash tests/misses/run.sh

$(misses): $(misses_objects) $(OBJ)/tests/support.a $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)
