/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A shared library with the C interface of models compiled by onnx-mlir, as of the year STAND_IN:
 *
 *     2020  _dyn_entry_point_main_graph, no signatures, ranks are int
 *     2021  run_main_graph, signatures without names and for the one entry point
 *     2026  run_main_graph and run_main_graph_model, omQueryEntryPoints, signatures with names,
 *           lists copy the array that they are given
 *
 * It reads model.constants.bin when it is loaded, as libraries with their constants in a file do,
 * and has the stand-in compiler compute.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stand_in.h"

#if STAND_IN == 2020
typedef int om_int;
#else
typedef int64_t om_int;
#endif

typedef struct {
    void *data, *owned;
    int64_t *shape, *strides, rank;
    int type;
} OMTensor;

typedef struct {
    OMTensor **tensors;
    int64_t n;
    bool owns_array;
} OMTensorList;

static char *library_path, *library_lines[STAND_IN_LINES];

/* --- tensors --------------------------------------------------------------------------------- */

OMTensor *omTensorCreate(void *data, const int64_t *shape, int64_t rank, int type);
void omTensorDestroy(OMTensor *tensor);
void *omTensorGetDataPtr(const OMTensor *tensor);
const int64_t *omTensorGetStrides(const OMTensor *tensor);
om_int omTensorGetRank(const OMTensor *tensor);
int omTensorGetDataType(const OMTensor *tensor);
OMTensorList *omTensorListCreate(OMTensor **tensors, om_int n);
void omTensorListDestroy(OMTensorList *list);
om_int omTensorListGetSize(const OMTensorList *list);
OMTensor *omTensorListGetOmtByIndex(const OMTensorList *list, int64_t index);

OMTensor *omTensorCreate(void *data, const int64_t *shape, int64_t rank, int type)
{
    OMTensor *tensor = calloc(1, sizeof *tensor);
    tensor->shape = malloc((size_t)rank * sizeof(int64_t) + 1);
    tensor->strides = malloc((size_t)rank * sizeof(int64_t) + 1);
    tensor->data = data;
    tensor->rank = rank;
    tensor->type = type;
    int64_t stride = 1;
    for (int64_t d = rank - 1; d >= 0; d--) {
        tensor->shape[d] = shape[d];
        tensor->strides[d] = stride;
        stride *= shape[d];
    }
    return tensor;
}

void omTensorDestroy(OMTensor *tensor)
{
    if (!tensor)
        return;
    free(tensor->owned);
    free(tensor->shape);
    free(tensor->strides);
    free(tensor);
}

void *omTensorGetDataPtr(const OMTensor *tensor)
{
    return tensor->data;
}

#if STAND_IN == 2020
#define omTensorGetShape omTensorGetDataShape
#endif
const int64_t *omTensorGetShape(const OMTensor *tensor);
const int64_t *omTensorGetShape(const OMTensor *tensor)
{
    return tensor->shape;
}

const int64_t *omTensorGetStrides(const OMTensor *tensor)
{
    return tensor->strides;
}

om_int omTensorGetRank(const OMTensor *tensor)
{
    return (om_int)tensor->rank;
}

int omTensorGetDataType(const OMTensor *tensor)
{
    return tensor->type;
}

OMTensorList *omTensorListCreate(OMTensor **tensors, om_int n)
{
    OMTensorList *list = calloc(1, sizeof *list);
    list->tensors = tensors;
    list->n = n;
#if STAND_IN >= 2023
    list->owns_array = true;
    list->tensors = malloc((size_t)n * sizeof *tensors + 1);
    memcpy(list->tensors, tensors, (size_t)n * sizeof *tensors);
#endif
    return list;
}

void omTensorListDestroy(OMTensorList *list)
{
    for (int64_t i = 0; list && i < list->n; i++)
        omTensorDestroy(list->tensors[i]);
    if (list && list->owns_array)
        free(list->tensors);
    free(list);
}

om_int omTensorListGetSize(const OMTensorList *list)
{
    return (om_int)list->n;
}

OMTensor *omTensorListGetOmtByIndex(const OMTensorList *list, int64_t index)
{
    return list->tensors[index];
}

/* --- the model ------------------------------------------------------------------------------- */

static __attribute__((constructor)) void library_load(void)
{
    const char *dir = getenv("OM_CONSTANT_PATH");
    size_t size = 0;
    if (asprintf(&library_path, "%s/model.constants.bin", dir ? dir : ".") < 0)
        abort();
    FILE *f = fopen(library_path, "re");
    for (int i = 0; f && i < STAND_IN_LINES; i++) {
        size = 0;
        ssize_t n = getline(&library_lines[i], &size, f);
        if (n > 0)
            library_lines[i][n - 1] = '\0';
    }
    if (f)
        fclose(f);
    else
        fprintf(stderr, "Error while opening %s: %s\n", library_path, strerror(errno));
}

static __attribute__((destructor)) void library_unload(void)
{
    free(library_path);
    for (int i = 0; i < STAND_IN_LINES; i++)
        free(library_lines[i]);
}

static bool library_is(const char *habit)
{
    return library_lines[STAND_IN_HABIT] && !strcmp(library_lines[STAND_IN_HABIT], habit);
}

#if STAND_IN == 2021
const char *omInputSignature(void);
const char *omInputSignature(void)
{
    return library_lines[STAND_IN_INPUTS];
}

const char *omOutputSignature(void);
const char *omOutputSignature(void)
{
    return library_lines[STAND_IN_OUTPUTS];
}
#elif STAND_IN > 2021
static const char *const library_entries[] = {"run_main_graph", "run_main_graph_model", NULL};

const char *const *omQueryEntryPoints(int64_t *n);
const char *const *omQueryEntryPoints(int64_t *n)
{
    *n = 2;
    return library_entries;
}

static bool library_has(const char *entry)
{
    return !strcmp(entry, library_entries[0]) || !strcmp(entry, library_entries[1]);
}

const char *omInputSignature(const char *entry);
const char *omInputSignature(const char *entry)
{
    return library_has(entry) ? library_lines[STAND_IN_INPUTS] : NULL;
}

const char *omOutputSignature(const char *entry);
const char *omOutputSignature(const char *entry)
{
    return library_has(entry) ? library_lines[STAND_IN_OUTPUTS] : NULL;
}
#endif

/* --- running --------------------------------------------------------------------------------- */

static pid_t library_start(FILE **to, FILE **from)
{
    int in[2], out[2];
    pid_t pid = 0;
    char *argv[] = {library_lines[STAND_IN_COMPILER], "--run", library_path, NULL};
    posix_spawn_file_actions_t files;
    if (pipe2(in, 02000000) < 0 || pipe2(out, 02000000) < 0) /* O_CLOEXEC */
        abort();
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    if (posix_spawn(&pid, argv[0], &files, NULL, argv, environ) != 0)
        abort();
    posix_spawn_file_actions_destroy(&files);
    close(in[0]);
    close(out[1]);
    *to = fdopen(in[1], "w");
    *from = fdopen(out[0], "r");
    return pid;
}

static void library_send(const OMTensorList *list, FILE *to)
{
    static const int64_t sizes[] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 8, 16, 2, 1, 1, 1};
    int64_t n = list->n;
    fwrite(&n, sizeof n, 1, to);
    for (int64_t i = 0; i < n; i++) {
        const OMTensor *t = list->tensors[i];
        struct stand_in_head head = {t->type, t->rank, sizes[t->type]};
        for (int64_t d = 0; d < t->rank; d++)
            head.bytes *= t->shape[d];
        fwrite(&head, sizeof head, 1, to);
        fwrite(t->shape, sizeof(int64_t), (size_t)t->rank, to);
        fwrite(t->data, 1, (size_t)head.bytes, to);
    }
    fclose(to);
}

/* Puts a gap behind every element. */
static void library_spread(OMTensor *tensor, size_t bytes)
{
    size_t n = 1;
    for (int64_t d = 0; d < tensor->rank; d++) {
        n *= (size_t)tensor->shape[d];
        tensor->strides[d] *= 2;
    }
    if (n == 0)
        return;
    size_t item = bytes / n;
    char *wide = calloc(2 * n, item);
    for (size_t i = 0; i < n; i++)
        memcpy(wide + 2 * i * item, (char *)tensor->data + i * item, item);
    free(tensor->owned);
    tensor->data = tensor->owned = wide;
}

static OMTensor *library_receive(FILE *from)
{
    struct stand_in_head head;
    int64_t shape[64];
    if (fread(&head, sizeof head, 1, from) != 1 ||
        fread(shape, sizeof(int64_t), (size_t)head.rank, from) != (size_t)head.rank)
        abort();
    void *data = malloc((size_t)head.bytes + 1);
    if (fread(data, 1, (size_t)head.bytes, from) != (size_t)head.bytes)
        abort();
    OMTensor *tensor = omTensorCreate(data, shape, head.rank, (int)head.type);
    tensor->owned = data;
    if (library_is("spread"))
        library_spread(tensor, (size_t)head.bytes);
    if (library_is("type"))
        tensor->type = 20;
    return tensor;
}

static OMTensorList *library_run(OMTensorList *inputs)
{
    FILE *to, *from;
    int64_t n = -EIO;
    int how = 0;
    if (library_is("null")) {
        errno = EPERM;
        return NULL;
    }
    if (library_is("crash")) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers take it */
        raise(SIGSEGV);
    }
    pid_t pid = library_start(&to, &from);
    library_send(inputs, to);
    if (fread(&n, sizeof n, 1, from) != 1)
        n = -EIO;
    OMTensor **tensors = calloc((size_t)(n < 0 ? 0 : n) + 1, sizeof *tensors);
    for (int64_t i = 0; i < n; i++)
        tensors[i] = library_receive(from);
    fclose(from);
    waitpid(pid, &how, 0);
    if (n < 0) {
        free(tensors);
        errno = (int)-n;
        return NULL;
    }
    if (library_is("fewer"))
        omTensorDestroy(tensors[--n]);
    OMTensorList *list = omTensorListCreate(tensors, (om_int)n);
    if (list->owns_array)
        free(tensors);
    list->owns_array = true;
    return list;
}

#if STAND_IN == 2020
#define run_main_graph _dyn_entry_point_main_graph
#endif
OMTensorList *run_main_graph(OMTensorList *inputs);
OMTensorList *run_main_graph(OMTensorList *inputs)
{
    return library_run(inputs);
}

#if STAND_IN > 2021
OMTensorList *run_main_graph_model(OMTensorList *inputs);
OMTensorList *run_main_graph_model(OMTensorList *inputs)
{
    return library_run(inputs);
}
#endif
