/* A direction from sums: one source for host and CUDA, each operation rounded once. */
#ifndef CR_BACKEND_AIM_H
#define CR_BACKEND_AIM_H
#include "backend/philox.h"

#define CR_AIM_SUMS 256u

#if defined(__CUDA_ARCH__)
CR_INLINE double cr_aim_add(double sum, double a) { return __dadd_rn(sum, __dmul_rn(a, a)); }
CR_INLINE float cr_aim_unit(double a, double norm) { return static_cast<float>(__ddiv_rn(a, norm)); }
#else
CR_INLINE double cr_aim_add(double sum, double a) { return sum + a * a; }
CR_INLINE float cr_aim_unit(double a, double norm) { return (float)(a / norm); }
#endif

#endif
