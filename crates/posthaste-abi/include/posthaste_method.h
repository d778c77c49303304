/* posthaste_method.h: the table by which a plug-in gives posthaste a method.
 *
 * A method moves packets between the processes of a job: reliably, and those from one process to another in order. That
 * is all; long messages, matching, flow control and everything else are posthaste's own.
 *
 * A plug-in is a shared object that defines one variable:
 *
 *     const posthaste_method posthaste_method_table = { .version = POSTHASTE_METHOD_VERSION, ... };
 *
 * POSTHASTE_PLUGIN names the shared object: by a path, or by a word, where `unix` means libposthaste_unix.so, which the
 * dynamic linker looks for. It is used for the ranks that shared memory does not lead to if POSTHASTE_METHODS names
 * `plugin`. See docs/plugins.md and examples/unix-method.
 *
 * Rules for all functions: none of them blocks. posthaste calls them from one thread at a time, but not always from the
 * same one, and never from inside of another one. Ranks are those of the job, from 0 on. No function may call MPI.
 */
#ifndef POSTHASTE_METHOD_H
#define POSTHASTE_METHOD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this table. A plug-in of another version is refused. */
#define POSTHASTE_METHOD_VERSION 1

/* Bytes of room for a sentence that says what went wrong, with the 0 at its end. */
#define POSTHASTE_METHOD_TEXT 256

/* The job, as one process sees it. */
typedef struct posthaste_job {
    uint32_t rank;               /* of this process */
    uint32_t ranks;              /* number of processes */
    const unsigned char *secret; /* 32 bytes that only processes of this job know */
} posthaste_job;

/* A part of a packet: laid out as the system's struct iovec. */
typedef struct posthaste_piece {
    const void *base;
    size_t len;
} posthaste_piece;

/* To whom `poll` reports what has happened. */
typedef struct posthaste_receiver {
    void *context; /* to be handed to both */
    /* A packet of that rank has come. The bytes are looked at before this returns. */
    void (*packet)(void *context, uint32_t from, const void *bytes, size_t len);
    /* That rank cannot be reached any more: a sentence says why. Packets of it that have come must be reported first. */
    void (*down)(void *context, uint32_t peer, const char *why);
} posthaste_receiver;

/* The table. `self` is what `open` has returned. Only `descriptor` may be NULL. */
typedef struct posthaste_method {
    uint32_t version;  /* POSTHASTE_METHOD_VERSION */
    uint32_t longest;  /* the longest packet, in bytes: 256 to 16 MiB */
    const char *name;  /* up to 32 letters, digits, - and _; the same for all ranks */

    /* Starts; once per process. NULL: it cannot, and `why` says why. */
    void *(*open)(const posthaste_job *job, char why[POSTHASTE_METHOD_TEXT]);

    /* Where this process is reached: up to 256 bytes of text, which posthaste takes to whoever asks. Stays until close. */
    const char *(*address)(void *self);

    /* Says where a rank is reached, once, before the first packet to it is sent; it may be used before that for packets
     * that come from there. 0: done, or begun. Else the rank cannot be reached, and `why` says why. */
    int (*connect)(void *self, uint32_t peer, const char *address, char why[POSTHASTE_METHOD_TEXT]);

    /* Sends one packet, which consists of these pieces (1 to 4) and need not stay when this returns. Not 0: taken, all of it.
     * 0: there is no room at present, and nothing was taken; posthaste asks again. When the rank is lost either will
     * do, and `poll` reports. */
    int (*send)(void *self, uint32_t peer, const posthaste_piece *pieces, size_t count);

    /* Does what there is to do, and reports to the receiver what has come. Not 0: there was something. */
    int (*poll)(void *self, const posthaste_receiver *receiver);

    /* A descriptor that can be read when `poll` has something to do, on which posthaste sleeps; -1 if there is none.
     * Without one a process that waits stays awake. Freed space need not be reported: nobody sleeps while a packet waits
     * for it. */
    int (*descriptor)(void *self);

    /* Not 0: everything that was taken has left this process, and will arrive even if it ends now. */
    int (*flush)(void *self);

    /* Ends. All ranks have said before that they need nothing more, or are lost. */
    void (*close)(void *self);
} posthaste_method;

/* What a plug-in defines. */
extern const posthaste_method posthaste_method_table;

#ifdef __cplusplus
}
#endif

#endif
