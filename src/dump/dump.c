/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The manifest comes last, so a folder that has one is whole. Until then a journal stands beside
 * the files: its first line tells model, inputs and executor from all others, and each other line
 * an output that is written, or could not be had. Files are renamed into place, so one that is
 * there is whole, and a dump that goes on reads those of the journal instead of asking again. A
 * file that is only there may be another dump's.
 */
#include "dump/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/file.h"
#include "system/lock.h"
#include "base/map.h"
#include "base/sha256.h"
#include "run/feeds.h"
#include "run/hooks.h"
#include "probe/probe.h"
#include "run/memory_budget.h"
#include "tensor/format/npy.h"
#include "model/read/load.h"
#include "model/text/model_text.h"
#include "model/write/external.h"
#include "model/read/pb.h"
#include "model/write/pb_write.h"
#include "model/write/write.h"

#define DUMP_JOURNAL ".dump_journal"
#define DUMP_WRITTEN "written "      /* what a line of it begins with; the index follows */
#define DUMP_FAILED "failed "        /* and the reason behind that */
#define DUMP_GUESS ((size_t)1 << 20) /* bytes of an output whose shape is not declared */

struct dump_run {
    struct odb_dump *dump;
    const struct odb_graph *graph;
    struct odb_prober prober;
    char *journal;  /* owned: its path */
    size_t *todo;   /* owned: rows that are to be had, ascending */
    size_t n, done; /* of them */
    int lock;       /* of the folder; -1: none */
    bool again;     /* there is a whole dump in the folder, which this one replaces */
};

/* --- what there is ---------------------------------------------------------------------------- */

int *odb_dump_outputs(const struct odb_graph *graph, size_t *n)
{
    int *list = odb_new_n(int, graph->n_values + 1);
    *n = 0;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const struct odb_node *node = &graph->nodes[i];
        for (int o = 0; !odb_node_is_constant(node) && o < node->n_out; o++)
            if (node->out[o] >= 0 && graph->values[node->out[o]].name[0])
                list[(*n)++] = node->out[o];
    }
    return list;
}

static const char *dump_name(const struct dump_run *run, const struct odb_dump_row *row)
{
    return run->graph->values[row->value].name;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool dump_is_npy(const struct odb_tensor *t)
{
    return t->kind == ODB_TENSOR && (t->dtype == ODB_STRING || odb_dtype_info(t->dtype)->descr);
}

/* The path of an output without its ending. */
static char *dump_path(const struct dump_run *run, const struct odb_dump_row *row)
{
    const struct odb_dump_options *options = &run->dump->options;
    char *name = odb_file_name(dump_name(run, row));
    char *path = options->indexed
                     ? odb_xasprintf("%s/topoidx_%05zu__%s", options->outputs, row->index, name)
                     : odb_xasprintf("%s/%s", options->outputs, name);
    free(name);
    return path;
}

/* A file of the same name and the other ending would be read as this value as well. ours: it is
 * that of an earlier dump; else it is the user's. */
static enum odb_status dump_write(const struct odb_tensor *t, const char *name, const char *stem,
                                  bool ours, struct odb_error *err)
{
    bool npy = dump_is_npy(t);
    char *path = odb_xasprintf("%s%s", stem, npy ? ".npy" : ".pb");
    char *stale = odb_xasprintf("%s%s", stem, npy ? ".pb" : ".npy");
    enum odb_status status = ODB_OK;
    if (!ours && access(stale, F_OK) == 0) {
        odb_fail(err, ODB_E_USAGE, "%s is no dump's, and would be taken for the same value", stale);
        status = odb_error_remedy(err, "move it away, or name another folder");
    } else {
        status = npy ? odb_npy_write(t, path, err) : odb_pb_write(t, name, path, err);
    }
    if (status == ODB_OK)
        unlink(stale);
    free(stale);
    free(path);
    return status;
}

/* That of an input. */
static char *dump_input_path(const struct dump_run *run, size_t i)
{
    char *name = odb_feed_file(run->graph, run->dump->feeds->items[i].value);
    char *path = odb_xasprintf("%s/%s", run->dump->options.inputs, name);
    free(name);
    return path;
}

/* No file is two tensors' in turn: outputs without an index may be one as files, and where there is
 * one folder for both, an input and an output. */
static enum odb_status dump_check_files(const struct dump_run *run, struct odb_error *err)
{
    const struct odb_dump *dump = run->dump;
    struct odb_map *taken = odb_map_new();
    size_t total = dump->feeds->n + dump->n;
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < total && status == ODB_OK; i++) {
        char *stem = i < dump->feeds->n ? dump_input_path(run, i)
                                        : dump_path(run, &dump->rows[i - dump->feeds->n]);
        if (!odb_map_add(taken, stem, i)) {
            odb_fail(err, ODB_E_USAGE, "two tensors would be one file");
            odb_error_remedy(err, "give inputs and outputs folders of their own, and outputs whose "
                                  "names differ in slashes alone one by one");
            status = odb_error_at(err, "%s", stem);
        }
        free(stem);
    }
    odb_map_free(taken);
    return status;
}

static enum odb_status dump_inputs(const struct dump_run *run, struct odb_error *err)
{
    struct odb_dump *dump = run->dump;
    for (size_t i = 0; i < dump->feeds->n; i++) {
        const struct odb_feed *feed = &dump->feeds->items[i];
        ODB_TRY(odb_tensor_info(&dump->fed[i], feed->tensor, err));
        char *stem = dump_input_path(run, i);
        enum odb_status status =
            dump_write(feed->tensor, run->graph->values[feed->value].name, stem, run->again, err);
        free(stem);
        ODB_TRY(status);
    }
    return ODB_OK;
}

/* --- the journal ------------------------------------------------------------------------------ */

static enum odb_status dump_hash_tensor(SHA256_CTX *sha, const struct odb_tensor *t,
                                        struct odb_error *err)
{
    struct odb_buf bytes = ODB_BUF_INIT;
    if (t->kind == ODB_TENSOR && t->dtype != ODB_STRING) {
        odb_buf_printf(&bytes, "%d", (int)t->dtype);
        odb_buf_add(&bytes, t->dims, (size_t)t->rank * sizeof *t->dims);
        odb_sha256_update(sha, odb_buf_text(&bytes), bytes.len);
        odb_sha256_update(sha, t->data, t->bytes);
        odb_buf_dispose(&bytes);
        return ODB_OK;
    }
    enum odb_status status = odb_pb_encode(t, "", &bytes, err);
    odb_sha256_update(sha, odb_buf_text(&bytes), bytes.len);
    odb_buf_dispose(&bytes);
    return status;
}

/* Weights in files of their own are identified by size and time: they may be many gigabytes. */
static void dump_put_files(const struct odb_model *model, struct odb_buf *out)
{
    size_t n;
    const char **files = odb_model_external_files(model, &n);
    for (size_t i = 0; i < n; i++) {
        struct stat st = {0};
        char *path = odb_xasprintf("%s/%s", model->dir, files[i]);
        stat(path, &st);
        odb_buf_printf(out, "%s %lld %lld\n", files[i], (long long)st.st_size,
                       (long long)st.st_mtime);
        free(path);
    }
    free((void *)files);
}

/* Everything that what is written depends on, in 64 digits. */
static enum odb_status dump_identify(const struct dump_run *run, char hex[65],
                                     struct odb_error *err)
{
    const struct odb_dump_options *options = &run->dump->options;
    struct odb_buf text = ODB_BUF_INIT;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    char model[65];
    SHA256_CTX sha;
    ODB_TRY(odb_model_sha256(run->dump->model, model, err));
    odb_buf_printf(&text, "dump 1\n%s\n%s\n%s\n%s\n%s\n%d\n", ODB_VERSION, model, options->spec,
                   odb_target_description(odb_pool_target(run->prober.pool)), options->model_dtype,
                   options->strategy == ODB_DUMP_EACH);
    odb_buf_puts(&text, options->identity ? options->identity : "");
    dump_put_files(run->dump->model, &text);
    SHA256Init(&sha);
    odb_sha256_update(&sha, odb_buf_text(&text), text.len);
    odb_buf_dispose(&text);
    for (size_t i = 0; i < run->dump->feeds->n; i++)
        ODB_TRY(dump_hash_tensor(&sha, run->dump->feeds->items[i].tensor, err));
    SHA256Final(digest, &sha);
    odb_hex(digest, sizeof digest, hex);
    return ODB_OK;
}

/* What is written and can be read needs not be had again. */
static void dump_take_over(struct dump_run *run, struct odb_dump_row *row)
{
    const struct odb_type *type = &run->graph->values[row->value].type;
    struct odb_tensor *t = NULL;
    char *stem = dump_path(run, row);
    char *npy = odb_xasprintf("%s.npy", stem), *pb = odb_xasprintf("%s.pb", stem);
    enum odb_status status = odb_npy_read(&t, npy, NULL);
    if (status != ODB_OK)
        status = odb_pb_read_as(&t, type, pb, NULL);
    row->done = row->kept = status == ODB_OK && odb_tensor_info(&row->info, t, NULL) == ODB_OK;
    odb_tensor_unref(t);
    free(pb);
    free(npy);
    free(stem);
}

bool odb_dump_note_read(const char *line, size_t *index, char **error)
{
    bool written = !strncmp(line, DUMP_WRITTEN, strlen(DUMP_WRITTEN));
    bool failed = !strncmp(line, DUMP_FAILED, strlen(DUMP_FAILED));
    const char *number = line + strlen(written ? DUMP_WRITTEN : DUMP_FAILED);
    char *end;
    if ((!written && !failed) || *number < '0' || *number > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(number, &end, 10);
    if (errno || value > SIZE_MAX || *end != (written ? '\n' : ' ') || !strchr(end, '\n'))
        return false; /* none, or not whole */
    *index = (size_t)value;
    *error = failed ? odb_xstrndup(end + 1, strcspn(end + 1, "\n")) : NULL;
    return true;
}

static int dump_row_order(const void *a, const void *b)
{
    const struct odb_dump_row *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

/* The rest of a journal that was begun with this dump's first line. */
static void dump_recall(struct dump_run *run, FILE *file)
{
    struct odb_dump *dump = run->dump;
    struct odb_dump_row key = {0}, *row;
    char *line = NULL, *error;
    size_t size = 0;
    while (getline(&line, &size, file) > 0) {
        if (!odb_dump_note_read(line, &key.index, &error))
            continue;
        row = bsearch(&key, dump->rows, dump->n, sizeof key, dump_row_order);
        if (row && !row->done && error) {
            row->error = error;
            row->done = row->kept = true;
            error = NULL;
        } else if (row && !row->done) {
            dump_take_over(run, row);
        }
        free(error);
    }
    free(line);
}

/* Whether a dump of the same was stopped here; what it had is taken over. */
static bool dump_goes_on(struct dump_run *run, const char *key)
{
    char line[80] = "";
    FILE *file = fopen(run->journal, "re");
    bool same =
        file && fgets(line, sizeof line, file) && !strncmp(line, key, 64) && line[64] == '\n';
    if (same)
        dump_recall(run, file);
    if (file)
        fclose(file);
    return same;
}

/* What the journal lacks is only had again, as is what has steps, which no file of one tensor
 * tells.
 */
static void dump_note(const struct dump_run *run, const struct odb_dump_row *row)
{
    FILE *file = row->n_steps ? NULL : fopen(run->journal, "ae");
    if (!file)
        return;
    if (row->error)
        fprintf(file, DUMP_FAILED "%zu %s\n", row->index, row->error);
    else
        fprintf(file, DUMP_WRITTEN "%zu\n", row->index);
    fclose(file);
}

/* A link leads to what is none of ours. */
static void dump_unlink_journal(const struct dump_run *run)
{
    struct stat st;
    if (lstat(run->journal, &st) == 0 && S_ISLNK(st.st_mode))
        unlink(run->journal);
}

static enum odb_status dump_begin(struct dump_run *run, struct odb_error *err)
{
    const struct odb_dump_options *options = &run->dump->options;
    char key[66], *info = odb_xasprintf("%s/%s", options->root, ODB_DUMP_INFO);
    enum odb_status status = dump_identify(run, key, err);
    run->journal = odb_xasprintf("%s/%s", options->root, DUMP_JOURNAL);
    if (status == ODB_OK) {
        memcpy(key + 64, "\n", 2);
        run->again = access(info, F_OK) == 0;
        dump_unlink_journal(run);
        if (!options->indexed || !dump_goes_on(run, key)) {
            status = odb_file_write(run->journal, key, 65, err);
            if (status == ODB_OK)
                unlink(info); /* it would tell of files that are going to be others */
        }
    }
    free(info);
    return status;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void dump_say(const struct dump_run *run, const struct odb_dump_row *row)
{
    const struct odb_dump_options *options = &run->dump->options;
    struct odb_buf line = ODB_BUF_INIT;
    if (!options->say)
        return;
    if (options->indexed)
        odb_buf_printf(&line, "topology index %zu, ", row->index);
    odb_buf_puts(&line, "output ");
    odb_buf_put_shown(&line, dump_name(run, row));
    if (row->error) {
        odb_buf_puts(&line, ", error: ");
        odb_buf_put_shown(&line, row->error);
    } else {
        odb_buf_printf(&line, ", shape %s, dtype %s", row->info.shape, row->info.dtype);
    }
    odb_buf_putc(&line, '\n');
    options->say(options->payload, odb_buf_text(&line), row->error != NULL);
    odb_buf_dispose(&line);
}

static void dump_row_done(struct dump_run *run, struct odb_dump_row *row)
{
    row->done = true;
    run->done++;
    dump_note(run, row);
    dump_say(run, row);
    odb_hooks_progress(&run->dump->options.hooks, "outputs",
                       run->graph->values[row->value].producer, run->done, run->n);
}

static void dump_row_failed(struct dump_run *run, struct odb_dump_row *row,
                            const struct odb_error *why)
{
    char text[2048];
    struct odb_buf shown = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, odb_error_text(why, text, sizeof text));
    row->error = odb_buf_take(&shown);
    if (!run->dump->failed++)
        run->dump->why = *why;
    dump_row_done(run, row);
}

/* A value that was had. That it cannot be written ends the dump. */
static enum odb_status dump_row_had(struct dump_run *run, struct odb_dump_row *row,
                                    const struct odb_tensor *t, struct odb_error *err)
{
    ODB_TRY(odb_tensor_info(&row->info, t, err));
    row->steps = t->n_steps ? odb_xmemdup(t->steps, t->n_steps * sizeof *t->steps) : NULL;
    row->n_steps = t->n_steps;
    row->steps_axis = t->steps_axis;
    char *stem = dump_path(run, row);
    bool ours = run->again || run->dump->options.indexed; /* no other writer has such names */
    enum odb_status status = dump_write(t, dump_name(run, row), stem, ours, err);
    free(stem);
    if (status == ODB_OK)
        dump_row_done(run, row);
    return status;
}

/* --- running ---------------------------------------------------------------------------------- */

static struct odb_dump_row *dump_todo(const struct dump_run *run, size_t i)
{
    return &run->dump->rows[run->todo[i]];
}

static enum odb_status dump_batch(struct dump_run *run, size_t first, size_t n,
                                  struct odb_error *err);

/* What a batch gave: what it lacks is asked for alone, unless it was alone. */
static enum odb_status dump_collect(struct dump_run *run, size_t first, size_t n,
                                    struct odb_tensor *const *outputs, struct odb_error *err)
{
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < n && status == ODB_OK; i++) {
        struct odb_dump_row *row = dump_todo(run, first + i);
        struct odb_error why = ODB_ERROR_INIT;
        if (outputs[i]) {
            status = dump_row_had(run, row, outputs[i], err);
        } else if (n > 1 && run->dump->options.strategy == ODB_DUMP_AUTO) {
            status = dump_batch(run, first + i, 1, err);
        } else {
            odb_fail(&why, ODB_E_EXECUTOR, "%s",
                     run->prober.recorded ? "it was not recorded" : "it cannot be read there");
            dump_row_failed(run, row, &why);
        }
    }
    return status;
}

/* Halves of what was refused, down to single outputs; where all was to be one run, all have failed.
 */
static enum odb_status dump_refused(struct dump_run *run, size_t first, size_t n,
                                    const struct odb_error *why, struct odb_error *err)
{
    if (n > 1 && run->dump->options.strategy == ODB_DUMP_AUTO) {
        ODB_TRY(dump_batch(run, first, n / 2, err));
        return dump_batch(run, first + n / 2, n - n / 2, err);
    }
    for (size_t i = 0; i < n; i++)
        dump_row_failed(run, dump_todo(run, first + i), why);
    return ODB_OK;
}

/* Had: what a probe of these rows came to. */
static enum odb_status dump_had(struct dump_run *run, size_t first, size_t n,
                                struct odb_probe *probe, enum odb_status had,
                                const struct odb_error *why, struct odb_error *err)
{
    enum odb_status status;
    run->dump->loads += probe->loads;
    if (had == ODB_CANCELLED) {
        *err = *why;
        return had;
    }
    if (had == ODB_OK)
        status = dump_collect(run, first, n, probe->outputs, err);
    else
        status = dump_refused(run, first, n, why, err);
    return status;
}

static enum odb_status dump_batch(struct dump_run *run, size_t first, size_t n,
                                  struct odb_error *err)
{
    int *values = odb_new_n(int, n);
    struct odb_error why = ODB_ERROR_INIT;
    char title[200];
    for (size_t i = 0; i < n; i++)
        values[i] = dump_todo(run, first + i)->value;
    int from = run->graph->values[values[0]].producer;
    int to = run->graph->values[values[n - 1]].producer;
    struct odb_probe probe = {
        .what = odb_probe_title(run->graph, "outputs of", from, to, title, sizeof title),
        .node = ODB_NO_NODE,
        .values = values,
        .n_values = n,
        .outputs = odb_new_n(struct odb_tensor *, n)};
    enum odb_status had = odb_probe_run(&run->prober, &probe, &why);
    enum odb_status status = dump_had(run, first, n, &probe, had, &why, err);
    odb_probe_drop(&run->prober, &probe);
    free(probe.outputs);
    free(values);
    return status;
}

/* How many rows from first on are asked for at once. */
static size_t dump_batch_size(const struct dump_run *run, size_t first)
{
    uint64_t limit = odb_memory_budget(run->dump->options.hooks.budget).values, bytes = 0;
    size_t n = 0;
    if (run->dump->options.strategy == ODB_DUMP_ALL)
        return run->n - first;
    for (; first + n < run->n; n++) {
        const struct odb_type *type = &run->graph->values[dump_todo(run, first + n)->value].type;
        size_t one = type->known && type->rank >= 0 ? odb_dtype_info(type->dtype)->bits / 8 + 1 : 0;
        for (int k = 0; k < type->rank && one; k++)
            if (type->dims[k].value < 0 || !odb_size_mul(one, (size_t)type->dims[k].value, &one))
                one = 0;
        bytes += one ? one : DUMP_GUESS;
        if (n && bytes > limit)
            break;
    }
    return n;
}

/* One output after the other, as many ahead as there are workers. */
static enum odb_status dump_each(struct dump_run *run, struct odb_error *err)
{
    struct odb_probe *probes = odb_new_n(struct odb_probe, run->n + 1);
    struct odb_tensor **outputs = odb_new_n(struct odb_tensor *, run->n + 1);
    size_t workers = odb_pool_workers(run->prober.pool);
    enum odb_status status = ODB_OK;
    for (size_t i = 0; i < run->n; i++)
        probes[i] = (struct odb_probe){.what = dump_name(run, dump_todo(run, i)),
                                       .node = ODB_NO_NODE,
                                       .values = &dump_todo(run, i)->value,
                                       .n_values = 1,
                                       .outputs = &outputs[i]};
    for (size_t i = 0; i < run->n && status == ODB_OK; i++) {
        struct odb_error why = ODB_ERROR_INIT;
        for (size_t k = i; k < run->n && k < i + workers && workers > 1; k++)
            if (!probes[k].begun)
                odb_probe_begin(&run->prober, &probes[k]);
        enum odb_status had = odb_probe_run(&run->prober, &probes[i], &why);
        status = dump_had(run, i, 1, &probes[i], had, &why, err);
        odb_probe_drop(&run->prober, &probes[i]);
    }
    for (size_t i = 0; i < run->n; i++)
        odb_probe_drop(&run->prober, &probes[i]);
    free(outputs);
    free(probes);
    return status;
}

static enum odb_status dump_all(struct dump_run *run, struct odb_error *err)
{
    for (size_t i = 0; i < run->dump->n; i++) {
        struct odb_dump_row *row = &run->dump->rows[i];
        if (!row->done) {
            run->todo[run->n++] = i;
            continue;
        }
        run->dump->kept++;
        run->dump->failed += row->error != NULL;
        dump_say(run, row);
    }
    odb_hooks_phase(&run->dump->options.hooks, "outputs", run->n);
    if (run->dump->options.strategy == ODB_DUMP_EACH)
        return dump_each(run, err);
    for (size_t first = 0, n; first < run->n; first += n) {
        n = dump_batch_size(run, first);
        ODB_TRY(dump_batch(run, first, n, err));
    }
    return ODB_OK;
}

static void dump_account(struct dump_run *run)
{
    struct odb_account account = ODB_ACCOUNT_INIT;
    if (run->dump->options.account && run->dump->failed < run->dump->n &&
        odb_probe_account(&run->prober, NULL, &account, NULL) == ODB_OK && account.text.len)
        run->dump->own = odb_buf_take(&account.text);
    odb_account_dispose(&account);
}

/* The manifest, and then nothing is left to go on with. */
static enum odb_status dump_finish(struct dump_run *run, struct odb_error *err)
{
    struct odb_buf text = ODB_BUF_INIT;
    char *path = odb_xasprintf("%s/%s", run->dump->options.root, ODB_DUMP_INFO);
    odb_dump_info_put(run->dump, &text);
    enum odb_status status = odb_file_sync(run->dump->options.root, err);
    if (status == ODB_OK)
        status = odb_file_write(path, text.data, text.len, err);
    if (status == ODB_OK)
        unlink(run->journal);
    odb_buf_dispose(&text);
    free(path);
    return status;
}

/* Two dumps into one folder would mix their files, and each believe the other's journal. */
static enum odb_status dump_folders(struct dump_run *run, struct odb_error *err)
{
    const struct odb_dump_options *options = &run->dump->options;
    ODB_TRY(odb_file_mkdir(options->root, err));
    enum odb_status status = odb_lock_folder(&run->lock, options->root, err);
    if (status != ODB_OK)
        return odb_error_remedy(err, "wait for it, or dump into another with --root-dir");
    ODB_TRY(odb_file_mkdir(options->inputs, err));
    return odb_file_mkdir(options->outputs, err);
}

static enum odb_status dump_do(struct dump_run *run, struct odb_error *err)
{
    ODB_TRY(dump_check_files(run, err));
    ODB_TRY(dump_folders(run, err));
    ODB_TRY(dump_begin(run, err));
    ODB_TRY(dump_inputs(run, err));
    ODB_TRY(dump_all(run, err));
    dump_account(run);
    return dump_finish(run, err);
}

enum odb_status odb_dump_run(struct odb_dump *out, const struct odb_model *model,
                             const struct odb_feeds *feeds, const size_t *indices, size_t n,
                             const struct odb_dump_options *options, struct odb_error *err)
{
    struct odb_pool *pool;
    size_t n_outputs;
    int *outputs = odb_dump_outputs(model->graph, &n_outputs);
    *out = (struct odb_dump){.model = model,
                             .feeds = feeds,
                             .options = *options,
                             .rows = odb_new_n(struct odb_dump_row, n + 1),
                             .n = n,
                             .fed = odb_new_n(struct odb_tensor_info, feeds->n + 1)};
    for (size_t i = 0; i < n; i++)
        out->rows[i] = (struct odb_dump_row){.value = outputs[indices[i]], .index = indices[i]};
    free(outputs);
    ODB_TRY(odb_model_require_data(model, err));
    ODB_TRY(odb_probe_pool(&pool, options->spec, &options->hooks, err));
    struct dump_run run = {
        .dump = out, .graph = model->graph, .todo = odb_new_n(size_t, n + 1), .lock = -1};
    odb_prober_init(&run.prober, model, feeds, NULL, pool, options->hooks);
    enum odb_status status = dump_do(&run, err);
    odb_prober_dispose(&run.prober);
    odb_pool_close(pool);
    if (run.lock >= 0)
        close(run.lock);
    free(run.journal);
    free(run.todo);
    return status;
}

void odb_dump_dispose(struct odb_dump *dump)
{
    for (size_t i = 0; i < dump->n; i++) {
        free(dump->rows[i].error);
        free(dump->rows[i].steps);
    }
    free(dump->rows);
    free(dump->fed);
    free(dump->own);
    *dump = (struct odb_dump){0};
}

/* --- text ------------------------------------------------------------------------------------- */

enum odb_status odb_dump_text(const struct odb_dump *dump, struct odb_buf *out,
                              struct odb_error *err)
{
    const struct odb_graph *graph = dump->model->graph;
    bool *nodes = odb_new_n(bool, graph->n_nodes + 1);
    int *list = odb_new_n(int, graph->n_values + 1);
    struct odb_port *in = odb_new_n(struct odb_port, graph->n_values + 1);
    struct odb_port *ends = odb_new_n(struct odb_port, dump->n + 1);
    struct odb_extract what = {.nodes = nodes,
                               .inputs = in,
                               .outputs = ends,
                               .n_outputs = dump->n,
                               .weights = ODB_WEIGHTS_REFERENCE};
    struct odb_buf bytes = ODB_BUF_INIT;
    struct odb_model *part = NULL;
    for (size_t i = 0; i < dump->n; i++)
        ends[i].value = list[i] = dump->rows[i].value;
    odb_graph_ancestors(graph, list, dump->n, NULL, nodes);
    what.n_inputs = odb_graph_segment_inputs(graph, nodes, list);
    for (size_t i = 0; i < what.n_inputs; i++)
        in[i].value = list[i];
    enum odb_status status = odb_model_extract(dump->model, &what, &bytes, err);
    if (status == ODB_OK)
        status = odb_model_open_bytes(&part, bytes.data, bytes.len, NULL, dump->model->base,
                                      "the submodel", err);
    if (status == ODB_OK)
        odb_model_text(part, out);
    odb_model_free(part);
    odb_buf_dispose(&bytes);
    free(ends);
    free(in);
    free(list);
    free(nodes);
    return status;
}
