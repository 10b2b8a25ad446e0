# Bounds of the float normals, from all words: make check looks at one word in 256, make check-all
# at all of them.
proof := $(OBJ)/tests/proof/normals

.PHONY: prove
#: Measure
prove: $(proof) ## Write tests/proof/normals.txt, bounds of the float normals, in three minutes
	@$(proof) >tests/proof/normals.txt.new && mv tests/proof/normals.txt.new tests/proof/normals.txt

# One file for every kind of lanes. -mfma is for speed alone, fmaf having the same bits; but for the
# four lanes, which are those of processors without it.
lanes := scalar $(if $(filter x86_64-% aarch64-%,$(target)),four) \
    $(if $(filter x86_64-%,$(target)),avx2 avx512)
$(OBJ)/tests/proof/%.o: own := $(if $(shell grep -sw fma /proc/cpuinfo),-mfma)
$(OBJ)/tests/proof/words_four.o: own :=
$(OBJ)/tests/proof/words_avx2.o: own := -mavx2 -mfma
$(OBJ)/tests/proof/words_avx512.o: own := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
words := $(lanes:%=$(OBJ)/tests/proof/words_%.o)
$(words): $(OBJ)/tests/proof/words_%.o: tests/proof/words.c
	@mkdir -p $(@D)
	$(call say,CC,$< ($*))$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(own) -DWORDS=words_$* \
	    -DLANES='"backend/simd_$*.h"' -MMD -MP -c $< -o $@
$(proof): $(OBJ)/tests/proof/normals.o $(words) $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)
