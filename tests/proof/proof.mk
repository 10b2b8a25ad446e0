# Bounds of the float normals, from all words: make check looks at one word in 256, make check-all
# at all of them.
proof := $(OBJ)/tests/proof/normals

.PHONY: prove
#: Measure
prove: $(proof) ## Write tests/proof/normals.txt, bounds of the float normals, in three minutes
	@$(proof) >tests/proof/normals.txt.new && mv tests/proof/normals.txt.new tests/proof/normals.txt

# -mfma is for speed alone: fmaf has the same bits.
$(OBJ)/tests/proof/%.o: own := $(if $(shell grep -sw fma /proc/cpuinfo),-mfma)
ifneq ($(filter x86_64-%,$(target)),)
$(OBJ)/tests/proof/%_avx2.o: own := -mavx2 -mfma
$(OBJ)/tests/proof/%_avx512.o: own := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
endif
$(proof): $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/proof/*.c))) tests/inside.py | \
    $(inside)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(filter %.o,$^) -o $@ $(call with_inside,/..) -lm -lpthread
