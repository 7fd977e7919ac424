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
    {"modules", "DIR", NULL, "the folder with node_modules that has onnxruntime-web", false},
    {"opt", "disabled|basic|extended|all", "all", "graph optimisations", false},
    {"threads", "N", "1", "threads of WebAssembly", false},
    {NULL, NULL, NULL, NULL, false},
};

static const struct odb_executor_option node_options_onnxjs[] = {
    {"backend", "cpu|wasm", "cpu", "operators in JavaScript, or the few in WebAssembly", false},
    {"modules", "DIR", NULL, "the folder with node_modules that has onnxjs", false},
    {NULL, NULL, NULL, NULL, false},
};

/* --- where packages are ---------------------------------------------------------------------- */

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

/* In a folder that was named: itself a node_modules, or one that has it. */
static char *node_named(const char *dir, const char *package)
{
    char *from = odb_file_absolute(dir), *path = node_in(from, "", package);
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

/* modules: of the spec, NULL: it says nothing. The caller frees it; NULL: it is nowhere. */
static char *node_package(const struct node_kind *kind, const char *modules)
{
    static const char *const usual[] = {"/usr/local/lib/node_modules", "/usr/lib/node_modules",
                                        "/usr/share/nodejs"};
    const char *env = getenv(NODE_ENV);
    if (modules || (env && env[0]))
        return node_named(modules ? modules : env, kind->package);
    char *path = node_above(kind->package);
    for (size_t i = 0; i < ODB_COUNT(usual) && !path; i++)
        path = node_in(usual[i], "", kind->package);
    return path;
}

/* What of Node.js, our program and the package is not here; "" when nothing is missing. */
static void node_missing(const struct node_kind *kind, const char *modules, char *why, size_t size)
{
    char *node = odb_file_in_path("node"), *file = odb_share_find("node", kind->file);
    char *package = node_package(kind, modules);
    why[0] = '\0';
    if (!file)
        snprintf(why, size, "%s is not found; name the folder share in " ODB_SHARE_ENV, kind->file);
    else if (!node)
        snprintf(why, size, "there is no node in PATH; install Node.js (Debian: nodejs)");
    else if (!package)
        snprintf(why, size,
                 "no package %s is found; npm install %s in this folder, or name the folder "
                 "where that was done in modules= or " NODE_ENV,
                 kind->package, kind->package);
    free(node);
    free(file);
    free(package);
}

static bool node_found(const struct node_kind *kind, char *text, size_t size)
{
    char *package = node_package(kind, NULL);
    char *path = package ? odb_xasprintf("%s/package.json", package) : NULL;
    json_t *about = path ? json_load_file(path, 0, NULL) : NULL;
    const char *version = json_string_value(json_object_get(about, "version"));
    if (package)
        snprintf(text, size, "%s %s in %s", kind->package, version ? version : "?", package);
    json_decref(about);
    free(path);
    free(package);
    return package != NULL;
}

/* --- rows ------------------------------------------------------------------------------------ */

static void node_words(const struct node_kind *kind, const struct odb_spec *spec,
                       struct odb_argv *words)
{
    char *file = odb_share_find("node", kind->file);
    char *package = node_package(kind, odb_spec_option(spec, "modules"));
    char *word = odb_xasprintf("package=%s", package);
    odb_argv_add(words, "node");
    odb_argv_add(words, file);
    odb_argv_add(words, word);
    free(word);
    free(package);
    free(file);
    for (size_t i = 0; i < spec->n_options; i++) {
        const struct odb_spec_option *option = &spec->options[i];
        if (odb_spec_row(NULL, option->key) || !strcmp(option->key, "modules"))
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
    ODB_TRY(odb_spec_check(spec, options, err));
    ODB_TRY(odb_spec_whole(spec, "threads", 1, 1024, &threads, err));
    node_missing(kind, odb_spec_option(spec, "modules"), why, sizeof why);
    if (why[0]) {
        char *way = strchr(why, ';');
        if (way)
            *way = '\0';
        odb_fail(err, ODB_E_EXECUTOR, "%s", why);
        return way ? odb_error_remedy(err, "%s", way + 2) : ODB_E_EXECUTOR;
    }
    node_words(kind, spec, &words);
    return odb_server_open_take(self, &words, NULL, "no", err);
}

#define NODE_CALLS(name)                                                                           \
    static enum odb_status node_init_##name(void **self, const struct odb_spec *spec,              \
                                            struct odb_error *err)                                 \
    {                                                                                              \
        return node_init(&node_##name, node_options_##name, self, spec, err);                      \
    }                                                                                              \
    static void node_available_##name(char *why, size_t size)                                      \
    {                                                                                              \
        node_missing(&node_##name, NULL, why, size);                                               \
    }                                                                                              \
    static bool node_found_##name(char *text, size_t size)                                         \
    {                                                                                              \
        return node_found(&node_##name, text, size);                                               \
    }

NODE_CALLS(web)
NODE_CALLS(onnxjs)

/* What all rows here share; more follows in each. A stranger's file may start none of them: what
 * node_modules there is around it may be his as well. */
#define NODE_ROW(name, line)                                                                       \
    .version = ODB_EXECUTOR_VERSION, .size = sizeof(struct odb_executor_ops), .kind = #name,       \
    .options = node_options_##name, .help = line, .page = "onnxdbg-server(7)", .env = NODE_ENV,    \
    .available = node_available_##name, .found = node_found_##name, .init = node_init_##name,      \
    .load_model = odb_server_load, .execute = odb_server_execute, .release = odb_server_release,   \
    .cancel = odb_server_cancel, .describe = odb_server_describe,                                  \
    .capabilities = odb_server_capabilities, .account = odb_server_account

const struct odb_executor_ops odb_executor_web = {
    NODE_ROW(web, "ONNX Runtime Web in Node.js, in WebAssembly"),
    .library = "ONNX Runtime Web",
    .plain = "opt=disabled",
    .plain_words = "optimisations",
};

const struct odb_executor_ops odb_executor_onnxjs = {
    NODE_ROW(onnxjs, "ONNX.js in Node.js: the library before ONNX Runtime Web"),
    .by_value = true,
    .library = "ONNX.js",
};
