// ranks: 2 3 5
// only: posthaste
// timeout: 120
/* Random windows, epochs, operations and datatypes against a model of the memory of all ranks, which each of them computes alone from the same
 * dice. In an epoch every byte is read, or written once, or changed by operations that may come in any order, or by those of one origin, in
 * theirs, whichever they are. All memory of all windows is compared after each epoch, and all that was fetched. The seed is printed;
 * `win_random SEED` does the same again. MPI-5.0 chapter 12. */
#include "win_model.h"

#include <time.h>

enum { WINDOWS = 24, PHASES = 4, MOST_OPERATIONS = 16, MOST_RANKS = 16 };
/* Over TCP so many bytes in one run leave from where they lie. */
enum { LONG = 32 << 10 };
enum what { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, KINDS };
enum epoch { FENCE, POST, LOCK, LOCK_EACH, LOCK_ALL, EPOCHS };

/* The memory of a rank. */
struct part {
    int bytes, unit, is_heap;
    /* Where a dynamic window is in two pieces. */
    int cut;
    unsigned char *model;
    /* What is done with each byte in this epoch. */
    int *claims;
    MPI_Aint start;
};

struct operation {
    enum what what;
    int origin, target, at, number, is_large, has_request, is_scribbled;
    const struct basic *basic;
    struct layout from, into, to;
    unsigned char *data, *wanted, *result, *compare;
    MPI_Request request;
};

static unsigned long long seed;
static int turn;
static struct part parts[MOST_RANKS];
static struct operation operations[MOST_OPERATIONS * MOST_RANKS];
static int made;
static MPI_Win win;
static enum flavor flavor;
static unsigned char *memory;

static void fail_seed(void)
{
    if (turn < WINDOWS) fprintf(stderr, "rank %d: to see this again: win_random %llu (window %d)\n", rank, seed, turn);
}

/* For choices of this rank that make no difference to the model. */
static uint64_t own_dice;

static int either(int n)
{
    own_dice = own_dice * 6364136223846793005u + 1442695040888963407u;
    return (int)((own_dice >> 33) % (uint64_t)n);
}

/* Whether all bytes are free, or claimed for the same; then they are claimed. Elements that may be accessed twice lie on one grid. */
static int claim(struct part *part, const struct operation *o, int code)
{
    int shared = code != 2;
    for (int i = 0; i < o->to.elements; i++)
        for (int byte = 0, at = o->at + o->to.at[i]; byte < o->basic->width; byte++) {
            int grid = code > 2 ? code + at % o->basic->width : code;
            if (part->claims[at + byte] && !(shared && part->claims[at + byte] == grid)) return 0;
        }
    for (int i = 0; i < o->to.elements; i++)
        for (int byte = 0, at = o->at + o->to.at[i]; byte < o->basic->width; byte++)
            part->claims[at + byte] = code > 2 ? code + at % o->basic->width : code;
    return 1;
}

static void release(struct operation *o)
{
    forget(&o->from), forget(&o->into), forget(&o->to);
    free(o->data), free(o->wanted), free(o->result), free(o->compare);
}

/* What the operation does in the model, and what it fetches. */
static void model(struct operation *o)
{
    struct part *part = &parts[o->target];
    int width = o->basic->width;
    for (int i = 0; i < o->to.elements; i++) {
        unsigned char *element = part->model + o->at + o->to.at[i];
        const unsigned char *operand = o->data + o->from.at[i];
        if (o->what != PUT && o->what != ACCUMULATE) memcpy(o->wanted + o->into.at[i], element, (size_t)width);
        if (o->what == COMPARE_AND_SWAP) {
            if (memcmp(element, o->compare, (size_t)width) == 0) memcpy(element, operand, (size_t)width);
        } else if (o->what != GET) {
            combine(o->number, o->basic, element, operand);
        }
    }
}

/* Elements of an access that is long in one run, or of any other one. */
static struct layout lay_out_some(int n, const struct basic *basic, int gap, int is_needed, int is_long)
{
    struct layout l = {basic->type, n, n, n * basic->width, 0, NULL};
    if (!is_long || below(4) == 0) return lay_out(n, basic, gap, is_needed);
    l.at = malloc(sizeof(int) * (size_t)(n + 1));
    for (int i = 0; i < n; i++) l.at[i] = i * basic->width;
    return l;
}

/* One more operation of the origin, if there is room for it at the target. */
static void roll(int origin, int target, int is_passive)
{
    struct part *part = &parts[target];
    struct operation o = {.origin = origin, .target = target, .request = MPI_REQUEST_NULL};
    int here = rank == origin, single, atomic, any_order, kind;
    o.what = (enum what)below(KINDS);
    single = o.what >= FETCH_AND_OP, atomic = o.what >= ACCUMULATE;
    kind = below(o.what == COMPARE_AND_SWAP ? INTEGERS : BASICS);
    o.basic = &basics[kind];
    o.is_large = below(3) == 0;
    o.has_request = is_passive && !single && below(3) == 0;
    /* Sums and products that do not fit are for numbers without a sign only. */
    o.number = !atomic || o.what == COMPARE_AND_SWAP ? REPLACE : kind < INTEGERS ? below(OPS) : REPLACE + below(2);
    if (o.basic->is_signed && o.number <= PROD) o.number = MAX;
    if (o.what == ACCUMULATE && o.number == NO_OP) o.number = REPLACE;
    any_order = o.what == ACCUMULATE && o.number < IN_ANY_ORDER;
    int most = part->bytes / o.basic->width, n = single ? 1 : below(4) ? below(most < 40 ? most + 1 : 40) : below(most + 1);
    /* Mostly before others have claimed too much. */
    int is_long = part->bytes >= LONG && !single && below(made < 2 * size ? 2 : 6) == 0, gap = atomic ? o.basic->width : 1;
    if (is_long) n = between(LONG / o.basic->width, (LONG / o.basic->width + most) / 2);
    o.to = lay_out_some(n, o.basic, gap, here, is_long);
    if (single) o.to.at[0] = 0, o.to.span = o.basic->width;
    o.from = lay_out_some(n, o.basic, gap, here, is_long);
    o.into = lay_out_some(n, o.basic, gap, here, is_long);
    int last = (part->bytes - o.to.span) / part->unit, fits = part->bytes >= o.to.span && made < MOST_OPERATIONS * size;
    int code = o.what == GET ? 1 : o.what == PUT ? 2 : ((any_order ? 1 + o.number : 16 + origin) * BASICS + kind) * 16 + 16;
    if (fits) o.at = below(last + 1) * part->unit;
    if (!fits || !claim(part, &o, code)) {
        release(&o);
        return;
    }
    /* Gaps keep what they hold. */
    o.data = malloc((size_t)o.from.span + 1);
    fill(o.data, o.from.span);
    o.wanted = malloc((size_t)o.into.span + 1);
    memset(o.wanted, 0x5a, (size_t)o.into.span);
    if (here) {
        o.result = check_guarded((size_t)o.into.span);
        memset(o.result, 0x5a, (size_t)o.into.span);
        if (o.what == GET) o.is_scribbled = 1;
    }
    o.compare = malloc(16);
    fill(o.compare, 16);
    if (below(2)) memcpy(o.compare, part->model + o.at, o.what == COMPARE_AND_SWAP ? (size_t)o.basic->width : 0);
    model(&o);
    operations[made++] = o;
}

/* The call. */
static void start(struct operation *o)
{
    MPI_Aint at = parts[o->target].start + o->at / parts[o->target].unit;
    int to = o->target, n = o->from.count, m = o->to.count, k = o->into.count;
    MPI_Datatype from = o->from.type, type = o->to.type, into = o->into.type, basic = o->basic->type;
    MPI_Op op = op_of(o->number);
    void *data = o->data, *result = o->result;
    MPI_Request *r = &o->request;
    if (o->number == NO_OP && either(2)) data = NULL, n = 0;
    switch (o->what + KINDS * (o->has_request + 2 * o->is_large)) {
    case PUT: OK(MPI_Put(data, n, from, to, at, m, type, win)); break;
    case PUT + KINDS: OK(MPI_Rput(data, n, from, to, at, m, type, win, r)); break;
    case PUT + 2 * KINDS: OK(MPI_Put_c(data, n, from, to, at, m, type, win)); break;
    case PUT + 3 * KINDS: OK(MPI_Rput_c(data, n, from, to, at, m, type, win, r)); break;
    case GET: OK(MPI_Get(result, k, into, to, at, m, type, win)); break;
    case GET + KINDS: OK(MPI_Rget(result, k, into, to, at, m, type, win, r)); break;
    case GET + 2 * KINDS: OK(MPI_Get_c(result, k, into, to, at, m, type, win)); break;
    case GET + 3 * KINDS: OK(MPI_Rget_c(result, k, into, to, at, m, type, win, r)); break;
    case ACCUMULATE: OK(MPI_Accumulate(data, n, from, to, at, m, type, op, win)); break;
    case ACCUMULATE + KINDS: OK(MPI_Raccumulate(data, n, from, to, at, m, type, op, win, r)); break;
    case ACCUMULATE + 2 * KINDS: OK(MPI_Accumulate_c(data, n, from, to, at, m, type, op, win)); break;
    case ACCUMULATE + 3 * KINDS: OK(MPI_Raccumulate_c(data, n, from, to, at, m, type, op, win, r)); break;
    case GET_ACCUMULATE: OK(MPI_Get_accumulate(data, n, from, result, k, into, to, at, m, type, op, win)); break;
    case GET_ACCUMULATE + KINDS: OK(MPI_Rget_accumulate(data, n, from, result, k, into, to, at, m, type, op, win, r)); break;
    case GET_ACCUMULATE + 2 * KINDS: OK(MPI_Get_accumulate_c(data, n, from, result, k, into, to, at, m, type, op, win)); break;
    case GET_ACCUMULATE + 3 * KINDS: OK(MPI_Rget_accumulate_c(data, n, from, result, k, into, to, at, m, type, op, win, r)); break;
    default:
        if (data) data = o->data + o->from.at[0];
        result = o->result + o->into.at[0];
        if (o->what == FETCH_AND_OP) OK(MPI_Fetch_and_op(data, result, basic, to, at, op, win));
        else OK(MPI_Compare_and_swap(data, o->compare, result, basic, to, at, win));
    }
}

/* The buffers of the operation are the program's again: what becomes of them is nobody's business. */
static void scribble(struct operation *o)
{
    if (o->is_scribbled) return;
    memset(o->compare, 0x11, 16);
    memset(o->data, 0x11, (size_t)o->from.span);
    o->is_scribbled = 1;
}

/* All operations of this rank that go to the target, if it is not -1, and are among the first so many. */
static void over(int target, int before)
{
    for (int i = 0; i < before; i++)
        if (operations[i].origin == rank && (target < 0 || operations[i].target == target)) scribble(&operations[i]);
}

static void wait_for_requests(int before)
{
    for (int i = 0; i < before; i++)
        if (operations[i].origin == rank && operations[i].request != MPI_REQUEST_NULL) {
            OK(MPI_Wait(&operations[i].request, MPI_STATUS_IGNORE));
            scribble(&operations[i]);
        }
}

/* The operations of this rank, and between them whatever its epoch allows. */
static void operate(enum epoch epoch)
{
    int is_passive = epoch >= LOCK;
    for (int i = 0; i < made; i++) {
        struct operation *o = &operations[i];
        if (o->origin != rank) continue;
        if (epoch == LOCK_EACH) OK(MPI_Win_lock(either(2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, o->target, 0, win));
        start(o);
        int choice = is_passive ? either(10) : 9;
        if (choice == 0) OK(MPI_Win_flush(o->target, win));
        if (choice == 1) OK(MPI_Win_flush_local(o->target, win));
        if (choice == 2) OK(MPI_Win_flush_all(win));
        if (choice == 3) OK(MPI_Win_flush_local_all(win));
        if (choice < 4) over(choice < 2 ? o->target : -1, i + 1);
        if (choice == 4) wait_for_requests(i + 1);
        if (epoch == LOCK_EACH) OK(MPI_Win_unlock(o->target, win));
    }
    if (is_passive && either(2)) wait_for_requests(made);
}

/* What others have done to the memory here, and what was fetched. */
static void compare(enum epoch epoch)
{
    const struct part *part = &parts[rank];
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    for (int i = 0; i < part->bytes; i++)
        CHECK(memory[i] == part->model[i], "%s, epoch %d: byte %d of %d is %#x, not %#x", flavor_names[flavor], epoch, i, part->bytes, memory[i], part->model[i]);
    OK(MPI_Win_unlock(rank, win));
    for (int i = 0; i < made; i++) {
        struct operation *o = &operations[i];
        if (o->origin == rank) {
            check_guards(o->result, (size_t)o->into.span);
            for (int byte = 0; byte < o->into.span; byte++)
                CHECK(o->result[byte] == o->wanted[byte], "%s, epoch %d: operation %d (%d, number %d) of %d elements: byte %d is %#x, not %#x", flavor_names[flavor],
                      epoch, i, o->what, o->number, o->to.elements, byte, o->result[byte], o->wanted[byte]);
            o->result -= CHECK_GUARD;
        }
        release(o);
    }
    made = 0;
}

/* Members of the group that the origin accesses, or that access the target. */
static MPI_Group members(MPI_Group world, const char *is_member)
{
    int ranks[MOST_RANKS], count = 0;
    MPI_Group group;
    for (int other = 0; other < size; other++)
        if (is_member[other]) ranks[count++] = other;
    OK(MPI_Group_incl(world, count, ranks, &group));
    return group;
}

static void phase(void)
{
    enum epoch epoch = (enum epoch)below(EPOCHS);
    char may[MOST_RANKS][MOST_RANKS], from[MOST_RANKS] = {0}, is_used[MOST_RANKS] = {0};
    int count = below(MOST_OPERATIONS * size), asserts = below(2), flag = 0;
    for (int target = 0; target < size; target++) memset(parts[target].claims, 0, sizeof(int) * (size_t)(parts[target].bytes + 1));
    for (int origin = 0; origin < size; origin++)
        for (int target = 0; target < size; target++) may[origin][target] = epoch != POST || below(2);
    for (int i = 0; i < count; i++) {
        int origin = below(size), target = below(size);
        if (may[origin][target]) roll(origin, target, epoch >= LOCK);
    }
    MPI_Group world, sources, targets;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int origin = 0; origin < size; origin++) from[origin] = may[origin][rank];
    for (int i = 0; i < made; i++)
        if (operations[i].origin == rank) is_used[operations[i].target] = 1;
    switch (epoch) {
    case FENCE:
        OK(MPI_Win_fence(asserts ? MPI_MODE_NOPRECEDE : 0, win));
        operate(epoch);
        OK(MPI_Win_fence(asserts ? MPI_MODE_NOSUCCEED : 0, win));
        break;
    case POST:
        sources = members(world, from), targets = members(world, may[rank]);
        OK(MPI_Win_post(sources, 0, win));
        OK(MPI_Win_start(targets, 0, win));
        operate(epoch);
        OK(MPI_Win_complete(win));
        while (either(2) && !flag) OK(MPI_Win_test(win, &flag));
        if (!flag) OK(MPI_Win_wait(win));
        OK(MPI_Group_free(&sources));
        OK(MPI_Group_free(&targets));
        break;
    case LOCK:
        for (int target = 0; target < size; target++)
            if (is_used[target]) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, either(4) ? 0 : MPI_MODE_NOCHECK, win));
        operate(epoch);
        for (int target = size - 1; target >= 0; target--)
            if (is_used[target]) OK(MPI_Win_unlock(target, win));
        break;
    case LOCK_ALL:
        OK(MPI_Win_lock_all(either(2) ? 0 : MPI_MODE_NOCHECK, win));
        operate(epoch);
        OK(MPI_Win_unlock_all(win));
        break;
    default: operate(epoch);
    }
    wait_for_requests(made);
    OK(MPI_Group_free(&world));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    compare(epoch);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A window of `flavor`: its memory, and where that of each rank begins. */
static void make(MPI_Info info)
{
    struct part *own = &parts[rank];
    MPI_Aint here = 0, starts[MOST_RANKS];
    memory = NULL;
    if (flavor == ALLOCATE) OK(MPI_Win_allocate(own->bytes, own->unit, info, MPI_COMM_WORLD, &memory, &win));
    else if (flavor == SHARED) OK(MPI_Win_allocate_shared(own->bytes, own->unit, info, MPI_COMM_WORLD, &memory, &win));
    else if (own->bytes && own->is_heap) OK(MPI_Alloc_mem(own->bytes, MPI_INFO_NULL, &memory));
    else if (own->bytes) memory = malloc((size_t)own->bytes);
    if (flavor == CREATE) OK(MPI_Win_create(memory, own->bytes, own->unit, info, MPI_COMM_WORLD, &win));
    if (flavor == DYNAMIC) {
        OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win));
        if (own->cut) OK(MPI_Win_attach(win, memory, own->cut));
        if (own->bytes > own->cut) OK(MPI_Win_attach(win, memory + own->cut, own->bytes - own->cut));
        if (own->bytes) OK(MPI_Get_address(memory, &here));
    }
    if (own->bytes) memcpy(memory, own->model, (size_t)own->bytes);
    OK(MPI_Allgather(&here, 1, MPI_AINT, starts, 1, MPI_AINT, MPI_COMM_WORLD));
    for (int other = 0; other < size; other++) parts[other].start = starts[other];
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

static void unmake(void)
{
    struct part *own = &parts[rank];
    if (flavor == DYNAMIC && own->bytes) {
        if (own->cut) OK(MPI_Win_detach(win, memory));
        if (own->bytes > own->cut) OK(MPI_Win_detach(win, memory + own->cut));
    }
    OK(MPI_Win_free(&win));
    if ((flavor != CREATE && flavor != DYNAMIC) || !own->bytes) return;
    if (own->is_heap) OK(MPI_Free_mem(memory));
    else free(memory);
}

static void window(void)
{
    static const int units[] = {1, 2, 4, 8, 3, 16}, most[] = {64, 64, 700, 5000, 40000, 200000};
    enum flavor flavors[] = {ALLOCATE, SHARED, CREATE, CREATE, DYNAMIC};
    int memories = below(3), is_apart = below(2);
    MPI_Info info;
    flavor = flavors[below(5)];
    if (!can_make(flavor)) flavor = ALLOCATE;
    for (int other = 0; other < size; other++) {
        struct part *part = &parts[other];
        part->bytes = below(6) ? between(1, most[below(6)]) : 0;
        part->unit = flavor == DYNAMIC ? 1 : units[below(6)];
        part->is_heap = memories == 2 ? below(2) : memories;
        part->cut = below(3) ? 0 : below(part->bytes + 1);
        part->model = malloc((size_t)part->bytes + 1);
        part->claims = malloc(sizeof(int) * (size_t)(part->bytes + 1));
        fill(part->model, part->bytes);
    }
    OK(MPI_Info_create(&info));
    if (is_apart) OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
#ifdef GRANULARITY
    OK(MPI_Info_set(info, "mpi_accumulate_granularity", GRANULARITY));
#endif
    make(info);
    OK(MPI_Info_free(&info));
    for (int i = 0; i < PHASES; i++) phase();
    unmake();
    for (int other = 0; other < size; other++) free(parts[other].model), free(parts[other].claims);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(size <= MOST_RANKS, "%d ranks are too many", size);
    if (rank == 0) seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
    OK(MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
    if (rank == 0) printf("win_random %llu\n", seed);
    fflush(stdout);
    own_dice = seed + (uint64_t)rank;
    atexit(fail_seed);
    for (turn = 0; turn < WINDOWS; turn++) {
        dice = ((seed + 1) * 0x9E3779B97F4A7C15u + (unsigned)turn * 0xBF58476D1CE4E5B9u) | 1;
        window();
    }
    return check_end();
}
