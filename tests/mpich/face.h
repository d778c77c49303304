/* What an extension of tests/mpich/face.c shows to tests/mpich/faces.c, which knows neither ABI. */
#ifndef FACE_H
#define FACE_H

struct face {
    /* Starts MPI. `other` is what the callbacks of this face call, each time they run. */
    void (*begin)(void (*other)(void));
    /* Makes communicators, keys, operations, error handlers and requests with callbacks. */
    void (*make)(void);
    /* What a callback of the other face calls: attributes come and go, errors are raised, and a generalized request of this face is completed. */
    void (*poke)(void);
    /* Starts a reduction and a receive whose ends run callbacks. */
    void (*leave)(void);
    /* Nothing but messages between all ranks. */
    void (*meet)(void);
    /* How often callbacks have run that `leave` is for. */
    int (*run)(void);
    /* Ends what `leave` has started. */
    void (*fetch)(void);
    /* Fires each callback. */
    void (*fire)(void);
    /* Frees all, and ends MPI. */
    void (*end)(void);
};

#endif
