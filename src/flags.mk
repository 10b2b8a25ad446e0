# What the library is compiled and linked with, as far as the compiler knows it. make includes this
# file, and CMakeLists.txt reads its lines NAME := FLAGS.
definitions      := -D_POSIX_C_SOURCE=200809L -DCERTREG_EXPERIMENTAL -DCERTREG_BUILDS_DLL
# Every fused multiply-add in the library is written by hand, so that bits are the same everywhere.
# These come last, since other flags imply the opposite.
exact            := -fno-math-errno -ffp-contract=off
hardening        := -fstack-protector-strong -fstack-clash-protection
hardening_x86_64 := -fcf-protection
linking          := -Wl,-z,defs -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack
linking_module   := -Wl,--exclude-libs,ALL
# What hides the static library in a program or plugin, so that no other copy takes its place.
linking_static   := -Wl,--exclude-libs,libcertreg.a:libcertreg_blas.a
# Under -O2 the kernels get what interleaves the work on different numbers. (-O3 would turn the
# partial sums of a Gram matrix into permutations.)
interleaving     := -fschedule-insns -fsched-pressure -finline-functions -funroll-loops
avx2             := -mavx2 -mfma
avx512           := -mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma
