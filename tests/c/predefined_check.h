/* predefined_check.h: what the tests of predefined datatypes share. */
#ifndef PREDEFINED_CHECK_H
#define PREDEFINED_CHECK_H

#include "type_check.h"

/* A predefined type: handle, name, offset and width of its parts up to a width of 0, and extent. */
struct predefined {
    MPI_Datatype type;
    const char *name;
    struct {
        int at, width;
    } parts[3];
    int extent;
    /* The standard's synonym, by which other implementations may call it. */
    const char *also;
};

static inline void predefined(const struct predefined *p)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1, ints, aints, types, combiner, bytes = 0, end = 0;
    MPI_Datatype copy;
    type_begin();
    for (int i = 0; i < 3 && p->parts[i].width > 0; i++) {
        type_at(p->parts[i].at, p->parts[i].width);
        bytes += p->parts[i].width;
        end = p->parts[i].at + p->parts[i].width;
    }
    OK(MPI_Type_get_name(p->type, name, &length));
    CHECK(strcmp(name, p->name) == 0 || (p->also && strcmp(name, p->also) == 0), "%s has the name \"%s\"", p->name, name);
    EQUAL(length, strlen(name));
    OK(MPI_Type_get_envelope(p->type, &ints, &aints, &types, &combiner));
    CHECK(combiner == MPI_COMBINER_NAMED && ints == 0 && aints == 0 && types == 0, "%s", p->name);
    type_measures(p->type, bytes, 0, p->extent, 0, end);
    /* Committed from the start; to commit it again is no mistake. */
    copy = p->type;
    OK(MPI_Type_commit(&copy));
    CHECK(copy == p->type, "%s", p->name);
    type_moves_count(p->type, MPI_DATATYPE_NULL, 1);
    type_moves_count(p->type, MPI_DATATYPE_NULL, 7);
    type_moves_count(p->type, MPI_DATATYPE_NULL, 20000);
}

#endif
