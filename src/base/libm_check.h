/* The functions of libm that the library calls, against stored values. */
#ifndef CR_BASE_LIBM_CHECK_H
#define CR_BASE_LIBM_CHECK_H
#include "base/error.h"

/* Returns CERTREG_OK, or PLATFORM with the first function whose error exceeds the error that the
 * margins of certificates allow. Few arguments are compared, in some microseconds: they show a
 * careless libm, and not that a libm is accurate everywhere. */
certreg_status cr_libm_check(certreg_error *why);

#endif
