/* SPDX-License-Identifier: MIT
 *
 * Executors that are programs in JavaScript, share/node, which Node.js runs and which answer as any
 * server: does. The library of each is a package of npm's. It is looked for here, with Node.js not
 * yet started, as Node.js itself would do it, and its folder handed over.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "executor/programs/server.h"
#include "executor/programs/share.h"
#include "system/file.h"

#define NODE_ENV "ONNXDBG_NODE_MODULES"

struct node_kind {
    const char *kind;
    const char *file;    /* in share/node */
    const char *package; /* npm's */
};

static const struct node_kind node_web = {"web", "onnxdbg_web.js", "onnxruntime-web"};
static const struct node_kind node_onnxjs = {"onnxjs", "onnxdbg_onnxjs.js", "onnxjs"};

static const struct odb_executor_option node_options_web[] = {
    ODB_RUNTIME_OPTION("the package onnxruntime-web, or the folder with its node_modules"),
    {"modules", "DIR", NULL, "the same as runtime", false},
    {"opt", "disabled|basic|extended|all", "all", "graph optimisations", false},
    {"threads", "N", "1", "threads of WebAssembly", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option node_options_onnxjs[] = {
    {"backend", "cpu|wasm", "cpu", "operators in JavaScript, or the few in WebAssembly", false},
    ODB_RUNTIME_OPTION("the package onnxjs, or the folder with its node_modules"),
    {"modules", "DIR", NULL, "the same as runtime", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_setting node_settings_web[] = {
    {"opt=disabled", "nothing is optimised", NULL, NULL},
    {"threads=1", "one thread runs", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct odb_executor_setting node_settings_onnxjs[] = {
    {"backend=cpu", "operators run in JavaScript", NULL, NULL},
    {NULL, NULL, NULL, NULL},
};

/* --- where packages are ---------------------------------------------------------------------- */

static const char *const node_usual[] = {"/usr/local/lib/node_modules", "/usr/lib/node_modules",
                                         "/usr/share/nodejs"};

/* The folder of a package in dir, if it is there. The caller frees it. */
static char *node_in(const char *dir, const char *below, const char *package)
{
    char *path = odb_xasprintf("%s%s/%s", dir, below, package);
    char *about = odb_xasprintf("%s/package.json", path);
    bool found = access(about, R_OK) == 0;
    free(about);
    if (found)
        return path;
    free(path);
    return NULL;
}

/* In a folder that was named: the package itself, a node_modules, or one that has it. */
static char *node_named(const char *dir, const char *package)
{
    char *from = odb_file_absolute(dir), *path = NULL;
    size_t n = strlen(from), tail = strlen(package);
    if (n > tail && from[n - tail - 1] == '/' && !strcmp(from + n - tail, package))
        path = node_in(from, "/..", package);
    if (!path)
        path = node_in(from, "", package);
    if (!path)
        path = node_in(from, "/node_modules", package);
    free(from);
    return path;
}

/* In node_modules here or in a folder above. */
static char *node_above(const char *package)
{
    char *dir = getcwd(NULL, 0), *path = NULL;
    for (char *slash = dir; slash && !path; *slash = '\0') {
        path = node_in(dir, "/node_modules", package);
        slash = strrchr(dir, '/');
        if (!slash)
            break;
    }
    free(dir);
    return path;
}

/* The caller frees it; NULL: it is nowhere. */
static char *node_package(const struct node_kind *kind, const struct odb_runtime *runtime)
{
    if (runtime->path)
        return node_named(runtime->path, kind->package);
    char *path = node_above(kind->package);
    for (size_t i = 0; i < ODB_COUNT(node_usual) && !path; i++)
        path = node_in(node_usual[i], "", kind->package);
    return path;
}

/* What of Node.js, our program and the package is not here; "" when nothing is missing. */
static void node_missing(const struct node_kind *kind, const struct odb_runtime *runtime, char *why,
                         size_t size)
{
    char *node = odb_file_in_path("node"), *file = odb_share_find("node", kind->file);
    char *package = node_package(kind, runtime);
    why[0] = '\0';
    if (!file)
        snprintf(why, size, "%s is not found; name the folder share in " ODB_SHARE_ENV, kind->file);
    else if (!node)
        snprintf(why, size, "there is no node in PATH; install Node.js (Debian: nodejs)");
    else if (!package)
        snprintf(why, size,
                 "no package %s is found; npm install %s in this folder, or name the folder "
                 "where that was done in runtime= or " NODE_ENV,
                 kind->package, kind->package);
    free(node);
    free(file);
    free(package);
}

/* What a package says of itself; "?": nothing. Owned by the caller. */
static char *node_version(const char *package)
{
    char *path = odb_xasprintf("%s/package.json", package);
    json_t *about = json_load_file(path, 0, NULL);
    const char *version = json_string_value(json_object_get(about, "version"));
    char *copy = odb_xstrdup(version ? version : "?");
    json_decref(about);
    free(path);
    return copy;
}

static bool node_found(const struct node_kind *kind, const struct odb_runtime *runtime, char *text,
                       size_t size)
{
    char *package = node_package(kind, runtime), *version = package ? node_version(package) : NULL;
    if (package)
        snprintf(text, size, "%s %s in %s", kind->package, version, package);
    free(version);
    free(package);
    return package != NULL;
}

/* Takes the package over; NULL: there is none. */
static void node_add_take(struct odb_libraries *out, char *package)
{
    char *path = package ? realpath(package, NULL) : NULL;
    if (path)
        odb_libraries_add_take(out, path, node_version(path));
    free(package);
}

static void node_libraries(const struct node_kind *kind, struct odb_libraries *out)
{
    node_add_take(out, node_above(kind->package));
    for (size_t i = 0; i < ODB_COUNT(node_usual); i++)
        node_add_take(out, node_in(node_usual[i], "", kind->package));
}

static char *node_file(const struct node_kind *kind, const struct odb_runtime *runtime)
{
    char *package = node_package(kind, runtime);
    char *path = package ? odb_xasprintf("%s/package.json", package) : NULL;
    free(package);
    return path;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void node_words(const struct node_kind *kind, const struct odb_runtime *runtime,
                       const struct odb_spec *spec, struct odb_argv *words)
{
    char *file = odb_share_find("node", kind->file);
    char *package = node_package(kind, runtime);
    char *word = odb_xasprintf("package=%s", package);
    odb_argv_add(words, "node");
    odb_argv_add(words, file);
    odb_argv_add(words, word);
    free(word);
    free(package);
    free(file);
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        if (odb_spec_row(NULL, option->key) || !strcmp(option->key, "runtime") ||
            !strcmp(option->key, "modules"))
            continue;
        word = odb_xasprintf("%s=%s", option->key, option->value);
        odb_argv_add(words, word);
        free(word);
    }
}

static enum odb_status node_init(const struct node_kind *kind,
                                 const struct odb_executor_option *options, void **self,
                                 const struct odb_spec *spec, struct odb_error *err)
{
    char why[512];
    double threads = 1;
    struct odb_argv words = {0};
    struct odb_runtime runtime = odb_executor_runtime(spec->row, spec);
    ODB_TRY(odb_spec_check(spec, options, err));
    ODB_TRY(odb_spec_whole(spec, "threads", 1, 1024, &threads, err));
    node_missing(kind, &runtime, why, sizeof why);
    if (why[0]) {
        char *way = strchr(why, ';');
        if (way)
            *way = '\0';
        odb_fail(err, ODB_E_EXECUTOR, "%s", why);
        return way ? odb_error_remedy(err, "%s", way + 2) : ODB_E_EXECUTOR;
    }
    node_words(kind, &runtime, spec, &words);
    return odb_server_open_take(self, &words, NULL, "no", err);
}

#define NODE_CALLS(name)                                                                           \
    static enum odb_status node_init_##name(void **self, const struct odb_spec *spec,              \
                                            struct odb_error *err)                                 \
    {                                                                                              \
        return node_init(&node_##name, node_options_##name, self, spec, err);                      \
    }                                                                                              \
    static void node_available_##name(const struct odb_runtime *runtime, char *why, size_t size)   \
    {                                                                                              \
        node_missing(&node_##name, runtime, why, size);                                            \
    }                                                                                              \
    static void node_libraries_##name(struct odb_libraries *out)                                   \
    {                                                                                              \
        node_libraries(&node_##name, out);                                                         \
    }                                                                                              \
    static char *node_file_##name(const struct odb_runtime *runtime)                               \
    {                                                                                              \
        return node_file(&node_##name, runtime);                                                   \
    }                                                                                              \
    static bool node_found_##name(const struct odb_runtime *runtime, char *text, size_t size)      \
    {                                                                                              \
        return node_found(&node_##name, runtime, text, size);                                      \
    }

NODE_CALLS(web)
NODE_CALLS(onnxjs)

/* What all rows here share; more follows in each. A stranger's file may start none of them: what
 * node_modules there is around it may be his as well. */
#define NODE_ROW(name, line)                                                                       \
    .version = ODB_EXECUTOR_VERSION, .size = sizeof(struct odb_executor_ops), .kind = #name,       \
    .options = node_options_##name, .settings = node_settings_##name, .help = line,                \
    .page = "onnxdbg-server(7)", .env = NODE_ENV, .renamed = "modules", .file = node_file_##name,  \
    .libraries = node_libraries_##name, .available = node_available_##name,                        \
    .found = node_found_##name, .init = node_init_##name, .load_model = odb_server_load,           \
    .execute = odb_server_execute, .release = odb_server_release, .cancel = odb_server_cancel,     \
    .describe = odb_server_describe, .capabilities = odb_server_capabilities,                      \
    .account = odb_server_account

const struct odb_executor_ops odb_executor_web = {
    NODE_ROW(web, "ONNX Runtime Web in Node.js, in WebAssembly"),
    .get = "npm install onnxruntime-web",
    .library = "ONNX Runtime Web",
    .plain = "opt=disabled",
    .plain_words = "optimisations",
};

const struct odb_executor_ops odb_executor_onnxjs = {
    NODE_ROW(onnxjs, "ONNX.js in Node.js: the library before ONNX Runtime Web"),
    .get = "npm install onnxjs",
    .by_value = true,
    .library = "ONNX.js",
};
