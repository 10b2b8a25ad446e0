/* Structs of callers (struct_versioning.h): reading, writing and checking them byte by byte, since
 * a caller's struct may be shorter or longer than this version's. */
#include "base/struct_versioning.h"
#include "base/struct_sizes.h"
#include <string.h>

certreg_status cr_struct_check(const void *theirs, size_t oldest, const char *name,
                               certreg_error *why)
{
    if (!theirs) return cr_error_set(why, CERTREG_E_INVALID, "%s is NULL", name);
    uint32_t size;
    memcpy(&size, theirs, sizeof size);
    if (size < oldest || size % 8 != 0 || size > CR_STRUCT_LARGEST)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "%s.struct_size is %u; set it to sizeof the struct (%zu)", name, size,
                            oldest);
    return CERTREG_OK;
}

certreg_status cr_struct_read(void *ours, size_t known, size_t oldest, const void *theirs,
                              const char *name, certreg_error *why)
{
    certreg_status status = cr_struct_check(theirs, oldest, name, why);
    if (status) return status;
    uint32_t size;
    memcpy(&size, theirs, sizeof size);
    for (size_t i = known; i < size; i++)
        if (((const unsigned char *)theirs)[i])
            return cr_error_set(
                why, CERTREG_E_VERSION,
                "%s sets a field that this version of the library does not know (byte "
                "%zu): leave it zero, or use a newer library",
                name, i);
    memset(ours, 0, known);
    memcpy(ours, theirs, size < known ? size : known);
    return CERTREG_OK;
}

certreg_status cr_struct_element(void *ours, size_t known, const void *array, size_t index,
                                 const char *name, certreg_error *why)
{
    uint32_t step, mine = (uint32_t)known;
    memcpy(&step, array, sizeof step);
    const unsigned char *theirs = (const unsigned char *)array + index * step;
    for (size_t i = known; i < step; i++)
        if (theirs[i])
            return cr_error_set(
                why, CERTREG_E_VERSION,
                "%s[%zu] sets a field that this version of the library does not know: "
                "leave it zero, or use a newer library",
                name, index);
    memset(ours, 0, known);
    memcpy(ours, theirs, step < known ? step : known);
    memcpy(ours, &mine, sizeof mine);
    return CERTREG_OK;
}

void cr_struct_write(void *theirs, uint32_t size, const void *ours, size_t known)
{
    if (size < sizeof size) return;
    memcpy(theirs, ours, size < known ? size : known);
    if (size > known) memset((unsigned char *)theirs + known, 0, size - known);
    memcpy(theirs, &size, sizeof size);
}

void cr_struct_write_empty(void *theirs, size_t oldest, const void *nothing, size_t known)
{
    uint32_t size;
    if (cr_struct_check(theirs, oldest, "out", NULL)) return;
    memcpy(&size, theirs, sizeof size);
    cr_struct_write(theirs, size, nothing, known);
}

certreg_status cr_constraints_check(uint32_t constraints, const char *field, certreg_error *why)
{
    const uint32_t unknown = constraints & ~CR_CONSTRAINTS_ALL;
    if (unknown)
        return cr_error_set(why, CERTREG_E_INVALID,
                            "%s has unknown bits 0x%x; give CERTREG_CONSTRAINT_... or 0", field,
                            unknown);
    return CERTREG_OK;
}

void cr_error_copy_out(certreg_error *theirs, const certreg_error *ours)
{
    if (theirs && theirs->struct_size <= CR_STRUCT_LARGEST)
        cr_struct_write(theirs, theirs->struct_size, ours, sizeof *ours);
}
