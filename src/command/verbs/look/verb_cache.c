/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <time.h>

#include "command/call/call.h"
#include "command/call/call_print.h"
#include "command/table/command.h"
#include "command/table/verbs.h"
#include "executor/kept/cache.h"
#include "executor/kept/compiled.h"
#include "report/json.h"
#include "system/file.h"

#define CACHE_DAY 86400
#define CACHE_TIME 32 /* bytes of a time as text */

/* What a call is about. */
struct cache_call {
    char *folder; /* owned: of compiled models */
    char *files;  /* owned: of files that were sent; NULL: they are not asked for */
    size_t limit; /* bytes of each */
    struct odb_compiled_entries entries;
};

static void cache_dispose(struct cache_call *cache)
{
    odb_compiled_entries_dispose(&cache->entries);
    free(cache->folder);
    free(cache->files);
}

/* Of the entries those that have not been used for so many days. */
static void cache_only_older(struct odb_compiled_entries *entries, int64_t days)
{
    size_t n = 0;
    time_t last = time(NULL) - (time_t)(days * CACHE_DAY);
    for (size_t i = 0; i < entries->list.n; i++) {
        struct odb_compiled_entry *entry = &entries->list.items[i];
        if (entry->used.tv_sec <= last) {
            entries->list.items[n++] = *entry;
        } else {
            entries->bytes -= entry->bytes;
            json_decref(entry->about);
        }
    }
    entries->list.n = n;
}

static enum odb_status cache_look(struct cache_call *cache, const struct odb_command_call *call,
                                  struct odb_error *err)
{
    const char *folder = odb_call_arg(call, 0);
    int64_t days = odb_call_int(call, ODB_OPTION_OLDER, -1);
    *cache = (struct cache_call){0};
    ODB_TRY(odb_cache_limit(&cache->limit, err));
    cache->folder = folder ? odb_file_absolute(folder) : odb_compiled_home();
    if (!folder)
        cache->files = odb_cache_home("", "files");
    if (!cache->folder) {
        odb_fail(err, ODB_E_USAGE, "you have no home, so nothing is kept there");
        return odb_error_remedy(err, "name a folder, or set ONNXDBG_CACHE");
    }
    odb_compiled_list(cache->folder, &cache->entries);
    if (days >= 0)
        cache_only_older(&cache->entries, days);
    return ODB_OK;
}

/* --- what there is ---------------------------------------------------------------------------- */

/* "2026-11-24T03:59:24Z" */
static const char *cache_time(const struct timespec *used, char text[CACHE_TIME])
{
    struct tm tm;
    gmtime_r(&used->tv_sec, &tm);
    if (!strftime(text, CACHE_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm))
        memset(text, 0, CACHE_TIME);
    return text;
}

static json_t *cache_json_entry(const struct odb_compiled_entry *entry)
{
    char text[CACHE_TIME];
    json_t *json = json_pack("{s:s,s:I,s:s}", "key", entry->key, "bytes", (json_int_t)entry->bytes,
                             "used", cache_time(&entry->used, text));
    static const char *const told[] = {"by", "model", "nodes", "seconds"};
    for (size_t i = 0; i < ODB_COUNT(told); i++) {
        json_t *value = json_object_get(entry->about, told[i]);
        json_object_set_new(json, told[i], value ? json_incref(value) : json_null());
    }
    return json;
}

static json_t *cache_json(const struct cache_call *cache)
{
    uint64_t bytes = 0;
    json_t *list = json_array(), *files = NULL;
    for (size_t i = 0; i < cache->entries.list.n; i++)
        json_array_append_new(list, cache_json_entry(&cache->entries.list.items[i]));
    if (cache->files) {
        size_t n = odb_cache_count(cache->files, &bytes);
        files = json_pack("{s:o,s:I,s:I}", "folder", odb_json_text(cache->files), "count",
                          (json_int_t)n, "bytes", (json_int_t)bytes);
    }
    return json_pack("{s:I,s:{s:o,s:I,s:I,s:o},s:o}", "limit", (json_int_t)cache->limit, "compiled",
                     "folder", odb_json_text(cache->folder), "count",
                     (json_int_t)cache->entries.list.n, "bytes", (json_int_t)cache->entries.bytes,
                     "entries", list, "files", files ? files : json_null());
}

/* "compiled models: 3, 1.2 MiB of at most 20.0 GiB, in FOLDER" */
static void cache_put_sum(const struct cache_call *cache, const char *what, size_t n,
                          uint64_t bytes, const char *folder, struct odb_buf *out)
{
    odb_buf_printf(out, "%s: %zu, ", what, n);
    odb_buf_put_bytes(out, bytes);
    odb_buf_puts(out, " of at most ");
    odb_buf_put_bytes(out, cache->limit);
    odb_buf_puts(out, ", in ");
    odb_buf_put_shown(out, folder);
    odb_buf_putc(out, '\n');
}

/* A text that about.json has, which is a file: shown safely. */
static void cache_put_told(const json_t *about, const char *key, struct odb_buf *out)
{
    const char *text = json_string_value(json_object_get(about, key));
    odb_buf_put_shown(out, text && text[0] ? text : "?");
}

static void cache_put_entry(const struct odb_command_call *call,
                            const struct odb_compiled_entry *entry, struct odb_buf *out)
{
    struct odb_buf line = ODB_BUF_INIT, size = ODB_BUF_INIT;
    char text[CACHE_TIME];
    const json_t *seconds = json_object_get(entry->about, "seconds");
    long long nodes = json_integer_value(json_object_get(entry->about, "nodes"));
    odb_buf_put_bytes(&size, entry->bytes);
    odb_buf_printf(&line, "  %.16s  %10s  ", cache_time(&entry->used, text), odb_buf_text(&size));
    if (json_is_number(seconds))
        odb_buf_printf(&line, "%8.1f s  ", json_number_value(seconds));
    else
        odb_buf_printf(&line, "%10s  ", "?");
    cache_put_told(entry->about, "model", &line);
    odb_buf_printf(&line, ", %lld node%s  ", nodes, nodes == 1 ? "" : "s");
    cache_put_told(entry->about, "by", &line);
    odb_call__put_line(out, odb_buf_text(&line), call->width);
    odb_buf_dispose(&line);
    odb_buf_dispose(&size);
}

static void cache_text(const struct odb_command_call *call, const struct cache_call *cache,
                       struct odb_buf *out)
{
    uint64_t bytes = 0;
    size_t n = cache->entries.list.n;
    cache_put_sum(cache, "compiled models", n, cache->entries.bytes, cache->folder, out);
    if (n)
        odb_buf_puts(out, "  last use (UTC)          size  compiled in  model, by what\n");
    for (size_t i = 0; i < n; i++)
        cache_put_entry(call, &cache->entries.list.items[i], out);
    if (!cache->files)
        return;
    n = odb_cache_count(cache->files, &bytes);
    cache_put_sum(cache, "files sent from other machines", n, bytes, cache->files, out);
}

/* --- what goes -------------------------------------------------------------------------------- */

static void cache_clear(const struct cache_call *cache, bool json, struct odb_buf *out)
{
    size_t n = 0, stay = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < cache->entries.list.n; i++) {
        const struct odb_compiled_entry *entry = &cache->entries.list.items[i];
        bool removed = odb_compiled_remove(cache->folder, entry->key);
        n += removed;
        stay += !removed;
        bytes += removed ? entry->bytes : 0;
    }
    if (json) {
        odb_json_put(json_pack("{s:o,s:I,s:I,s:I}", "folder", odb_json_text(cache->folder),
                               "removed", (json_int_t)n, "bytes", (json_int_t)bytes, "in_use",
                               (json_int_t)stay),
                     out);
        return;
    }
    odb_buf_printf(out, "removed %zu compiled model%s, ", n, n == 1 ? "" : "s");
    odb_buf_put_bytes(out, bytes);
    odb_buf_puts(out, ", from ");
    odb_buf_put_shown(out, cache->folder);
    if (stay)
        odb_buf_printf(out, "; %zu in use or not yours to remove", stay);
    odb_buf_putc(out, '\n');
}

enum odb_status odb_command__cache(struct odb_command_call *call, struct odb_error *err)
{
    struct odb_buf out = ODB_BUF_INIT;
    struct cache_call cache;
    bool json = odb_call_has(call, ODB_OPTION_JSON);
    enum odb_status status = cache_look(&cache, call, err);
    if (status == ODB_OK && odb_call_has(call, ODB_OPTION_CLEAR))
        cache_clear(&cache, json, &out);
    else if (status == ODB_OK && json)
        odb_json_put(cache_json(&cache), &out);
    else if (status == ODB_OK)
        cache_text(call, &cache, &out);
    if (status == ODB_OK)
        odb_call__print(call, &out);
    odb_buf_dispose(&out);
    cache_dispose(&cache);
    return status;
}
