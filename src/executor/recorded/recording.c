/* SPDX-License-Identifier: MIT
 *
 * Names are the difficulty. A file cannot be called "/conv1/Conv_output_0", so the program that
 * wrote it put something else for the slashes. A manifest (dump_info.json) or the file itself (.pb)
 * may say the true name; where neither does, names are compared in a form in which all characters
 * that tools replace are one.
 */
#include "executor/recorded/recording.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "system/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "tensor/format/pyjson.h"
#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "model/read/pb.h"

#define RECORDING_MANIFEST "dump_info.json"
#define RECORDING_DEPTH 32 /* folders within folders */

enum recording_slot { RECORDING_NAMED, RECORDING_INPUT, RECORDING_OUTPUT };

struct recording_item {
    char *name;   /* owned */
    char *form;   /* owned: of a name that is only a file's; NULL: the name is the true one */
    char *bare;   /* owned: form of a name that was numbered, "x~2", without its number; or NULL */
    char *path;   /* owned; NULL: a member of the archive, which has the name member */
    char *member; /* owned */
    enum recording_slot slot; /* input_N.pb, output_N.pb */
    size_t number;
    size_t twin;    /* another item of the same name; ODB_RECORDING_NONE: none */
    bool taken;     /* by the manifest */
    json_t *stored; /* ref: what the manifest says of the integers that it was stored in; or NULL */
};

struct odb_recording {
    char *path;          /* owned: as it was given */
    char *full;          /* owned: the same from anywhere */
    struct odb_npz *npz; /* owned; NULL: a folder */
    ODB_VEC(struct recording_item) items;
    struct odb_map *by_name, *by_form; /* owned */
    struct odb_buf folders;            /* those with tensors in them that were not looked into */
    size_t n_folders;                  /* looked into */
};

/* --- names ------------------------------------------------------------------------------------ */

/* Letters, digits, '.' and '-' stay, every other character is '_'; those at the beginning go, for
 * a leading slash may have been left out. */
char *odb_recording_file_form(const char *name)
{
    struct odb_buf shown = ODB_BUF_INIT, form = ODB_BUF_INIT;
    odb_buf_put_shown(&shown, name);
    for (const char *p = odb_buf_text(&shown); *p; p++) {
        bool keeps = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                     (*p >= '0' && *p <= '9') || *p == '.' || *p == '-';
        if (odb_utf8_inside(*p) || (!keeps && !form.len))
            continue; /* one '_' per character */
        odb_buf_putc(&form, keeps ? *p : '_');
    }
    odb_buf_dispose(&shown);
    return form.data ? odb_buf_take(&form) : odb_xstrdup("_");
}

/* Of an item whose name is only a file's; one that was numbered had a name that another had. */
static void recording_form(struct recording_item *item)
{
    const char *number = strrchr(item->name, '~');
    item->form = odb_recording_file_form(item->name);
    if (!number || !number[1] || number[1 + strspn(number + 1, "0123456789")])
        return;
    char *bare = odb_xstrndup(item->name, (size_t)(number - item->name));
    item->bare = odb_recording_file_form(bare);
    free(bare);
}

static void recording_drop_form(struct recording_item *item)
{
    free(item->form);
    free(item->bare);
    item->form = item->bare = NULL;
}

/* "topoidx_00012__NAME": behind the index; else the whole. */
static const char *recording_stem(const char *stem)
{
    const char *p = stem;
    if (strncmp(p, "topoidx_", 8) != 0)
        return stem;
    p += 8;
    size_t digits = strspn(p, "0123456789");
    return digits && p[digits] == '_' && p[digits + 1] == '_' && p[digits + 2] ? p + digits + 2
                                                                               : stem;
}

/* "output_3": the number; false where it is none. */
static bool recording_number(const char *stem, const char *word, size_t *number)
{
    char *end;
    size_t n = strlen(word);
    if (strncmp(stem, word, n) != 0 || stem[n] < '0' || stem[n] > '9')
        return false;
    *number = strtoul(stem + n, &end, 10);
    return !*end;
}

/* --- folders ---------------------------------------------------------------------------------- */

static void recording_add_file(struct odb_recording *r, const char *prefix, const char *path,
                               const char *file)
{
    bool pb = odb_ends_with(file, ".pb");
    char *stem = odb_xstrndup(file, strlen(file) - (pb ? 3 : 4));
    struct recording_item item = {.path = odb_xstrdup(path), .twin = ODB_RECORDING_NONE};
    if (pb && recording_number(stem, "input_", &item.number))
        item.slot = RECORDING_INPUT;
    else if (pb && recording_number(stem, "output_", &item.number))
        item.slot = RECORDING_OUTPUT;
    item.name = pb ? odb_pb_name(path) : NULL;
    if (!item.name) {
        item.name = odb_xasprintf("%s%s", prefix, recording_stem(stem));
        recording_form(&item);
    }
    free(stem);
    odb_push(&r->items, item);
}

static int recording_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* "x~2" before "x~10", as they were written. */
static int recording_by_name(const struct dirent **a, const struct dirent **b)
{
    return strverscmp((*a)->d_name, (*b)->d_name);
}

/* Which folders within a folder are looked into. */
enum recording_depth { RECORDING_FLAT, RECORDING_DUMP, RECORDING_ALL, RECORDING_TREE };

static enum odb_status recording_scan(struct odb_recording *r, const char *dir, const char *prefix,
                                      enum recording_depth how, int depth, struct odb_error *err);

static enum odb_status recording_folder(struct odb_recording *r, const char *path,
                                        const char *prefix, const char *name,
                                        enum recording_depth how, int depth, struct odb_error *err)
{
    bool dump = strcmp(name, "inputs") == 0 || strcmp(name, "outputs") == 0;
    if (how == RECORDING_TREE) {
        char *below = odb_xasprintf("%s%s/", prefix, name);
        enum odb_status status = recording_scan(r, path, below, how, depth + 1, err);
        free(below);
        return status;
    }
    if (how == RECORDING_ALL || (how == RECORDING_DUMP && dump))
        return recording_scan(r, path, prefix, RECORDING_FLAT, depth + 1, err);
    odb_buf_printf(&r->folders, "%s%s", r->folders.len ? ", " : "", name);
    return ODB_OK;
}

static enum odb_status recording_scan(struct odb_recording *r, const char *dir, const char *prefix,
                                      enum recording_depth how, int depth, struct odb_error *err)
{
    struct dirent **list;
    enum odb_status status = ODB_OK;
    if (depth > RECORDING_DEPTH)
        return odb_fail(err, ODB_E_INPUT, "%s lies too deep within folders", dir);
    if (r->n_folders++ == ODB_FOLDERS_MOST) {
        odb_fail(err, ODB_E_INPUT, "more than %d folders", ODB_FOLDERS_MOST);
        return odb_error_at(err, "%s", r->path);
    }
    int n = scandir(dir, &list, recording_visible, recording_by_name);
    if (n < 0) {
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "%s", dir);
    }
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        char *path = odb_xasprintf("%s/%s", dir, name);
        struct stat st;
        bool there = status == ODB_OK && stat(path, &st) == 0;
        if (there && S_ISDIR(st.st_mode))
            status = recording_folder(r, path, prefix, name, how, depth, err);
        else if (there && (odb_ends_with(name, ".npy") || odb_ends_with(name, ".pb")))
            recording_add_file(r, prefix, path, name);
        free(path);
        free(list[i]);
    }
    free(list);
    return status;
}

/* --- the manifest ----------------------------------------------------------------------------- */

static bool recording_is_form(const struct recording_item *item, const char *form)
{
    return !strcmp(item->form, form) || (item->bare && !strcmp(item->bare, form));
}

/* What the manifest calls by this name is the first item of its file form that is not taken; NULL:
 * there is none. */
static struct recording_item *recording_name_by(struct odb_recording *r, const char *name,
                                                bool exactly)
{
    char *form = odb_recording_file_form(name), *file = odb_file_name(name);
    char *cut = odb_recording_file_form(file); /* of a name that is too long for a file */
    struct recording_item *found = NULL;
    free(file);
    for (size_t i = 0; i < r->items.n && !found; i++) {
        struct recording_item *item = &r->items.items[i];
        if (item->taken || !item->form ||
            (!recording_is_form(item, form) && strcmp(item->form, cut) != 0) ||
            (exactly && strcmp(item->name, name) != 0))
            continue;
        free(item->name);
        recording_drop_form(item);
        item->name = odb_xstrdup(name);
        item->taken = true;
        found = item;
    }
    free(cut);
    free(form);
    return found;
}

/* One list of the manifest. Files stand in the order of the list, for their names begin with an
 * index, so it distinguishes names that look alike as files. Tensors that could not be had have an
 * error and no file. */
static void recording_name_list(struct odb_recording *r, const json_t *list, const char *key)
{
    struct odb_map *named = odb_map_new(); /* the first pass's, that the second leaves alone */
    for (int pass = 0; pass < 2; pass++) {
        size_t i;
        json_t *entry;
        json_array_foreach(list, i, entry) {
            const char *name = json_string_value(json_object_get(entry, key));
            struct recording_item *item = NULL;
            if (name && !json_object_get(entry, "error") && !odb_map_has(named, name))
                item = recording_name_by(r, name, pass == 0);
            if (!item)
                continue;
            item->stored = json_incref(json_object_get(entry, "stored"));
            odb_map_add(named, name, i);
        }
    }
    odb_map_free(named);
}

static bool recording_has_manifest(const char *dir)
{
    char *path = odb_xasprintf("%s/%s", dir, RECORDING_MANIFEST);
    bool there = odb_file_is_regular(path);
    free(path);
    return there;
}

static enum odb_status recording_manifest(struct odb_recording *r, struct odb_error *err)
{
    char *path = odb_xasprintf("%s/%s", r->full, RECORDING_MANIFEST);
    json_t *root = NULL;
    enum odb_status status = odb_pyjson_load(&root, path, err);
    if (status == ODB_OK && !json_is_object(root)) {
        odb_fail(err, ODB_E_FORMAT, "line 1: no object");
        status = odb_error_at(err, "%s", path);
    }
    if (status != ODB_OK) {
        odb_error_remedy(err, "without this file, the names of the others count");
    } else {
        recording_name_list(r, json_object_get(root, "input_info"), "input_name");
        recording_name_list(r, json_object_get(root, "node_output_info"), "node_output_name");
    }
    json_decref(root);
    free(path);
    return status;
}

/* --- opening ---------------------------------------------------------------------------------- */

static enum odb_status recording_open_folder(struct odb_recording *r, bool tree,
                                             struct odb_error *err)
{
    bool manifest = recording_has_manifest(r->full);
    enum recording_depth how = manifest ? RECORDING_ALL : tree ? RECORDING_TREE : RECORDING_DUMP;
    ODB_TRY(recording_scan(r, r->full, "", how, 0, err));
    if (manifest)
        ODB_TRY(recording_manifest(r, err));
    if (r->items.n)
        return ODB_OK;
    odb_fail(err, ODB_E_INPUT, "no .npy or .pb file is in this folder");
    odb_error_at(err, "%s", r->path);
    if (r->folders.len)
        odb_error_remedy(err, "name one of those in it (%s), or add ,tree", r->folders.data);
    return ODB_E_INPUT;
}

static enum odb_status recording_open_archive(struct odb_recording *r, struct odb_error *err)
{
    ODB_TRY(odb_npz_open(&r->npz, r->full, err));
    for (size_t i = 0; i < odb_npz_count(r->npz); i++) {
        const char *name = odb_npz_name(r->npz, i);
        struct recording_item item = {
            .name = odb_xstrdup(name), .member = odb_xstrdup(name), .twin = ODB_RECORDING_NONE};
        recording_form(&item);
        odb_push(&r->items, item);
    }
    if (r->items.n)
        return ODB_OK;
    odb_fail(err, ODB_E_INPUT, "the archive holds no arrays");
    return odb_error_at(err, "%s", r->path);
}

/* Two of one name. Test data has numbers: what is fed and given out may be one value. */
static void recording_pair(struct odb_recording *r, size_t first, size_t second)
{
    struct recording_item *a = &r->items.items[first], *b = &r->items.items[second];
    if (a->slot != RECORDING_NAMED && b->slot != RECORDING_NAMED)
        return;
    a->twin = second;
    b->twin = first;
}

static void recording_index(struct odb_recording *r)
{
    r->by_name = odb_map_new();
    r->by_form = odb_map_new();
    for (size_t i = 0; i < r->items.n; i++) {
        struct recording_item *item = &r->items.items[i];
        size_t first;
        if (!odb_map_add(r->by_name, item->name, i) && odb_map_get(r->by_name, item->name, &first))
            recording_pair(r, first, i);
        if (item->form && !odb_map_add(r->by_form, item->form, i))
            odb_map_set(r->by_form, item->form, ODB_RECORDING_NONE); /* unknown which */
    }
}

enum odb_status odb_recording_open(struct odb_recording **out, const char *path, bool tree,
                                   struct odb_error *err)
{
    struct stat st;
    char *full = realpath(path, NULL); /* the process may go elsewhere */
    if (!full || stat(full, &st) != 0) {
        free(full);
        odb_fail(err, ODB_E_IO, "%s", strerror(errno));
        return odb_error_at(err, "dump:%s", path);
    }
    struct odb_recording *r = odb_new(struct odb_recording);
    *r = (struct odb_recording){.path = odb_xstrdup(path), .full = full, .folders = ODB_BUF_INIT};
    enum odb_status status =
        S_ISDIR(st.st_mode) ? recording_open_folder(r, tree, err) : recording_open_archive(r, err);
    if (status != ODB_OK) {
        odb_recording_close(r);
        return status;
    }
    recording_index(r);
    *out = r;
    return ODB_OK;
}

void odb_recording_close(struct odb_recording *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->items.n; i++) {
        struct recording_item *item = &r->items.items[i];
        free(item->name);
        recording_drop_form(item);
        free(item->path);
        free(item->member);
        json_decref(item->stored);
    }
    free(r->items.items);
    odb_map_free(r->by_name);
    odb_map_free(r->by_form);
    odb_npz_close(r->npz);
    odb_buf_dispose(&r->folders);
    free(r->path);
    free(r->full);
    free(r);
}

/* --- reading ---------------------------------------------------------------------------------- */

const char *odb_recording_path(const struct odb_recording *r)
{
    return r->full;
}

size_t odb_recording_count(const struct odb_recording *r)
{
    return r->items.n;
}

const char *odb_recording_name(const struct odb_recording *r, size_t i)
{
    return r->items.items[i].name;
}

size_t odb_recording_find(const struct odb_recording *r, const char *name)
{
    size_t i;
    return odb_map_get(r->by_name, name, &i) ? i : ODB_RECORDING_NONE;
}

size_t odb_recording_find_file(const struct odb_recording *r, const char *name)
{
    size_t i = ODB_RECORDING_NONE;
    char *form = odb_recording_file_form(name);
    odb_map_get(r->by_form, form, &i);
    free(form);
    return i;
}

size_t odb_recording_find_output(const struct odb_recording *r, size_t n)
{
    for (size_t i = 0; i < r->items.n; i++)
        if (r->items.items[i].slot == RECORDING_OUTPUT && r->items.items[i].number == n)
            return i;
    return ODB_RECORDING_NONE;
}

bool odb_recording_is_numbered(const struct odb_recording *r, size_t i)
{
    return r->items.items[i].slot != RECORDING_NAMED;
}

static const char *recording_place(const struct recording_item *item)
{
    return item->path ? item->path : item->member;
}

/* Numbers that were stored as integers have the steps that the manifest gives them. */
static enum odb_status recording_take_steps(struct odb_tensor *t, const json_t *stored,
                                            struct odb_error *err)
{
    const json_t *list = json_object_get(stored, "steps"), *axis = json_object_get(stored, "axis");
    size_t n = json_array_size(list);
    double *steps = odb_new_n(double, n + 1);
    for (size_t i = 0; i < n; i++)
        steps[i] = json_number_value(json_array_get(list, i));
    bool fit = n && odb_tensor_take_steps(t, json_integer_value(axis), steps, n);
    free(steps);
    return fit ? ODB_OK
               : odb_fail(err, ODB_E_FORMAT, RECORDING_MANIFEST " gives it steps that do not fit");
}

enum odb_status odb_recording_read(struct odb_tensor **out, struct odb_recording *r, size_t i,
                                   const struct odb_type *type, struct odb_error *err)
{
    static const struct odb_type tensor = {.known = true, .kind = ODB_TENSOR, .rank = -1};
    const struct recording_item *item = &r->items.items[i];
    if (item->twin != ODB_RECORDING_NONE) {
        odb_fail(err, ODB_E_INPUT, "'%s' was recorded twice: %s, %s", item->name,
                 recording_place(item), recording_place(&r->items.items[item->twin]));
        return odb_error_remedy(err, "take one of them away");
    }
    enum odb_status status;
    if (!item->path)
        status = odb_npz_read(out, r->npz, item->member, err);
    else if (odb_ends_with(item->path, ".pb"))
        status = odb_pb_read_as(out, type && type->known ? type : &tensor, item->path, err);
    else
        status = odb_npy_read(out, item->path, err);
    if (status == ODB_OK && item->stored) {
        status = recording_take_steps(*out, item->stored, err);
        if (status != ODB_OK) {
            odb_tensor_unref(*out);
            *out = NULL;
        }
    }
    if (status == ODB_OK || status == ODB_E_NOMEM)
        return status;
    return odb_error_remedy(err, "what has no file counts as not recorded"), status;
}
