# The tests. Programs are named after what they do: cover_ simulates coverage, prop_ tries random
# problems, unit_ and fault_ see the inside, api_ only the public headers and the
# shared library. A new file of such a name is a new program, and needs no line here.
tests    := $(sort $(foreach kind,cover prop unit fault api,$(wildcard tests/$(kind)_*.c)))
programs := $(tests:tests/%.c=$(OBJ)/tests/%)
api      := $(filter $(OBJ)/tests/api_%,$(programs))
# Those that take longer than a few seconds, which check-fast leaves out. A minute and more is begun
# first, so that nothing is waited for at the end.
named     = $(filter $(addprefix $(OBJ)/tests/,$(1)),$(programs))
engines  := $(OBJ)/tests/engines/engines
longest  := $(call named,api_device% cover_gradient% prop_solver)
slow     := $(longest) $(filter-out $(longest),$(call named,cover_% prop_% unit_cpu))
in_cpp   := $(OBJ)/tests/api_cpp
fast     := $(filter-out $(slow),$(programs)) $(in_cpp)

.PHONY: test check check-fast check-all check-heavy check-sanitize check-valgrind sanitized planted
run_tests = OBJ=$(OBJ) CC='$(filter-out ccache,$(CC))' CXX='$(filter-out ccache,$(CXX))' \
    PYTHON='$(PYTHON)' VERSION=$(VERSION) JOBS=$(jobs) HARDENED='$(hardened)' \
    REPLAYS='$(replays)' SKIPS='$(SKIPS)' bash tests/run.sh
tested     = $(programs) $(in_cpp) $(engines) $(replays) $(golden) $(misses) $(platform_program) \
    $(proof)
beside     = examples gpu-rehearsal $(OBJ)/libdigits.so compile_commands.json $(engine_models)
# The program that a line of make check is about; it is built alone.
named_program = $(filter %/$(lastword $(NAME)),$(tested) $(gpu_programs))
# The programs that cover a source.
covering = $(call once,covering,[ -z '$(FOR)' ] || python3 tests/covering.py '$(FOR)' | \
    xargs -r printf '$(OBJ)/tests/%s ')
#: Test
# What is needed is named in files that come after this one, hence the second expansion.
.SECONDEXPANSION:
test: $$(if $$(NAME),$$(or $$(named_program),all $$(beside)),$$(covering))
test: ## Build and run one: NAME=unit_moments; or all that cover a source: FOR=src/room/file.c
	@$(if $(NAME)$(covering),,echo 'test: which one? Try make test NAME=unit_moments' >&2; exit 2)
	@$(if $(NAME),ONLY='$(NAME)',echo '$(notdir $(covering))'; MODE=programs) $(run_tests) \
	    $(if $(NAME),$(filter $(programs) $(in_cpp),$(named_program)),$(covering))
check: all $$(tested) $$(beside) $$(if $$(NVCC),gpu-bundle $$(gpu_programs))
check: ## Build and run every test
	@$(run_tests) $(slow) $(fast)
check-fast: $(OBJ)/libcertreg.so $(fast)
check-fast: ## Build and run the tests that take seconds, less than a minute
	@MODE=fast $(run_tests) $(fast)
planted: ## Plant faults in a copy of the sources, each of which a test has to find: half an hour
	@python3 tests/planted.py lib/planted '$(FAULT)'
# Python tests once more, with the optional packages, those of the wheel and of executors.
check-all: check ## Run check, check-paths, check-arm and check-heavy
	@$(MAKE) --no-print-directory check-paths
	@$(MAKE) --no-print-directory check-arm
	@$(MAKE) --no-print-directory check-heavy
check-heavy: private PYTHON = $(abspath $(wildcard $(venv)/bin/python))
check-heavy: all $$(tested) $$(beside)
check-heavy: ## Test the wheel, the archives, and Python with the optional packages of deps-all
	@MODE=heavy $(run_tests)

# $(call whole,NAME): ends a recipe unless the variable is a whole number from 1 on.
whole = case '$($(1))' in ''|0*|*[!0-9]*) \
    echo '$(1)=$($(1)): give a whole number, 1 or more' >&2; exit 2;; esac
# $(call links,COMPILER AND FLAGS): whether they make a program.
links = mkdir -p $(OBJ) && echo 'int main(void) { return 0; }' | \
    $(1) -x c - -o $(OBJ)/links 2>/dev/null

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
check-sanitize: ## Run the tests under ASan and UBSan, then check-valgrind
	@if $(call links,$(CC) $(SANITIZE)); then \
	    $(MAKE) --no-print-directory EXTRA='$(SANITIZE)' OPT='-O1 -g' sanitized; \
	else echo 'skip ASan and UBSan: $(CC) has no libraries for them'; fi
	@$(MAKE) --no-print-directory check-valgrind
sanitized: $(filter-out $(OBJ)/tests/cover_%,$(programs)) $(in_cpp) $(engines)
	@CK_FORK=no SANITIZED=1 MODE=sanitized $(run_tests) \
	    $(filter-out $(replays),$^)
# Without the emulated device, whose fibers take valgrind more than ten minutes, without thousands
# of hostile files, and without traps, which valgrind does not emulate; AddressSanitizer runs all of
# them.
no_valgrind := $(call named,unit_% cover_% prop_% api_device% api_environment%)
check-valgrind: $(filter-out $(no_valgrind),$(programs)) $(in_cpp)
check-valgrind: ## Run the tests of the public interface under valgrind
	@command -v valgrind >/dev/null || { echo 'skip check-valgrind: there is no valgrind'; exit; }; \
	    CK_FORK=no SANITIZED=1 MODE=programs \
	    WRAP='valgrind -q --error-exitcode=9 --leak-check=full --suppressions=tests/valgrind.supp' \
	    $(run_tests) $^

.PHONY: rates
rates: $(call named,cover_% prop_true_radius) ## Measure how often claims are false: lib/rates.md
	@bash tests/rates.sh $^

# ---- what they share ----------------------------------------------------------------------------
# Archives, of which each program takes what it needs.
support := $(sort $(wildcard tests/support/*.c)) tests/gpu/contract.c tests/gpu/uses.c \
    src/backend/cuda/error_codes.c
$(OBJ)/tests/support.a: $(support:%.c=$(OBJ)/%.o)
$(OBJ)/examples/engines.a: $(engine_objects)
$(OBJ)/tests/support.a $(OBJ)/examples/engines.a:
	@rm -f $@
	$(call say,AR,$@)$(AR) rcs $@ $^
# Every program's own, since no archive is searched for what libc has.
entropy := $(OBJ)/tests/support/entropy.o
# Modules of other interfaces, to be refused.
old_modules := $(patsubst tests/modules/%.c,$(OBJ)/tests/%.so,$(wildcard tests/modules/*.c))
$(old_modules): $(OBJ)/tests/%.so: $(OBJ)/tests/modules/%.o
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) -shared $^ -o $@

# The CUDA module, kernels and all, on a device that is emulated on the host (tests/emulated); the
# toolkit is not needed for it.
emulated      := $(OBJ)/tests/libemulated_cuda.so
emulated_link := -L$(OBJ)/tests -Wl,--as-needed -lemulated_cuda -Wl,--no-as-needed
emulated_cuda := $(cuda_objects:$(OBJ)/src/backend/cuda/%=$(OBJ)/tests/emulated/cuda/%)
emulated_objects := $(patsubst %.c,$(OBJ)/%.o,$(sort $(wildcard tests/emulated/*.c)))
$(emulated_objects): own := -Itests/emulated -fvisibility=default
$(OBJ)/tests/emulated/cuda/%.o: src/backend/cuda/%.c
	@mkdir -p $(@D)
	$(call say,CC,$< (emulated))$(CC) -Itests/emulated $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP \
	    -c $< -o $@
$(OBJ)/tests/emulated/cuda/%.o: src/backend/cuda/%.cu
	@mkdir -p $(@D)
	$(call say,CXX,$< (emulated))$(CXX) -x c++ -std=c++17 -Itests/emulated $(CPPFLAGS_ALL) $(OPT) \
	    -fPIC -ffp-contract=off -Wall -Wextra -DCR_DRAW_DOUBTS=1 $(EXTRA) -MMD -MP -c $< \
	    -o $@
$(emulated): $(emulated_objects)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) -shared -Wl,-soname,$(@F) $^ -o $@ -lpthread
$(OBJ)/tests/emulated_module.so: $(emulated_cuda) $(module_common) $(emulated)
	$(call say,LINK,$@)$(CXX) $(OPT) $(EXTRA) -shared -Wl,-z,defs $(filter %.o,$^) -o $@ -L$(@D) \
	    -lemulated_cuda -Wl,-rpath,'$$ORIGIN' -lm

# ---- programs -----------------------------------------------------------------------------------
# Programs that see the inside have the static library in them. Shared libraries are order-only: a
# program is not linked again because one of them was.
in_folder     = -Wl,--enable-new-dtags,-rpath,'$$ORIGIN$(1)'
with_shared   = -L$(OBJ) -lcertreg $(emulated_link) $(call in_folder,/..:$$ORIGIN)
test_modules := $(emulated) $(OBJ)/tests/emulated_module.so $(old_modules) $(blas_made)
# A program without libcertreg_blas.a.
without_blas := $(OBJ)/tests/unit_denoiser
$(OBJ)/tests/%.o: own = -Itests -Itests/emulated -I$(O)/.obj $(check_cflags)
# Known answers that take seconds to make, for every configuration.
known := $(O)/.obj/data
$(OBJ)/tests/unit_binomial.o: $(known)/normal.inc $(known)/binomial.inc
$(OBJ)/tests/api_known_answers.o: $(known)/exact.inc
$(OBJ)/tests/unit_gaussian_shift.o: $(known)/shift.inc
$(known)/%.inc: tests/data/make_%.py tests/data/make_binomial.py tests/data/make_normal.py
	@mkdir -p $(@D)
	$(call say,DATA,$@)for python in python3 /usr/bin/python3; do \
	    $$python -c 'import mpmath' 2>/dev/null || continue; \
	    $$python $< >$@.$$$$ && exec mv $@.$$$$ $@; done; \
	echo '$<: no Python has mpmath (make deps installs it)' >&2; exit 1
# The models that engines open, as well.
engine_models := $(O)/.obj/engines/dense.onnx
$(engine_models): tests/engines/make_models.py $(wildcard tests/engines/*.pt tests/engines/trees.*)
	$(call say,DATA,$(@D))python3 $< $(@D)
$(OBJ)/tests/avx512/kernels.o: own = -Itests/avx512 -Itests
$(OBJ)/tests/unit_cpu: $(OBJ)/tests/avx512/kernels.o
$(OBJ)/tests/engines/%.o $(OBJ)/tests/api_control_loop.o: own += -Iexamples
$(filter-out $(api) $(without_blas),$(programs)): $(OBJ)/tests/%: $(OBJ)/tests/%.o $(entropy) \
    $(OBJ)/tests/support.a $(OBJ)/libcertreg.a | $(test_modules)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(filter %.o %.a,$^) -o $@ $(emulated_link) \
	    $(in_folder) $(check_libs) $(static_libs)
$(without_blas): %: %.o $(OBJ)/tests/support.a $(OBJ)/libcertreg.a
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(check_libs) $(shared_libs)
# The engines of the examples, as many as could be built.
$(engines): %: %.o $(all_engines) $(OBJ)/examples/engines/built | $(OBJ)/libcertreg.so \
    $(engine_models)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $(filter %.o,$^) -o $@ -L$(OBJ) -lcertreg \
	    $(call in_folder,/../..) $(check_libs) $(all_engine_libs)
$(api): $(OBJ)/tests/%: $(OBJ)/tests/%.o $(entropy) | $(OBJ)/libcertreg.so $(test_modules)
	$(call say,LINK,$@)$(CC) $(CFLAGS_ALL) $^ -o $@ $(with_shared) $(check_libs) -lm -lpthread -ldl
$(OBJ)/tests/api_control_loop: $(control_parts)
# The header for C++: one program of all files of tests/cpp, so that they are linked together.
$(in_cpp): $(patsubst %,$(OBJ)/%.o,$(sort $(wildcard tests/cpp/*.cpp))) $(entropy) | \
    $(OBJ)/libcertreg.so $(test_modules)
	$(call say,LINK,$@)$(CXX) $(CXXFLAGS_ALL) $^ -o $@ $(with_shared) -lpthread
