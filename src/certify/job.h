/* One call of certify: its questions, and what became of sampling. */
#ifndef CR_CERTIFY_JOB_H
#define CR_CERTIFY_JOB_H
#include "estimator/work.h"
#include "question/question.h"

enum { CR_STOP_FAILED = -1 }; /* in addition to CERTREG_STOP_...: no question was answered */

typedef struct cr_call { /* as the caller has it */
    size_t total_samples;
    const certreg_question *questions;
    size_t count;
    uint64_t share;   /* alpha of every question is divided by it, and by question.bonferroni */
    int inverse;      /* output bounds are asked for: */
    double at_radius; /*   at this radius; else 0 */
    int together;     /* one wrong question leaves all unanswered */
} cr_call;

/* Every pass over the questions reads and checks them again, which is a copy of some ninety bytes
 * and a few comparisons: so a call takes any number of them without memory for them, and callbacks
 * that write to the callers' arrays do no harm beyond. */
typedef struct cr_job {
    const cr_call *call;
    certreg_certificate *out;
    uint32_t size;       /* of each of them */
    certreg_error wrong; /* of the first question that is wrong */
    uint64_t looks;      /* that came with the first question that brings some */
    uint64_t samples;    /* at which it is evaluated: those present, or those requested, if more */
    int stop;            /* CERTREG_STOP_..., or CR_STOP_FAILED */
    int told;       /* something about the main samples was reported, or decided whether to go on */
    int by_outputs; /* they may have decided how many there are */
    int any_valid;  /* a question has an answer; else there is nothing to sample for */
    int all_targets; /* each valid one has a target; only then may their outcome end the
                        sampling: the others count on all samples */
    size_t from;     /* the fewest samples that answer one of them */
    uint64_t hash;
    uint64_t foretold; /* digest of the question that was looked at last */
    double prediction; /* about which it is */
} cr_job;

static inline certreg_certificate *cr_job_certificate(const cr_job *j, size_t index)
{
    return (certreg_certificate *)((unsigned char *)j->out + index * j->size);
}

/* ---- job.c */
/* Checks every question and looks over those that are right. */
void cr_job_check(const cr_work *, cr_job *);
/* The question. INVALID or VERSION if it is wrong; zero if it cannot be read. */
certreg_status cr_job_question(const cr_work *, const cr_job *, size_t index, cr_question *out);

/* ---- the closing computation in time: what it is expected to take, and its watch (theory 5.1) */
/* Continues a hash by what the time depends on. */
uint64_t cr_closing_hash(uint64_t so_far, const cr_question *);
/* What is known of questions with this hash; where that is nothing, in the place of those that
 * came longest ago. */
cr_cost *cr_closing_cost(const cr_work *, uint64_t asked);

/* From now on the watch runs, to the deadline and at most for so many seconds. Returns the time. */
double cr_closing_start(const cr_work *, double most);
/* The watch stops, its time is the library's, and what was learned is kept: of all questions
 * answered from so many `samples`; of fewer questions, where that is 0, only that they were given
 * up. Returns non-zero if they were. */
int cr_closing_end(const cr_work *, double start, size_t samples);

#endif
