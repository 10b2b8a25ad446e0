/* A queue: many open records, whose rows share the calls of one model; and the alternatives of an
 * input (theory 1.11). An entry is an open input. Each of its nodes, the input itself or a part of
 * an alternative, has a record in a slot while it is sampled. */
#ifndef CR_QUEUE_QUEUE_H
#define CR_QUEUE_QUEUE_H
#include "certify/certify.h"
#include "certreg/queue.h"
#include "estimator/context.h"
#include <stdatomic.h>

/* ---- an input with alternatives */
typedef struct cr_member {   /* one alternative */
    uint32_t path;           /* with depth: its part that is decided next */
    uint8_t depth, halvings; /* how often it may be halved */
    uint8_t has_passed, is_estimated;
    uint64_t samples; /* in its records */
} cr_member;

typedef struct cr_set {
    certreg_alternatives given; /* count 0: none */
    float *z;                   /* inputs: the input itself */
    double target;              /* 0: none */
    int needs_pilot;            /* each alternative has a pilot, which chooses its bounds */
    int is_predicted;           /* 1: `predictions` are known */
    size_t main_samples;        /* of each node */
    uint32_t next;              /* the first alternative without a record so far */
    uint32_t failed;            /* the first that failed; count + 1: none */
    certreg_status broken;      /* of `failed`, if it has no answers */
    size_t unproved;            /* alternatives before `failed` */
    size_t unestimated;         /* alternatives */
    cr_member *members;         /* count + 1 */
    double *estimates;          /* members*questions */
    double *predictions;        /* questions*outputs */
    size_t *outputs;            /* questions: the numbers of a prediction */
    double *watched;            /* questions: the radius of given.watch */
    double *least;              /* questions: the least radius that a margin leaves */
    uint32_t *limiting;         /* questions: the alternative with it */
    uint64_t audited;           /* the least number of outputs that were asked again */
    double change, band;        /* the largest of all records */
    uint32_t *out; /* questions: the first alternative that is not proved; count + 1: none */
    certreg_certificate *own, *tightest; /* questions: of the input; of `limiting` */
} cr_set;

/* ---- an open input */
typedef struct cr_entry {
    int is_open, asks_again;
    uint64_t decided;                      /* its place among the results; 0: not decided */
    uint64_t tag, noise_id, level, digest; /* the digest of its z and scale */
    double sigma, at_radius;
    double expires_at;           /* 0: never */
    size_t samples, count;       /* total samples; questions */
    certreg_question *questions; /* copies, with all that they point to: */
    certreg_target *targets;
    certreg_serving *serving;
    uint64_t *looks;     /* questions*CR_LOOKS */
    double *predictions; /* questions*outputs */
    certreg_certificate *certificates;
    cr_set set;
    certreg_error error;  /* its status as well */
    uint64_t pilot, rows; /* samples of the pilot, and of all records */
} cr_entry;

/* ---- an open record */
typedef struct cr_slot {
    cr_record record;         /* out of date while it is mounted */
    cr_entry *entry;          /* NULL: free */
    uint64_t use;             /* a number of this use of the slot */
    certreg_alternative node; /* z NULL */
    size_t goal, next;        /* samples until the next step; the first that is not drawn */
    size_t missing;           /* samples below the goal that are not recorded */
    int is_alone;             /* its next call has no other rows */
    int waits;                /* for the audit: CR_WAITS_..., 0: it does not */
    int is_audited;           /* the samples up to its goal */
} cr_slot;

enum { CR_WAITS = 1, CR_WAITS_IN_AUDIT };

typedef struct cr_origin { /* of a row */
    cr_slot *slot;
    uint64_t use;
} cr_origin;

/* ---- a call of the model */
#define CR_MAX_CALLS 16u
enum cr_call_state { CR_CALL_FREE, CR_CALL_OUT, CR_CALL_BACK };

typedef struct cr_queue_call {
    _Atomic int32_t state;
    _Atomic uint64_t ticket; /* the number of the call * CR_MAX_CALLS + its index; 0: given */
    int32_t failed;          /* error.code; 0: it has outputs */
    size_t used, rows;
    uint64_t audit; /* the number of the audit that asks for it; 0: none */
    double begun;   /* by the clock of the record */
    float *x, *y;
    certreg_queue_row *row;
    cr_origin *origin;
} cr_queue_call;

struct certreg_queue {
    uint64_t tag; /* CR_HANDLE_TAG */
    cr_context w;
    certreg_queue_plan plan;
    int32_t owns_memory;
    void *device_memory;    /* rows of further calls; NULL: none */
    cr_record home;         /* the estimator's own record, which is mounted at rest */
    cr_slot *mounted;       /* NULL: home */
    cr_slot *slots, **open; /* capacity each; open: in the order of opening */
    size_t open_count;
    cr_entry *entries; /* capacity */
    cr_queue_call *calls;
    certreg_question *asked; /* questions: about one node */
    certreg_certificate *answers;
    certreg_target target;   /* of `asked` */
    float *changed;          /* inputs: an alternative */
    unsigned char *exported; /* of plan.keep */
    float *erased;           /* max_samples: of a record, while its picks alone are exported */
    size_t export_bytes;
    enum { CR_NO_AUDIT, CR_AUDIT_OF_CHECK, CR_AUDIT_OF_PICKS } audit;
    cr_audit_pick *picks;
    uint64_t audits, check_tag;
    uint64_t uses, decisions, call_numbers;
    double slowest_call, slowest_answer; /* seconds; 0: unknown */
};

/* Ends an audit before its verdict: a later one begins anew. */
static inline void cr_queue_abort_audit(certreg_queue *q)
{
    q->audit = CR_NO_AUDIT;
    for (size_t i = 0; i < q->open_count; i++)
        if (q->open[i]->waits) q->open[i]->waits = CR_WAITS;
}

/* ---- slots.c: records */
/* Mounts a slot's record; NULL: the estimator's own. */
void cr_queue_exchange(certreg_queue *, cr_slot *);
/* Mounts the record of an open slot, with the deadline of its input. */
void cr_queue_mount(certreg_queue *, cr_slot *);
/* Returns a free slot, or NULL. */
cr_slot *cr_queue_free_slot(certreg_queue *);
/* Returns the number of noise ids from given.first_noise_id on; 0 without alternatives. */
uint64_t cr_set_noise_ids(const certreg_alternatives *);
/* Opens a record for a node of an entry: z and margin are the node's. */
certreg_status cr_queue_open(certreg_queue *, cr_slot *, cr_entry *, const certreg_alternative *,
                             const float *z);
/* Frees a slot, or all slots of an entry: rows that are out are ignored. */
void cr_queue_close(certreg_queue *, cr_slot *);
void cr_queue_close_all(certreg_queue *, const cr_entry *);
/* Ends an entry with the certificates that it has, or with the queue's error. */
void cr_queue_decide(certreg_queue *, cr_entry *);
void cr_queue_fail(certreg_queue *, cr_entry *, certreg_status);
/* Passes the mounted record to the caller. */
void cr_queue_keep_record(certreg_queue *, const cr_slot *);

/* Names a row of an open slot. */
static inline certreg_queue_row cr_queue_origin(const cr_slot *slot, uint64_t sample)
{
    return (certreg_queue_row){.struct_size = sizeof(certreg_queue_row),
                               .number = slot->node.number,
                               .depth = slot->node.depth,
                               .path = slot->node.path,
                               .tag = slot->entry->tag,
                               .sample = sample};
}

/* Follows the slowest of some times at once, and forgets it slowly. */
static inline void cr_queue_learn(double *slowest, double seconds)
{
    *slowest = seconds > *slowest ? seconds : *slowest + (seconds - *slowest) / 16;
}

/* ---- audit.c: samples of records that are complete are asked again */
/* Returns 1 if the next call is one of the audit, or of the check before the first call. No such
 * call begins while others are out. */
int cr_queue_audit_is_due(certreg_queue *, size_t rows_waiting);
/* Draws the next call of the audit. `used` 0: it has ended without one. */
certreg_status cr_queue_audit_draw(certreg_queue *, cr_queue_call *);
/* Takes the outputs of a call of the audit. MODEL_FAILED if the premise is refused. */
certreg_status cr_queue_audit_take(certreg_queue *, const cr_queue_call *, const float *y);

/* ---- alternatives.c: a step of one record, and the nodes of an input with alternatives */
/* Keeps the answers about an input without alternatives. */
void cr_queue_keep_answers(certreg_queue *, const cr_slot *, certreg_status);
/* Evaluates a slot whose samples are complete up to its goal, or whose sampling has ended with
 * `sampled`. */
void cr_queue_step(certreg_queue *, cr_slot *, certreg_status sampled);
/* Reads alternatives; INVALID if they cannot be certified, or not by this queue. */
certreg_status cr_set_read(certreg_queue *, const certreg_alternatives *, cr_entry *);
/* Asks the callback for the record of the input itself. */
certreg_status cr_set_itself(certreg_queue *, const cr_entry *, const float *z,
                             certreg_alternative *node);
/* Begins a set. The slot has the record of the input itself. */
void cr_set_begin(certreg_queue *, cr_slot *);
/* Opens records for alternatives while there are free slots. */
void cr_set_fill(certreg_queue *, cr_entry *);
/* Goes on after rows of a slot were recorded. */
void cr_set_advance(certreg_queue *, cr_slot *);
/* Ends a set early: it claims nothing. */
void cr_set_give_up(certreg_queue *, cr_entry *, certreg_status why);
/* Returns the number of leading alternatives that are all proved, if this is a claim. */
uint64_t cr_set_proved(const cr_entry *);
/* Returns what was seen of an alternative. */
certreg_alternative_result cr_set_result(const cr_entry *, size_t number, size_t question);

#endif
