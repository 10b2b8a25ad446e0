# libcertreg: certified radii for noise-smoothed regression.   make help   lists the targets.
# Everything that is built goes to lib/: the two libraries, and objects under lib/.obj/<hash of compiler and flags>/ so that
# sanitizer objects never mix with release ones.
SHELL   := /bin/bash
PREFIX  ?= /usr/local
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
LIBDIR  ?= $(PREFIX)/lib$(if $(filter /usr,$(PREFIX)),$(if $(MULTIARCH),/$(MULTIARCH)))
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR ?=

number  := $(shell sed -n 's/^.define CERTREG_VERSION_NUMBER \([0-9]*\).*/\1/p' include/certreg/certreg.h)
VERSION := $(shell echo $$(( $(number) / 10000 )).$$(( $(number) / 100 % 100 )).$$(( $(number) % 100 )))
MAJOR   := $(firstword $(subst ., ,$(VERSION)))

OPT     ?= -O2 -g
EXTRA   ?=
WARN    := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
# -ffp-contract=off: every fused multiply-add in the library is written by hand, so that bits are the same everywhere.
CPPFLAGS_ALL := -Iinclude -Isrc -D_POSIX_C_SOURCE=200809L $(CPPFLAGS)
CFLAGS_ALL   := -std=c11 $(OPT) -fPIC -fvisibility=hidden -ffp-contract=off -fno-math-errno $(WARN) $(CFLAGS) $(EXTRA)
# BLAS and LAPACK serve the second order alone (theory 8): in a module beside the shared library, inside the static one unless BLAS=0.
BLAS    ?= 1
blas_libs   := -llapacke -lopenblas
SHARED_LIBS := -lm -lpthread -ldl
LIBS    := $(if $(filter 0,$(BLAS)),,$(blas_libs)) $(SHARED_LIBS)

# The CUDA module is built where nvcc and cuBLAS are. One binary for Turing to Blackwell, as far as this nvcc knows them.
ifeq ($(origin NVCC),undefined)
NVCC := $(shell command -v nvcc 2>/dev/null || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
endif
CUDA_HOME ?= $(patsubst %/bin/nvcc,%,$(realpath $(NVCC)))
ifeq ($(wildcard $(CUDA_HOME)/include/cublas_v2.h),)
override NVCC :=
endif
CUDA_ARCH ?= $(if $(NVCC),$(filter 75 80 86 89 90 100 120,$(shell $(NVCC) --list-gpu-arch | sed 's/compute_//')))
CUDA_ARCH := $(CUDA_ARCH)

config  := $(shell echo '$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(NVCC) $(CUDA_ARCH) $(BLAS:1=)' | sha256sum | cut -c1-12)
OBJ     := lib/.obj/$(config)

sources  := $(sort $(wildcard src/*/*.c))
objects  := $(sources:%.c=$(OBJ)/%.o)
blas_sources := $(sort $(wildcard src/backend/blas/*.c))
# Sources of the library that the static one compiles again, with -DCR_BLAS_INSIDE.
blas_inside  := src/backend/blas.c
blas_objects := $(blas_sources:%.c=$(OBJ)/%.o)
inside_objects := $(if $(filter 0,$(BLAS)),,$(blas_inside:%.c=$(OBJ)/inside/%.o) $(blas_objects))
static_objects := $(filter-out $(inside_objects:$(OBJ)/inside/%=$(OBJ)/%),$(objects)) $(inside_objects)
blas_module  := lib/certreg/libcertreg_blas.so
support  := $(sort $(wildcard tests/support/*.c)) tests/gpu/contract.c tests/gpu/products.c src/backend/cuda/status.c
tests    := $(sort $(foreach kind,unit api prop cover fault,$(wildcard tests/$(kind)_*.c)))
programs := $(tests:tests/%.c=$(OBJ)/tests/%)
clients  := $(sort $(wildcard examples/*.c))
examples := $(clients:%.c=$(OBJ)/%)
benches  := $(patsubst %.c,$(OBJ)/%,$(sort $(wildcard bench/bench_*.c)))
PYTHON   ?= $(shell for p in python3 /usr/bin/python3; do $$p -c 'import numpy' 2>/dev/null && echo $$p && break; done)
CHECK_LIBS   = $(shell pkg-config --libs check)
CHECK_CFLAGS = $(shell pkg-config --cflags check)

module    := $(blas_module) $(if $(NVCC),lib/certreg/libcertreg_cuda.so)
gpu_programs := $(if $(NVCC),$(OBJ)/check_gpu $(OBJ)/bench_gpu $(OBJ)/sqrt_all)

.PHONY: all deps check check-fast check-sanitize check-valgrind bench bench-certificates demo examples install uninstall clean distclean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: lib/libcertreg.a lib/libcertreg.so lib/pkgconfig/certreg.pc $(module) ## Build the libraries into lib/, and the CUDA module where nvcc is
	@$(if $(NVCC),true,echo 'no CUDA toolkit (nvcc, cuBLAS): built without the CUDA module')

# ---- the library ----------------------------------------------------------------------------------------------------------------
ifeq ($(shell uname -m),x86_64)
$(OBJ)/%_avx2.o:   ISA := -mavx2 -mfma
$(OBJ)/%_avx512.o: ISA := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
endif
$(blas_objects): ISA = $(shell pkg-config --cflags lapacke openblas 2>/dev/null)
$(OBJ)/inside/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ISA) -DCR_BLAS_INSIDE -MMD -MP -c $< -o $@
$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(ISA) -MMD -MP -c $< -o $@

# The libraries are made per configuration and copied to lib/, so that lib/ always holds what was asked for last.
$(OBJ)/libcertreg.a: $(static_objects)
	@rm -f $@
	$(AR) rcs $@ $^
$(OBJ)/libcertreg.so: $(objects) src/certreg.map
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,libcertreg.so.$(MAJOR) -Wl,--version-script=src/certreg.map -Wl,-z,defs -Wl,-z,now \
	    -Wl,-z,relro $(LDFLAGS) $(objects) $(SHARED_LIBS) -o $@
	@ln -sf libcertreg.so $(@D)/libcertreg.so.$(MAJOR)
$(OBJ)/certreg/libcertreg_blas.so: $(blas_objects)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-z,defs -Wl,-z,now $(LDFLAGS) $^ $(blas_libs) -lm -o $@
$(blas_module): $(OBJ)/certreg/libcertreg_blas.so lib/.obj/current
	@mkdir -p $(@D)
	@cp $< $@
lib/libcertreg.a: $(OBJ)/libcertreg.a
	@cp $< $@
lib/libcertreg.so: $(OBJ)/libcertreg.so
	@cp $< lib/libcertreg.so.$(VERSION)
	@ln -sf libcertreg.so.$(VERSION) lib/libcertreg.so.$(MAJOR)
	@ln -sf libcertreg.so.$(MAJOR) $@
# Which configuration lib/ holds: a change of flags makes the copies again.
lib/libcertreg.a lib/libcertreg.so: lib/.obj/current
lib/.obj/current: FORCE
	@mkdir -p $(@D); echo $(config) | cmp -s - $@ || echo $(config) > $@
FORCE:

# ---- the CUDA module ------------------------------------------------------------------------------------------------------------
cuda_c := $(filter-out %/status.c,$(sort $(wildcard src/backend/cuda/*.c)))
cuda_objects := $(patsubst %,$(OBJ)/%.o,$(basename $(cuda_c) $(sort $(wildcard src/backend/cuda/*.cu))))
$(cuda_c:%.c=$(OBJ)/%.o): ISA = -isystem $(CUDA_HOME)/include
$(OBJ)/%.o: %.cu $(wildcard src/backend/*.h src/backend/cuda/*.h)
	@mkdir -p $(@D)
	$(NVCC) -std=c++17 -O3 -lineinfo $(CPPFLAGS_ALL) -Xcompiler -fPIC,-fvisibility=hidden,-Wall \
	    $(foreach a,$(CUDA_ARCH),-gencode arch=compute_$a,code=sm_$a) \
	    $(foreach a,$(sort $(firstword $(CUDA_ARCH)) $(lastword $(CUDA_ARCH))),-gencode arch=compute_$a,code=compute_$a) \
	    -c $< -o $@
$(OBJ)/certreg/libcertreg_cuda.so: $(cuda_objects) $(addprefix $(OBJ)/src/,backend/cuda/status.o base/error.o base/structs.o)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-z,defs -Wl,-z,now -Wl,--exclude-libs,ALL $(LDFLAGS) $^ -L$(CUDA_HOME)/lib64 \
	    -Wl,-rpath,$(CUDA_HOME)/lib64 -lcublas $(cuda_link) -lm -o $@
lib/certreg/libcertreg_cuda.so: $(OBJ)/certreg/libcertreg_cuda.so lib/.obj/current
	@mkdir -p $(@D)
	@cp $< $@

define fill_pc
sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(1)|' -e 's|@INCLUDEDIR@|$(2)|' -e 's|@VERSION@|$(VERSION)|' \
    -e 's|@LIBS_PRIVATE@|$(LIBS)|' pkgconfig/certreg.pc.in
endef
lib/pkgconfig/certreg.pc: pkgconfig/certreg.pc.in Makefile include/certreg/certreg.h
	@mkdir -p $(@D)
	@$(call fill_pc,$(CURDIR)/lib,$(CURDIR)/include) > $@

# ---- dependencies ---------------------------------------------------------------------------------------------------------------
packages := gcc g++ make pkg-config libopenblas-dev liblapacke-dev check zlib1g-dev python3 python3-numpy python3-pip valgrind
deps: ## Install what is missing (Debian packages; ONNX Runtime for the demo from PyPI into lib/deps)
	@missing=; for p in $(packages); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    $$sudo apt-get update -q && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -q --no-install-recommends $$missing; fi
	@ls lib/deps/onnxruntime/capi/libonnxruntime.so* >/dev/null 2>&1 || { mkdir -p lib/deps; \
	    python3 -m pip install -q --no-deps --target lib/deps onnxruntime || \
	    /usr/bin/python3 -m pip install -q --no-deps --target lib/deps onnxruntime || \
	    echo "ONNX Runtime could not be installed: the demo will use its built-in evaluator"; }

# ---- tests ----------------------------------------------------------------------------------------------------------------------
# unit, prop, cover and fault tests see the inside (static library); api tests only the public header and the shared library.
$(OBJ)/tests/api_%: $(OBJ)/tests/api_%.o $(OBJ)/libcertreg.so $(OBJ)/certreg/libcertreg_blas.so
	$(CC) $(CFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/..' $(CHECK_LIBS) $(SHARED_LIBS)
$(OBJ)/tests/%: $(OBJ)/tests/%.o $(support:%.c=$(OBJ)/%.o) $(OBJ)/libcertreg.a
	$(CC) $(CFLAGS_ALL) $(filter %.o %.a,$^) -o $@ $(CHECK_LIBS) -lquadmath $(LIBS)
$(OBJ)/tests/%.o: ISA := -Itests $(CHECK_CFLAGS)
# The CUDA module, kernels and all, on a device that is emulated on the host (tests/emulated); the toolkit is not needed for it.
emulated := $(OBJ)/tests/libemulated_cuda.so $(OBJ)/tests/emulated_module.so
emulated_link = -L$(OBJ)/tests -lemulated_cuda -Wl,-rpath,'$$ORIGIN'
$(OBJ)/tests/emulated/%.o: ISA := -Itests/emulated -fvisibility=default
emulated_objects := $(cuda_objects:$(OBJ)/src/backend/cuda/%=$(OBJ)/tests/emulated/cuda/%)
$(OBJ)/tests/emulated/cuda/%.o: src/backend/cuda/%.c
	@mkdir -p $(@D)
	$(CC) -Itests/emulated $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(OBJ)/tests/emulated/cuda/%.o: src/backend/cuda/%.cu
	@mkdir -p $(@D)
	$(CXX) -x c++ -std=c++17 -Itests/emulated $(CPPFLAGS_ALL) $(OPT) -fPIC -ffp-contract=off -Wall -Wextra $(EXTRA) -MMD -MP -c $< -o $@
$(OBJ)/tests/libemulated_cuda.so: $(addprefix $(OBJ)/tests/emulated/,emulated.o device.o launch.o blas.o)
	$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,$(@F) $^ -o $@ -lpthread
$(OBJ)/tests/emulated_module.so: $(emulated_objects) $(addprefix $(OBJ)/,src/backend/cuda/status.o src/base/error.o src/base/structs.o) $(OBJ)/tests/libemulated_cuda.so
	$(CXX) $(OPT) $(EXTRA) -shared -Wl,-z,defs $(filter %.o,$^) -o $@ -L$(@D) -lemulated_cuda -lm
$(addprefix $(OBJ)/tests/,unit_cuda.o unit_second_device.o api_device.o): ISA := -Itests -Itests/emulated $(CHECK_CFLAGS)
$(OBJ)/tests/unit_cuda $(OBJ)/tests/unit_second_device: $(emulated)
$(OBJ)/tests/unit_cuda $(OBJ)/tests/unit_second_device: LIBS += $(emulated_link)
# The engines of the examples read files of others.
$(OBJ)/tests/fault_models.o: ISA := -Itests -Iexamples $(CHECK_CFLAGS)
$(OBJ)/tests/fault_models: $(addprefix $(OBJ)/examples/engines/,onnx_chain.o plain.o gradient.o)
$(OBJ)/tests/old_module.so $(OBJ)/tests/old_blas.so: $(OBJ)/tests/%.so: $(OBJ)/tests/modules/%.o
	$(CC) $(CFLAGS_ALL) -shared $^ -o $@
$(OBJ)/tests/api_blas: $(OBJ)/tests/old_module.so $(OBJ)/tests/old_blas.so
# As a static library that was built with BLAS=0.
$(OBJ)/tests/unit_without_blas: $(OBJ)/tests/unit_without_blas.o $(objects)
	$(CC) $(CFLAGS_ALL) $^ -o $@ $(CHECK_LIBS) $(SHARED_LIBS)
$(OBJ)/tests/api_device: $(OBJ)/tests/api_device.o $(OBJ)/libcertreg.so $(OBJ)/certreg/libcertreg_blas.so $(OBJ)/tests/old_module.so $(emulated)
	$(CC) $(CFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/..' $(emulated_link) $(CHECK_LIBS) $(SHARED_LIBS)

# Certificates of every kind, compared with those that are kept (tests/golden).
$(OBJ)/tests/golden/golden.o: ISA := -Itests/emulated
$(OBJ)/tests/golden/golden: $(OBJ)/tests/golden/golden.o $(OBJ)/libcertreg.so $(OBJ)/certreg/libcertreg_blas.so $(emulated)
	$(CC) $(CFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/../..' -L$(OBJ)/tests -lemulated_cuda -Wl,-rpath,'$$ORIGIN/..' $(SHARED_LIBS)

check: $(OBJ)/tests/golden/golden
check: all $(programs) examples $(OBJ)/check_engines $(gpu_programs) $(if $(NVCC),gpu-bundle) ## Build and run every test
	@OBJ=$(OBJ) CC='$(CC)' PYTHON='$(PYTHON)' VERSION=$(VERSION) bash tests/run.sh $(programs)
# Without the simulations (cover_, prop_), what takes ten seconds, the examples, and installing.
slow := $(wildcard tests/cover_*.c tests/prop_*.c) \
    $(patsubst %,tests/%.c,api_device unit_backend unit_normal4 unit_second_device)
fast := $(patsubst tests/%.c,$(OBJ)/tests/%,$(filter-out $(slow),$(tests)))
check-fast: $(OBJ)/libcertreg.so $(fast) ## Build and run the tests that take seconds, less than a minute
	@MODE=fast OBJ=$(OBJ) CC='$(CC)' PYTHON='$(PYTHON)' VERSION=$(VERSION) bash tests/run.sh $(fast)
# With a toolkit these build everywhere; without a device they end with a message. Of CUDA they need the driver alone, of C++ nothing.
cuda_link = -L$(CUDA_HOME)/lib64 -lcudart_static -Wl,-Bstatic -lstdc++ -Wl,-Bdynamic -static-libgcc -lpthread -ldl -lrt
$(OBJ)/tests/gpu/check_gpu.o: ISA = -Itests -isystem $(CUDA_HOME)/include $(CHECK_CFLAGS)
$(OBJ)/check_gpu: $(OBJ)/tests/gpu/check_gpu.o $(OBJ)/tests/gpu/contract.o $(OBJ)/tests/gpu/products.o $(OBJ)/tests/gpu/crash.o $(OBJ)/libcertreg.a $(OBJ)/certreg/libcertreg_cuda.so
	$(CC) $(CFLAGS_ALL) $(filter %.o %.a,$^) -o $@ $(CHECK_LIBS) $(cuda_link) $(LIBS)
$(OBJ)/bench/gpu/bench_gpu.o: ISA = -isystem $(CUDA_HOME)/include
$(OBJ)/bench_gpu: $(OBJ)/bench/gpu/bench_gpu.o $(OBJ)/libcertreg.a $(OBJ)/certreg/libcertreg_cuda.so
	$(CC) $(CFLAGS_ALL) $(filter %.o %.a,$^) -o $@ $(cuda_link) $(LIBS)
$(OBJ)/sqrt_all: $(OBJ)/tests/gpu/sqrt_all.o
	$(CC) $(CFLAGS_ALL) $< -o $@ $(cuda_link) -lm
.PHONY: check-gpu check-gpu-memory bench-gpu
check-gpu: all $(gpu_programs) ## Test the CUDA backend on a device against the CPU
	@$(if $(NVCC),$(OBJ)/check_gpu,echo 'check-gpu: skipped, no nvcc')
check-gpu-memory: all $(gpu_programs) ## The same under compute-sanitizer, without the lost context
	@failed=; for tool in memcheck racecheck synccheck initcheck; do echo "== $$tool"; \
	    CK_RUN_CASE=typical compute-sanitizer --tool $$tool --error-exitcode 9 $(OBJ)/check_gpu || failed="$$failed $$tool"; done; \
	    [ -z "$$failed" ] || { echo "check-gpu-memory: failed:$$failed"; exit 1; }
bench-gpu: all $(gpu_programs) ## Measure the CUDA backend on a device
	@$(if $(NVCC),rm -f lib/bench_gpu.csv; $(OBJ)/bench_gpu lib/bench_gpu.csv,echo 'bench-gpu: skipped, no nvcc')
	@-$(if $(PYTHON),$(PYTHON) bench/gpu/torch_peer.py lib/bench_gpu.csv)
# What a machine with a driver and CUDA's libraries, and nothing else, needs to run these: .gpu/, with the host's libraries in .gpu/libs. The C
# library is that machine's. LAPACKE comes from its archive where there is one, which spares two more LAPACKs.
bundle      := check_gpu bench_gpu libcertreg.so.$(MAJOR)
bundle_libs := $(if $(filter /%,$(shell $(CC) -print-file-name=liblapacke.a)),-l:liblapacke.a,-llapacke) -lopenblas -lm -lpthread -ldl
bundle_link  = $(CC) $(CFLAGS_ALL) -s -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/libs' $(filter %.o %.a,$^) -o $@
the_hosts    = /(ld-linux|libc|libm|libdl|librt|libpthread|libcuda|libcublas|libcublasLt)[-.]
$(OBJ)/bundle/check_gpu $(OBJ)/bundle/bench_gpu: $(OBJ)/bundle/%: $(OBJ)/%
	@mkdir -p $(@D)
	$(bundle_link) $(CHECK_LIBS) $(cuda_link) $(bundle_libs)
$(OBJ)/bundle/check_gpu: $(OBJ)/tests/gpu/check_gpu.o $(OBJ)/tests/gpu/contract.o $(OBJ)/tests/gpu/products.o $(OBJ)/tests/gpu/crash.o $(OBJ)/libcertreg.a
$(OBJ)/bundle/bench_gpu: $(OBJ)/bench/gpu/bench_gpu.o $(OBJ)/libcertreg.a
$(OBJ)/bundle/libcertreg.so.$(MAJOR): $(objects) src/certreg.map
	@mkdir -p $(@D)
	$(bundle_link) -shared -Wl,-soname,$(@F) -Wl,--version-script=src/certreg.map -Wl,-z,defs -Wl,-z,now $(SHARED_LIBS)
$(OBJ)/bundle/certreg/libcertreg_blas.so: $(blas_objects)
	@mkdir -p $(@D)
	$(subst ORIGIN,ORIGIN/..,$(bundle_link)) -shared -Wl,-z,defs -Wl,-z,now $(bundle_libs)
.PHONY: gpu-bundle
gpu-bundle: $(if $(NVCC),$(addprefix $(OBJ)/bundle/,$(bundle)) $(OBJ)/sqrt_all $(OBJ)/certreg/libcertreg_cuda.so $(OBJ)/bundle/certreg/libcertreg_blas.so) ## Collect in .gpu/ what check_gpu and bench_gpu need on a bare machine
ifneq ($(NVCC),)
	@rm -rf .gpu; mkdir -p .gpu/certreg .gpu/libs
	@cp $(addprefix $(OBJ)/bundle/,$(bundle)) $(OBJ)/sqrt_all .gpu/ && cp $(OBJ)/certreg/libcertreg_cuda.so $(OBJ)/bundle/certreg/libcertreg_blas.so .gpu/certreg/
	@ldd $(addprefix .gpu/,$(bundle)) .gpu/certreg/*.so | sed -n 's|.* => \(/[^ ]*\) .*|\1|p' | sort -u | grep -vE '$(the_hosts)' | \
	    xargs -I{} cp -L {} .gpu/libs/
	@strip --strip-unneeded .gpu/sqrt_all .gpu/certreg/libcertreg_cuda.so .gpu/libs/*
else
	@echo 'gpu-bundle: skipped, no nvcc'
endif
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
check-sanitize: ## The tests again under ASan and UBSan, then the public-interface tests under valgrind
	@$(MAKE) --no-print-directory EXTRA='$(SANITIZE)' OPT='-O1 -g' sanitized
	@$(MAKE) --no-print-directory check-valgrind
.PHONY: sanitized
sanitized: $(filter-out $(OBJ)/tests/cover_%,$(programs))
	@CK_FORK=no CK_TIMEOUT_MULTIPLIER=20 SANITIZED=1 MODE=programs OBJ=$(OBJ) bash tests/run.sh $^
# Without the emulated device, whose fibers take valgrind more than ten minutes, without thousands
# of hostile files, and without traps, which valgrind does not emulate; AddressSanitizer runs all of
# them.
no_valgrind := %/api_device %/api_environment %/fault_models
check-valgrind: $(filter $(OBJ)/tests/api_% $(OBJ)/tests/fault_%,$(filter-out $(no_valgrind),$(programs)))
	@CK_FORK=no CK_TIMEOUT_MULTIPLIER=50 SANITIZED=1 MODE=programs OBJ=$(OBJ) WRAP='valgrind -q --error-exitcode=9 --leak-check=full' bash tests/run.sh $^

# ---- examples, demo, benchmarks -----------------------------------------------------------------------------------------------
$(OBJ)/examples/%: $(OBJ)/examples/%.o $(OBJ)/libcertreg.so
	$(CC) $(CFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/..' -lm
examples: $(examples) $(OBJ)/examples/cuda/onnx $(if $(NVCC),$(OBJ)/examples/cuda/network) ## Build the example programs
$(OBJ)/examples/cuda/onnx: $(OBJ)/examples/cuda/onnx.o $(OBJ)/examples/engines/ort.o $(OBJ)/libcertreg.so
	$(CC) $(CFLAGS_ALL) $(filter %.o,$^) -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/../..' -ldl
$(OBJ)/examples/cuda/network: $(OBJ)/examples/cuda/network.o $(OBJ)/libcertreg.so $(OBJ)/certreg/libcertreg_cuda.so
	$(CC) $(CFLAGS_ALL) $< -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN/../..' $(cuda_link) -lm

engine_sources := $(filter-out %/check_engines.c,$(sort $(wildcard examples/engines/*.c)))
demo_sources   := $(sort $(wildcard examples/demo/*.c)) $(engine_sources)
demo_objects   := $(demo_sources:%.c=$(OBJ)/%.o)
engine_libs     = $(shell pkg-config --libs openblas) -ldl -lm
$(OBJ)/examples/engines/%.o: ISA = $(shell pkg-config --cflags openblas)
$(OBJ)/demo: $(demo_objects) $(OBJ)/libcertreg.so
	$(CC) $(CFLAGS_ALL) $(demo_objects) -o $@ -L$(OBJ) -lcertreg -Wl,-rpath,'$$ORIGIN' $(engine_libs) -lz
$(OBJ)/check_engines: $(OBJ)/examples/engines/check_engines.o $(engine_sources:%.c=$(OBJ)/%.o)
	$(CC) $(CFLAGS_ALL) $^ -o $@ $(engine_libs)
demo: all $(OBJ)/demo ## Certify a network on turned digits (CERTREG_MNIST, DEMO_N, DEMO_IMAGES, DEMO_SIGMA, DEMO_OUT)
	@$(OBJ)/demo

bench: all $(benches) ## Measure speed against peers: prints, and writes lib/bench.csv
	@echo 'name,ours,peer,ratio,target' > lib/bench.csv
	@set -e; for b in $(benches); do echo "== $$(basename $$b)"; PYTHON='$(PYTHON)' $$b lib/bench.csv; done; echo; cat lib/bench.csv
$(OBJ)/bench/bench_network.o: ISA = $(shell pkg-config --cflags openblas)
$(OBJ)/bench/bench_network: $(OBJ)/bench/bench_network.o $(engine_sources:%.c=$(OBJ)/%.o) $(OBJ)/libcertreg.a
	$(CC) $(CFLAGS_ALL) $^ -o $@ $(engine_libs) $(LIBS)
$(OBJ)/bench/bench_hostile.o: ISA = -Itests
$(OBJ)/bench/bench_hostile: $(addprefix $(OBJ)/tests/support/,hostile.o problems.o reference_dual.o)
$(OBJ)/bench/%: $(OBJ)/bench/%.o $(OBJ)/libcertreg.a
	$(CC) $(CFLAGS_ALL) $(filter %.o,$^) $(OBJ)/libcertreg.a -o $@ $(LIBS)

certificates := $(sort $(wildcard bench/certificates/*.c)) $(addprefix examples/demo/,environment.c images.c digits.c) $(engine_sources)
$(OBJ)/bench/certificates/%.o: ISA = $(shell pkg-config --cflags openblas)
$(OBJ)/bench_certificates: $(certificates:%.c=$(OBJ)/%.o) $(OBJ)/libcertreg.a
	$(CC) $(CFLAGS_ALL) $^ -o $@ $(engine_libs) -lz $(LIBS)
bench-certificates: all $(OBJ)/bench_certificates ## Measure radii and calls against targets, and attack them (CERTREG_MNIST, BENCH_CACHE)
	@$(OBJ)/bench_certificates

# ---- the rest -------------------------------------------------------------------------------------------------------------------
install: all ## Install into $(DESTDIR)$(PREFIX)
	install -d '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(INCLUDEDIR)/certreg'
	install -m 644 include/certreg/certreg.h '$(DESTDIR)$(INCLUDEDIR)/certreg/'
	install -m 644 lib/libcertreg.a '$(DESTDIR)$(LIBDIR)/'
	install -m 755 lib/libcertreg.so.$(VERSION) '$(DESTDIR)$(LIBDIR)/'
	ln -sf libcertreg.so.$(VERSION) '$(DESTDIR)$(LIBDIR)/libcertreg.so.$(MAJOR)'
	ln -sf libcertreg.so.$(MAJOR) '$(DESTDIR)$(LIBDIR)/libcertreg.so'
	install -d '$(DESTDIR)$(LIBDIR)/certreg'
	install -m 755 $(module) '$(DESTDIR)$(LIBDIR)/certreg/'
	$(call fill_pc,$(LIBDIR),$(INCLUDEDIR)) > '$(DESTDIR)$(LIBDIR)/pkgconfig/certreg.pc'
uninstall: ## Remove what install put there
	rm -f '$(DESTDIR)$(LIBDIR)'/libcertreg.{a,so,so.$(MAJOR),so.$(VERSION)} '$(DESTDIR)$(LIBDIR)/pkgconfig/certreg.pc' \
	    '$(DESTDIR)$(INCLUDEDIR)/certreg/certreg.h' '$(DESTDIR)$(LIBDIR)/certreg/'libcertreg_{cuda,blas}.so
	-rmdir '$(DESTDIR)$(LIBDIR)/certreg' 2>/dev/null
	-rmdir '$(DESTDIR)$(INCLUDEDIR)/certreg' 2>/dev/null
clean: ## Remove what was built (lib/deps stays; distclean removes it too)
	rm -rf .gpu lib/.obj lib/demo lib/pkgconfig lib/certreg lib/libcertreg.* lib/bench*.csv
distclean: clean
	rm -rf lib
help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
