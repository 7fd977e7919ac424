/* SPDX-License-Identifier: MIT
 *
 * Shared by ort.c (life, loading, running), ort_library.c (finding and binding), ort_options.c
 * (options, sessions' settings), ort_values.c (tensors in and out), ort_account.c (what became of
 * the model) and ort_error.c (its errors).
 */
#ifndef ODB_EXECUTOR_ORT_ORT_INT_H
#define ODB_EXECUTOR_ORT_ORT_INT_H

#include <pthread.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/executor.h"
#include "executor/ort/ort_api.h"

struct ort_choice {
    const char *name;
    int value;
};

/* An execution provider that was asked for. */
struct ort_provider {
    char *name;            /* owned: as given */
    char *key;             /* owned: see ort_provider_key() */
    char **keys, **values; /* owned */
    size_t n;
};

struct ort_options {
    const struct ort_choice *opt, *mode, *arena, *mem_pattern, *deterministic;
    int threads, inter_threads;             /* inter_threads: -1: not given */
    ODB_VEC(struct ort_provider) providers; /* without the CPU, which always comes last */
    ODB_VEC(struct odb_spec_option) config; /* owned: session config entries */
    ODB_VEC(char *) libraries;              /* owned: of custom operators, absolute */
    char *profile, *optimized;              /* owned: files to write, absolute; NULL: none */
    char *share;                            /* owned: "OUTPUT=INPUT", see ort_shared(); NULL */
};

struct ort_port {
    char *name; /* owned */
    int kind;   /* enum ort_kind */
};

/* What a session said of itself while it was made. */
struct ort_telling {
    char *folder;         /* owned: has the optimised graph; NULL: that was not written */
    struct odb_buf heard; /* owned: lines that ort_log_places(), each with its NUL */
};
#define ORT_TELLING_INIT                                                                           \
    {                                                                                              \
        .heard = ODB_BUF_INIT                                                                      \
    }

struct ort {
    struct ort_api api;
    char version[32];
    int minor, interface;     /* 1.minor; the version of the table that was asked for */
    char *path;               /* owned: of the library */
    const void *const *table; /* borrowed: the library */
    struct ort_options options;
    struct ort_env *env;
    struct ort_memory_info *memory;
    struct ort_run_options *run_options;
    struct ort_allocator *allocator;   /* borrowed: the library */
    struct ort_session *session;       /* NULL: none loaded */
    struct ort_port *inputs, *outputs; /* owned; of the session */
    size_t n_inputs, n_outputs;
    /* the loaded model, for ort_account() */
    char *file;        /* owned: that is opened, and holds bytes; NULL: there is none */
    const void *bytes; /* borrowed: keep, or owned */
    size_t size;
    struct odb_storage *keep; /* ref; NULL: bytes are owned */
    struct ort_telling told;  /* owned: of the session, where it tells */
    char *profile_dir;        /* owned: where the session is being profiled; NULL: it is not */
    bool reported;            /* profile and optimised model were written, or are under way */
    /* what the thread that cancels may touch */
    pthread_mutex_t lock;
    struct ort_session_options *loading; /* borrowed: ort_create() */
    bool cancelled;
};

/* --- ort_error.c ------------------------------------------------------------------------------ */

/* What ONNX Runtime says of a call, said being NULL for success. */
enum odb_status ort_check(const struct ort *ort, struct ort_status *said, struct odb_error *err);
#define ORT_TRY(call) ODB_TRY(ort_check(ort, ort->api.call, err))
#define ORT_TRY_OUT(call) ODB_TRY_OUT(ort_check(ort, ort->api.call, err))

/* --- ort.c ------------------------------------------------------------------------------------ */

/* Where log lines that ort_log_places() go from now on, and errors do not, for what fails is tried
 * once more without; NULL: nowhere. */
void ort_listen(struct odb_buf *heard);
/* The error that was logged last, "" for none. */
void ort_last_logged(char *text, size_t size);
/* A session for the model that is held, with options that stay the caller's. */
enum odb_status ort_create(struct ort *ort, struct ort_session_options *options,
                           struct ort_session **out, struct odb_error *err);

/* --- ort_library.c ---------------------------------------------------------------------------- */

/* Finds the library, loads it and fills what struct ort says of it. */
enum odb_status ort_open_library(struct ort *ort, const struct odb_runtime *runtime,
                                 struct odb_error *err);
#define ORT_ENV "ONNXDBG_ORT" /* names the library */
/* The command that gets it, for its user alone, to where it is looked for. */
#define ORT_GET "npm install -g --prefix ~/.local --ignore-scripts onnxruntime-node"
/* See the row. */
char *ort_library_file(const struct odb_runtime *runtime);
void ort_libraries(struct odb_libraries *out);
void ort_available(const struct odb_runtime *runtime, char *why, size_t size);
bool ort_found(const struct odb_runtime *runtime, char *text, size_t size);
/* The functions of a provider that has its own; false: it has none. */
bool ort_provider_functions(const struct ort *ort, const char *key, struct ort_provider_api *out);

/* --- ort_options.c ---------------------------------------------------------------------------- */

extern const struct odb_executor_option ort_rows[];
extern const struct odb_executor_setting ort_settings[];

enum odb_status ort_read_options(struct ort_options *options, const struct odb_spec *spec,
                                 struct odb_error *err);
void ort_options_dispose(struct ort_options *options);
/* Whether that output is to be written over that input. */
bool ort_shared(const struct ort_options *options, const char *output, const char *input);
/* What a session is to be like. *out is the caller's, on failure too. */
enum odb_status ort_session_options(struct ort *ort, struct ort_session_options **out,
                                    struct odb_error *err);
/* "cuda" for "CUDA" and "CUDAExecutionProvider"; the caller's. */
char *ort_provider_key(const char *name);

/* --- ort_values.c ----------------------------------------------------------------------------- */

/* *out stays NULL for an optional that holds nothing, and may be set on failure, too. */
enum odb_status ort_value_in(struct ort *ort, const struct odb_tensor *t, struct ort_value **out,
                             struct odb_error *err);
/* A value with memory of its own, which an output may be written into. Dense, no strings. */
enum odb_status ort_value_copy(struct ort *ort, const struct odb_tensor *t, struct ort_value **out,
                               struct odb_error *err);
/* Takes value over, on failure too. */
enum odb_status ort_value_out(struct ort *ort, struct ort_value *value_take,
                              struct odb_tensor **out, struct odb_error *err);

/* --- ort_account.c ---------------------------------------------------------------------------- */

/* Whether what is logged there says where nodes are placed. */
bool ort_log_places(const char *location);
/* Makes the session of the model that is held, and has it tell. False: it cannot, or there is no
 * session of that model. */
bool ort_create_told(struct ort *ort);
void ort_telling_dispose(struct ort_telling *telling); /* idempotent */
enum odb_status ort_account(void *self, struct odb_account *account, struct odb_error *err);

/* --- ort_groups.c ----------------------------------------------------------------------------- */

struct odb_model;

/* Adds which nodes of the loaded model became which of the optimised one. */
void ort_groups(struct ort *ort, const struct odb_model *optimized, struct odb_account *account);

#endif
