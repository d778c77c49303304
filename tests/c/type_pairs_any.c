// ranks: 2 4
// only: posthaste
/* Pairs without a name: any number as value, with an index that int cannot hold. Other implementations have none.
 * MPI-5.0 section 6.9.4. */
#include "type_check.h"

#include <stddef.h>
#include <stdint.h>

#define REDUCES(V, I, value_type, index_type)                                                          \
    do {                                                                                               \
        struct pair {                                                                                  \
            V value;                                                                                   \
            I index;                                                                                   \
        } mine[5], most[5], least[5];                                                                  \
        MPI_Datatype type, same, types[2] = {value_type, index_type};                                  \
        const I far = (I)(sizeof(I) > 4 ? 5LL << 40 : 5 << 20);                                        \
        OK(MPI_Type_get_value_index(value_type, index_type, &type));                                   \
        OK(MPI_Type_get_value_index(value_type, index_type, &same));                                   \
        CHECK(type == same && type != MPI_DATATYPE_NULL, #V " and " #I);                               \
        type_made_by(type, MPI_COMBINER_VALUE_INDEX, 0, NULL, 0, NULL, 2, types);                      \
        type_begin();                                                                                  \
        type_at(0, sizeof(V));                                                                         \
        type_at(offsetof(struct pair, index), sizeof(I));                                              \
        type_measures(type, sizeof(V) + sizeof(I), 0, sizeof(struct pair), 0,                          \
                      offsetof(struct pair, index) + sizeof(I));                                       \
        type_moves_count(type, MPI_DATATYPE_NULL, 3);                                                  \
        for (int i = 0; i < 5; i++) {                                                                  \
            mine[i].value = (V)(i == 4 ? 7 : (rank + i) % size + 1);                                   \
            mine[i].index = far + rank;                                                                \
        }                                                                                              \
        OK(MPI_Allreduce(mine, most, 5, type, MPI_MAXLOC, MPI_COMM_WORLD));                            \
        OK(MPI_Allreduce(mine, least, 5, type, MPI_MINLOC, MPI_COMM_WORLD));                           \
        for (int i = 0; i < 5; i++) {                                                                  \
            int top = i == 4 ? 0 : (2 * size - 1 - i) % size, bottom = i == 4 ? 0 : (2 * size - i) % size; \
            CHECK(most[i].value == (V)(i == 4 ? 7 : size) && most[i].index == far + top, #V " %d", i);   \
            CHECK(least[i].value == (V)(i == 4 ? 7 : 1) && least[i].index == far + bottom, #V " %d", i); \
        }                                                                                              \
        REFUSED(MPI_Allreduce(mine, most, 5, type, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);              \
        same = type;                                                                                   \
        REFUSED(MPI_Type_free(&same), MPI_ERR_TYPE);                                                   \
    } while (0)

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    REDUCES(double, int64_t, MPI_DOUBLE, MPI_INT64_T);
    REDUCES(float, MPI_Count, MPI_FLOAT, MPI_COUNT);
    REDUCES(long double, long, MPI_LONG_DOUBLE, MPI_LONG);
    REDUCES(signed char, int, MPI_SIGNED_CHAR, MPI_INT);
    REDUCES(short, long long, MPI_SHORT, MPI_LONG_LONG);
    REDUCES(unsigned, int32_t, MPI_UNSIGNED, MPI_INT32_T);
    REDUCES(uint64_t, int64_t, MPI_UINT64_T, MPI_INT64_T);
    REDUCES(uint8_t, MPI_Aint, MPI_UINT8_T, MPI_AINT);
    REDUCES(uint16_t, MPI_Offset, MPI_UINT16_T, MPI_OFFSET);
    REDUCES(MPI_Count, int, MPI_COUNT, MPI_INT);
    REDUCES(__int128, long, MPI_INTEGER16, MPI_LONG);
    return check_end();
}
