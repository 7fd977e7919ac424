/* SPDX-License-Identifier: MIT
 *
 * One growing block per thread and slot, freed when the thread ends.
 */
#include "kernels/core/workspace.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

#define WORKSPACE_ALIGN 64

struct workspace {
    struct {
        void *data; /* owned */
        size_t size;
    } slot[ODB_WORKSPACE_SLOTS];
};

static pthread_key_t workspace_key;
static pthread_once_t workspace_once = PTHREAD_ONCE_INIT;

static void workspace_free(void *arg)
{
    struct workspace *workspace = arg;
    for (int i = 0; i < ODB_WORKSPACE_SLOTS; i++)
        free(workspace->slot[i].data);
    free(workspace);
}

static void workspace_free_main(void)
{
    struct workspace *workspace = pthread_getspecific(workspace_key);
    if (workspace)
        workspace_free(workspace);
    pthread_setspecific(workspace_key, NULL);
}

static void workspace_init(void)
{
    pthread_key_create(&workspace_key, workspace_free);
    atexit(workspace_free_main); /* the main thread runs no key destructors */
}

void *odb_workspace(enum odb_workspace_slot slot, size_t bytes)
{
    pthread_once(&workspace_once, workspace_init);
    struct workspace *workspace = pthread_getspecific(workspace_key);
    if (!workspace) {
        workspace = odb_new(struct workspace);
        pthread_setspecific(workspace_key, workspace);
    }
    if (workspace->slot[slot].size >= bytes)
        return workspace->slot[slot].data;
    free(workspace->slot[slot].data);
    workspace->slot[slot].size = 0;
    workspace->slot[slot].data = NULL;
    size_t size;
    if (!odb_size_add(bytes, bytes / 4 + WORKSPACE_ALIGN, &size))
        return NULL;
    size -= size % WORKSPACE_ALIGN;
    workspace->slot[slot].data = aligned_alloc(WORKSPACE_ALIGN, size);
    workspace->slot[slot].size = workspace->slot[slot].data ? size : 0;
    return workspace->slot[slot].data;
}
