# Certificates attacked by statistics (tests/misses): make check runs a fixed number of settings,
# make check-misses as many as there is time for.
misses         := $(OBJ)/tests/misses/misses
misses_objects := $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/misses/*.c)))

SECONDS ?= 60
FROM    ?= 1
.PHONY: check-misses
#: Test
check-misses: ## Attack certificates by statistics for SECONDS=60; table in lib/misses.csv
	@$(call whole,SECONDS); $(call whole,FROM); $(MAKE) --no-print-directory $(misses) && \
	    OBJ=$(OBJ) JOBS=$(jobs) SECONDS_EACH=$(SECONDS) FROM=$(FROM) \
	    bash tests/misses/run.sh

$(misses): $(misses_objects) $(OBJ)/tests/support.a $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)
