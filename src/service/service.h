/* A service: an estimator of its own, made like the one that certified, with secret noise. It gives
 * the answers that a certificate is about, and no others. */
#ifndef CR_SERVICE_SERVICE_H
#define CR_SERVICE_SERVICE_H
#include "certreg/service.h"
#include "estimator/context.h"

struct certreg_service {
    uint64_t tag; /* CR_HANDLE_TAG */
    cr_context w; /* of the service's estimator: its guard, error and clock are the service's */
    int32_t owns_memory;
    int is_episode, is_started;
    int has_fault_radii; /* 1: a certificate with a radius has one for wrong features */
    certreg_service_plan plan;
    certreg_question question;       /* without a target and a prediction */
    certreg_serving serving;         /* of the question, if it has any */
    certreg_certificate certificate; /* that is served */
    certreg_service_log log;
    double sigma;
    uint64_t number;         /* of the next tick */
    uint64_t certified_seed; /* which start refuses */
    size_t actions;          /* numbers of an action; 0 in an episode */
    double *prediction;      /* actions: certified for a tick without samples */
    double *fallback;        /* actions */
    float *anchor;           /* inputs: what the certificate is about; not in an episode */
    float *reading;          /* inputs: without hidden sensors, or without wrong units */
    double *distance;        /* units: squared, of each from the anchor; without masks none */
    int *hidden;             /* inputs: 1 for a sensor that the episode's mask hides */
};

/* ---- create.c: the certificate that a service may serve */
/* Takes the certificate of an input, if it is about question, sigma and scale of the service. */
certreg_status cr_service_anchor(certreg_service *, const float *z, const certreg_certificate *,
                                 certreg_error *why);

#endif
