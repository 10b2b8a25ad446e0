# Certificates of every kind, compared with those that are kept (tests/golden/compare.sh). The kept
# ones came from another machine, so last bits differ; for the same bytes record on this one first.
golden      := $(OBJ)/tests/golden/golden
golden_base := lib/golden.txt

.PHONY: golden-check golden-base golden-compare
#: Test
golden-check: $(golden) ## Compare certificates of every kind with the kept ones, within tolerances
	@bash tests/golden/compare.sh $<
golden-base: $(golden) ## Record them on this machine, before a change that must not alter any bit
	@mkdir -p lib && $< >$(golden_base).new && \
	    mv $(golden_base).new $(golden_base)
golden-compare: $(golden) ## Demand the same bytes as golden-base recorded
	@bash tests/golden/compare.sh $< $(golden_base) exact

$(golden): $(addprefix $(OBJ)/tests/golden/,golden.o rows.o others.o recent.o) | \
    $(OBJ)/libcertreg.so $(test_modules)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ -L$(OBJ) -lcertreg $(emulated_link) \
	    $(call in_folder,/../..:$$ORIGIN/..) -lm -lpthread -ldl
