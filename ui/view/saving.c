/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/view/saving.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "command/call/tensor_file.h"
#include "compare/exact.h"
#include "system/job.h"
#include "tensor/format/npy.h"
#include "tensor/format/npz.h"
#include "ui/view/app.h"
#include "ui/view/pace.h"

#define SAVING_AT_ONCE ((size_t)1 << 20) /* bytes that are written without a job */
#define SAVING_SIDES 3

static const char *const saving_names[SAVING_SIDES] = {"reference", "target", "difference"};

/* While the job is busy no other thread touches it, but for the pace. */
struct ui_saving {
    struct odb_job *job; /* owned */
    struct ui_pace pace;
    struct ui_save what; /* with refs of its own */
    char *path;          /* owned; NULL: nothing is written */
    bool all;            /* an archive of what there is */
    enum odb_status status;
    struct odb_error err;
};

/* target - reference, in doubles. */
static void saving_fill(const void *payload, size_t at, void *out, size_t n)
{
    const struct ui_saving *s = payload;
    const struct odb_tensor *e = s->what.t[UI_SAVE_TARGET], *b = s->what.t[UI_SAVE_REFERENCE];
    for (size_t i = 0, first = at / sizeof(double); i < n / sizeof(double); i++)
        odb_store_f64(ODB_F64, out, i,
                      odb_exact_minus(e->dtype, e->data, b->dtype, b->data, first + i));
}

static enum odb_status saving_image(const struct ui_saving *s, int side,
                                    struct odb_npy_image *image, struct odb_error *err)
{
    const struct odb_tensor *t = s->what.t[UI_SAVE_REFERENCE];
    if (side == UI_SAVE_DIFFERENCE)
        return odb_npy_image_make(image, ODB_F64, t->rank, t->dims, saving_fill, s, err);
    return odb_npy_image_init(image, s->what.t[side], err);
}

/* An archive of all that there is. */
static enum odb_status saving_all(const struct ui_saving *s, const struct odb_progress *progress,
                                  struct odb_error *err)
{
    struct odb_npy_image images[SAVING_SIDES] = {{0}};
    const char *names[SAVING_SIDES];
    enum odb_status status = ODB_OK;
    size_t n = 0;
    for (int side = 0; side < SAVING_SIDES && !status; side++)
        if (side == UI_SAVE_DIFFERENCE ? s->what.subtract : s->what.t[side] != NULL) {
            names[n] = saving_names[side];
            status = saving_image(s, side, &images[n++], err);
        }
    if (!status)
        status = odb_npz_write_images(s->path, names, images, n, false, progress, err);
    for (size_t i = 0; i < n; i++)
        odb_npy_image_dispose(&images[i]);
    return status;
}

/* As it is made where the form of the file lets that be, else made before. */
static enum odb_status saving_difference(const struct ui_saving *s,
                                         const struct odb_progress *progress, struct odb_error *err)
{
    struct odb_npy_image image;
    struct odb_tensor *diff;
    ODB_TRY(saving_image(s, UI_SAVE_DIFFERENCE, &image, err));
    bool npy = odb_ends_with(s->path, ".npy");
    image.head_size = npy ? image.head_size : 0;
    if (npy || odb_ends_with(s->path, ".bin")) {
        enum odb_status status = odb_npy_image_write(&image, s->path, progress, err);
        odb_npy_image_dispose(&image);
        return status;
    }
    odb_npy_image_dispose(&image);
    const struct odb_tensor *t = s->what.t[UI_SAVE_REFERENCE];
    ODB_TRY(odb_tensor_new_raw(&diff, ODB_F64, t->rank, t->dims, err));
    saving_fill(s, 0, diff->data, diff->bytes);
    enum odb_status status =
        odb_call__write_tensor(diff, saving_names[UI_SAVE_DIFFERENCE], s->path, progress, err);
    odb_tensor_unref(diff);
    return status;
}

static void saving_run(void *arg)
{
    struct ui_saving *s = arg;
    const struct odb_progress progress = {ui_pace_stop, &s->pace};
    if (s->all)
        s->status = saving_all(s, &progress, &s->err);
    else if (s->what.side == UI_SAVE_DIFFERENCE)
        s->status = saving_difference(s, &progress, &s->err);
    else
        s->status = odb_call__write_tensor(s->what.t[s->what.side], saving_names[s->what.side],
                                           s->path, &progress, &s->err);
}

static void saving_put_away(struct ui_saving *s)
{
    for (int i = 0; i < 2; i++)
        odb_tensor_unref(s->what.t[i]);
    s->what = (struct ui_save){.side = UI_SAVE_REFERENCE};
    free(s->path);
    s->path = NULL;
}

/* Says what became of it, and puts it away. */
static void saving_ended(struct ui_saving *s)
{
    struct ui_app *app = s->pace.app;
    if (s->status == ODB_OK)
        ui_app_say(app, UI_STYLE_MESSAGE, "%s: written, %s%s%s", s->path,
                   s->all ? "all sides of " : "the ", s->all ? "" : saving_names[s->what.side],
                   s->what.sliced ? s->all ? "the slice" : " of the slice"
                   : s->all       ? "it"
                                  : "");
    else if (s->status == ODB_CANCELLED)
        ui_app_say(app, UI_STYLE_WARN, "stopped; %s is not written", s->path);
    else
        ui_app_say_error(app, &s->err);
    saving_put_away(s);
}

static void saving_done(void *app)
{
    ui_app_wake(app);
}

struct ui_saving *ui_saving_new(struct ui_app *app)
{
    struct ui_saving *s = odb_new(struct ui_saving);
    s->pace.app = app;
    s->job = odb_job_new(saving_done, app);
    return s;
}

void ui_saving_free(struct ui_saving *s)
{
    if (!s)
        return;
    ui_pace_cancel(&s->pace);
    odb_job_free(s->job);
    saving_put_away(s);
    free(s);
}

enum odb_status ui_saving_begin(struct ui_saving *s, const struct ui_save *what, const char *path,
                                struct odb_error *err)
{
    size_t bytes = 0;
    if (s->path) {
        odb_fail(err, ODB_E_USAGE, "%s is still being written", s->path);
        return odb_error_remedy(err, "wait, or stop that with Esc");
    }
    s->what = *what;
    for (int i = 0; i < 2; i++)
        if (what->t[i]) {
            s->what.t[i] = odb_tensor_ref(what->t[i]);
            bytes += what->t[i]->kind == ODB_TENSOR ? what->t[i]->bytes : SAVING_AT_ONCE;
        }
    s->path = odb_xstrdup(path);
    s->all = odb_ends_with(path, ".npz");
    s->err = (struct odb_error)ODB_ERROR_INIT;
    ui_pace_begin(&s->pace, s->pace.app);
    if (bytes > SAVING_AT_ONCE && odb_job_start(s->job, saving_run, s)) {
        ui_app_say(s->pace.app, UI_STYLE_MESSAGE, "writing %s …  Esc stops it", path);
        return ODB_OK;
    }
    saving_run(s);
    saving_ended(s);
    return ODB_OK;
}

const char *ui_saving_path(const struct ui_saving *s)
{
    return s->path;
}

void ui_saving_collect(struct ui_saving *s)
{
    if (odb_job_collect(s->job))
        saving_ended(s);
}

void ui_saving_stop(struct ui_saving *s)
{
    ui_pace_cancel(&s->pace);
}

void ui_saving_put(const struct ui_saving *s, struct odb_buf *out)
{
    if (!s->path || !ui_pace_is_long(&s->pace))
        return;
    odb_buf_printf(out, "writing %s", s->path);
    ui_pace_put(&s->pace, out);
}
