#include "solver/families.h"
#include "certreg/certreg.h"
#include "solver/bound.h"

enum { FACTS = 6, PARTS = 1 << FACTS };

static const uint32_t bounding = CERTREG_VARIANCE | CERTREG_RANGE | CERTREG_MOMENT; /* without one of them nothing is bounded */

static int count(uint32_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1) n++;
    return n;
}

static int settled(const cr_families *families, uint32_t facts)
{
    for (uint32_t more = 0; more < PARTS; more++)
        if ((families->tight >> more & 1) && !(facts & ~more)) return 1;
    return 0;
}

uint32_t cr_families_next(cr_families *families)
{
    const int most = count(families->all);
    for (; families->next < PARTS * (FACTS + 1); families->next++) {
        const int left_out = families->next / PARTS;
        const uint32_t facts = (uint32_t)(families->next % PARTS);
        if (facts & ~families->all || (families->needed & ~facts) || count(facts) != most - left_out) continue;
        if (left_out && (!(facts & bounding) || settled(families, facts))) continue;
        families->next++;
        return facts;
    }
    return 0;
}

void cr_families_mark(cr_families *families, uint32_t facts, int tight)
{
    const uint32_t first = facts & ~(uint32_t)CERTREG_SECOND_ORDER; /* searched as well, and all there is if they are the facts */
    if (tight & CR_TIGHT_FIRST) families->tight |= (uint64_t)1 << first;
    if (tight == CR_TIGHT) families->tight |= (uint64_t)1 << facts;
}
