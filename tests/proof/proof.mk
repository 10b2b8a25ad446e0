# Bounds of the float normals, from all words: make check looks at one word in 256, make check-all
# at all of them.
proof := $(OBJ)/tests/proof/normals

.PHONY: prove
#: Measure
prove: $(proof) ## Write tests/proof/normals.txt, bounds of the float normals, in three minutes
	@$(proof) >tests/proof/normals.txt.new && mv tests/proof/normals.txt.new tests/proof/normals.txt

# One file for every kind of lanes. -mfma is for speed alone, fmaf having the same bits; but for
# SSE2, whose processors are without it.
lanes := scalar $(if $(filter aarch64-%,$(target)),neon) \
    $(if $(filter x86_64-%,$(target)),sse2 avx2 avx512)
has_fma := $(if $(filter x86_64-%,$(target)),$(shell grep -sw fma /proc/cpuinfo))
$(OBJ)/tests/proof/%.o: own := $(if $(has_fma),-mfma)
$(OBJ)/tests/proof/words_sse2.o: own :=
$(OBJ)/tests/proof/words_avx2.o: own := -mavx2 -mfma
$(OBJ)/tests/proof/words_avx512.o: own := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
words := $(lanes:%=$(OBJ)/tests/proof/words_%.o)
$(words): $(OBJ)/tests/proof/words_%.o: tests/proof/words.c
	@mkdir -p $(@D)
	$(call say,CC,$< ($*))$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(own) -DWORDS=words_$* \
	    -DLANES='"backend/simd_$*.h"' -MMD -MP -c $< -o $@
$(proof): $(OBJ)/tests/proof/normals.o $(words) $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(static_libs)
