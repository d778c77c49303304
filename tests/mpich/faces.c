/* Two extensions, one for each ABI, in one process on one engine. Its arguments are both; each is loaded in a local scope, so neither sees
 * the other's library. They are used in turns, and the callbacks of each call the other: what one has left under way
 * goes on in calls of the other. Two ranks or more. */
#include "face.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static const struct face *faces[2];

static const struct face *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *face = library ? dlsym(library, "face") : NULL;
    if (!face) {
        fprintf(stderr, "%s: %s\n", path, dlerror());
        exit(1);
    }
    return face;
}

static void poke_first(void)
{
    faces[0]->poke();
}

static void poke_second(void)
{
    faces[1]->poke();
}

int main(int argc, char **argv)
{
    int alone;
    if (argc != 3) return 2;
    for (int i = 0; i < 2; i++) faces[i] = load(argv[i + 1]);
    faces[0]->begin(poke_second);
    faces[1]->begin(poke_first);
    for (int i = 0; i < 2; i++) faces[i]->make();
    /* What each has left goes on while only the other one is called. */
    for (int i = 0; i < 2; i++) {
        faces[i]->leave();
        for (int tries = 0; tries < 100; tries++) faces[1 - i]->meet();
        alone = faces[i]->run();
        if (alone != 2) {
            fprintf(stderr, "%s: %d of 2 callbacks ran in calls of the other face\n", argv[i + 1], alone);
            return 1;
        }
        faces[i]->fetch();
    }
    for (int i = 0; i < 2; i++) faces[i]->fire();
    /* The first one ends while the second one goes on. */
    faces[0]->end();
    faces[1]->meet();
    faces[1]->end();
    printf("each saw its own\n");
    return 0;
}
