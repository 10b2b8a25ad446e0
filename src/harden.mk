# Flags that make faults harder to exploit, as far as this compiler knows them for its target;
# HARDEN=0 leaves them out. What the caller sets comes after them, and so wins.
HARDEN ?= 1
ifneq ($(HARDEN),0)
hardened := $(call known,$(hardening) $(if $(filter x86_64-%,$(target)),$(hardening_x86_64)))
# Only glibc has checked calls, and only where it optimizes; the level is what this compiler has.
# Sanitizers check more without them. Whoever names or defines the macro, as some distributions'
# compilers do, knows better.
hash := \#
settings := $(CC) $(CPPFLAGS) $(OPT) $(CFLAGS) $(EXTRA)
ifeq ($(findstring -fsanitize,$(settings))$(findstring _FORTIFY_SOURCE,$(settings)),)
hardened += $(shell printf '$(hash)%s\n' 'ifndef _FORTIFY_SOURCE' 'define _FORTIFY_SOURCE 3' \
    'define OURS' 'endif' 'include <features.h>' | $(settings) -dM -E -x c - 2>/dev/null | \
    awk '{ is[$$2] = $$3 } END { if ("OURS" in is && is["__USE_FORTIFY_LEVEL"] > 0) \
        print "-D_FORTIFY_SOURCE=" is["__USE_FORTIFY_LEVEL"] }')
endif
endif
