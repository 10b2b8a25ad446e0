/* Units of work on demand: a rank that is done sends its result and gets the next unit. */
#include "certify.h"
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A blocking receive of Open MPI takes a whole core while it waits. */
static int await(int from, MPI_Status *s)
{
    const struct timespec a_moment = {.tv_nsec = 200000};
    int there = 0, bytes;
    while (MPI_Iprobe(from, 0, MPI_COMM_WORLD, &there, s), !there) nanosleep(&a_moment, NULL);
    MPI_Get_count(s, MPI_BYTE, &bytes);
    return bytes;
}

static void receive(void *to, int bytes, int from)
{
    MPI_Recv(to, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(const void *data, size_t bytes, int to)
{
    MPI_Send(data, (int)bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

int anywhere(int bad)
{
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return bad;
}

static size_t unit_bytes(const struct unit *u)
{
    return sizeof *u + u->rows * INPUTS * sizeof(float);
}

static void alone(const struct farm *f, struct unit *u, struct result *r)
{
    int stop = 0;
    while (!stop && f->next(f->self, u, (float *)(u + 1))) {
        *r = (struct result){.unit = *u};
        const size_t size = f->work(f->self, r, (float *)(u + 1), r + 1);
        stop = f->take(f->self, r, r + 1, size);
    }
}

static void hand_out(const struct farm *f, struct unit *u, struct result *r, int *idle, int ranks)
{
    int idles = 0, stop = 0;
    for (int k = ranks - 1; k > 0; k--) idle[idles++] = k;
    for (MPI_Status s;;) {
        while (!stop && idles && f->next(f->self, u, (float *)(u + 1)))
            send(u, unit_bytes(u), idle[--idles]);
        if (idles == ranks - 1) break;
        const int bytes = await(MPI_ANY_SOURCE, &s);
        receive(r, bytes, s.MPI_SOURCE);
        r->rank = idle[idles++] = s.MPI_SOURCE;
        stop = stop || f->take(f->self, r, r + 1, (size_t)bytes - sizeof *r);
    }
    *u = (struct unit){0};
    while (idles) send(u, sizeof *u, idle[--idles]);
}

static void work(const struct farm *f, struct unit *u, struct result *r)
{
    for (MPI_Status s;;) {
        receive(u, await(0, &s), 0);
        if (!u->rows) return;
        *r = (struct result){.unit = *u};
        send(r, sizeof *r + f->work(f->self, r, (float *)(u + 1), r + 1), 0);
    }
}

int farm_run(const struct farm *f)
{
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct unit *u = malloc(unit_bytes(&(struct unit){.rows = f->most_rows}));
    struct result *r = malloc(sizeof *r + f->most_bytes);
    int *idle = malloc((size_t)ranks * sizeof *idle);
    const int bad = anywhere(!u || !r || !idle);
    if (bad) fail("the units of work", "there is no memory for them", "set a smaller --chunk");
    else if (ranks == 1) alone(f, u, r);
    else if (rank) work(f, u, r);
    else hand_out(f, u, r, idle, ranks);
    free(u), free(r), free(idle);
    return bad;
}
