/* env_check.h: what MPI_Info_create_env says must be the same whenever it is called (MPI-5.0 section 11.2.3). */
#ifndef ENV_CHECK_H
#define ENV_CHECK_H

#include "check.h"

/* Both have the same keys, in any order, with the same values. */
static inline void info_is(MPI_Info found, MPI_Info wanted)
{
    int keys = -1, n = -1;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1], other[MPI_MAX_INFO_VAL + 1];
    OK(MPI_Info_get_nkeys(found, &n));
    OK(MPI_Info_get_nkeys(wanted, &keys));
    EQUAL(n, keys);
    CHECK(keys > 0, "it says nothing");
    for (int i = 0; i < keys; i++) {
        int flag = 0, length = sizeof value, other_length = sizeof other;
        OK(MPI_Info_get_nthkey(wanted, i, key));
        OK(MPI_Info_get_string(wanted, key, &length, value, &flag));
        EQUAL(flag, 1);
        OK(MPI_Info_get_string(found, key, &other_length, other, &flag));
        CHECK(flag, "no key %s", key);
        CHECK(!strcmp(value, other), "%s is %s, and was %s", key, other, value);
    }
}

/* A new one says what the first one has said. */
static inline void env_is(MPI_Info first, int argc, char **argv)
{
    MPI_Info env;
    OK(MPI_Info_create_env(argc, argv, &env));
    info_is(env, first);
    OK(MPI_Info_free(&env));
}

#endif
