/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tensor view shows, fetched from the session, and what has to look at all of it: that is
 * computed by a job of the view's own, for which nothing waits; small tensors are not worth one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/print.h"
#include "ui/app.h"
#include "ui/tensor_int.h"

#define TENSOR_AT_ONCE (1 << 16) /* elements that are computed at once */

/* --- computing -------------------------------------------------------------------------------- */

void ui_tensor__done(void *payload)
{
    ui_app_wake(payload);
}

static bool fetch_cancelled(void *payload, size_t done, size_t total)
{
    return atomic_load((atomic_bool *)payload);
}

static void fetch_work(void *arg)
{
    struct ui_tensor_work *work = arg;
    work->status = odb_inspect(&work->result, work->t[UI_REFERENCE], work->t[UI_TARGET],
                               &(struct odb_scan){fetch_cancelled, &work->cancel}, &work->err);
}

static void fetch_worked(struct ui_tensor *v)
{
    struct ui_tensor_work *work = &v->work;
    char text[1024];
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(work->t[i]);
        work->t[i] = NULL;
    }
    if (atomic_load(&work->cancel))
        return;
    if (work->status == ODB_OK)
        v->seen = &work->result;
    else
        v->failure = odb_xstrdup(odb_error_text(&work->err, text, sizeof text));
    if (v->seen && !v->slice)
        v->rms = v->seen->metrics.rms;
}

void ui_tensor__compute(struct ui_tensor *v)
{
    struct ui_tensor_work *work = &v->work;
    if (odb_job_collect(v->job))
        fetch_worked(v);
    if (v->seen || v->failure || odb_job_busy(v->job) || (!v->t[0] && !v->t[1]))
        return;
    size_t count = 0;
    for (int i = 0; i < 2; i++) {
        work->t[i] = odb_tensor_ref(v->t[i]);
        if (v->t[i])
            count += v->t[i]->kind == ODB_TENSOR ? v->t[i]->count : SIZE_MAX / 2;
    }
    work->err = (struct odb_error)ODB_ERROR_INIT;
    atomic_store(&work->cancel, false);
    if (count > TENSOR_AT_ONCE && odb_job_start(v->job, fetch_work, work))
        return;
    fetch_work(work);
    fetch_worked(v);
}

/* --- what is shown ---------------------------------------------------------------------------- */

/* As a new reference, or NULL when its values are not here. */
static struct odb_tensor *fetch_with_values(const struct odb_tensor *t)
{
    bool has = t && (t->kind != ODB_TENSOR || t->data || !t->count);
    return has ? odb_tensor_ref(t) : NULL;
}

enum odb_status ui_tensor__cut(const struct ui_tensor *v, const char *slice,
                               struct odb_tensor *out[2], struct odb_error *err)
{
    for (int i = 0; i < 2; i++) {
        out[i] = fetch_with_values(v->whole[i]);
        if (!out[i] || !slice)
            continue;
        struct odb_tensor *whole = out[i];
        out[i] = NULL;
        enum odb_status status = odb_slice(&out[i], whole, slice, err);
        odb_tensor_unref(whole);
        if (status != ODB_OK) {
            odb_tensor_unref(out[0]);
            return status;
        }
    }
    return ODB_OK;
}

void ui_tensor__clear_text(struct ui_tensor_text *text)
{
    for (size_t i = 0; i < text->lines.n; i++)
        free(text->lines.items[i]);
    free(text->lines.items);
    *text = (struct ui_tensor_text){{0}};
}

/* Sequences and their like are shown as they are printed. */
void ui_tensor__print(struct ui_tensor *v)
{
    for (int i = 0; i < 2; i++) {
        struct odb_buf out = ODB_BUF_INIT;
        bool wanted = v->mode >= UI_DIFFERENCE || v->mode == i || !v->t[!i];
        ui_tensor__clear_text(&v->texts[i]);
        if (!wanted || !v->t[i] || v->t[i]->kind == ODB_TENSOR)
            continue;
        odb_print_tensor(&out, v->t[i], NULL);
        for (const char *p = odb_buf_text(&out), *end; *p; p = end + (*end == '\n')) {
            end = p + strcspn(p, "\n");
            odb_push(&v->texts[i].lines, odb_xstrndup(p, (size_t)(end - p)));
        }
        odb_buf_dispose(&out);
    }
}

/* Takes over what is to be shown. Where one looks stays, unless the shape is another. */
void ui_tensor__take(struct ui_tensor *v, struct odb_tensor *t[2])
{
    bool same = true;
    atomic_store(&v->work.cancel, true);
    v->seen = NULL;
    free(v->failure);
    v->failure = NULL;
    for (int i = 0; i < 2; i++) {
        same &= !v->t[i] || (t[i] && odb_tensor_same_shape(v->t[i], t[i]));
        odb_tensor_unref(v->t[i]);
        v->t[i] = t[i];
    }
    v->paired = t[0] && t[1] && t[0]->kind == ODB_TENSOR && t[1]->kind == ODB_TENSOR &&
                odb_tensor_same_shape(t[0], t[1]);
    for (int i = 0; i < 2; i++) {
        size_t plane = v->grids[i].at.plane;
        v->grids[i] = (struct ui_tensor_grid){.n_sides = 0};
        if (t[i])
            odb_grid_init(&v->grids[i].at, t[i]);
        if (same && plane < v->grids[i].at.planes)
            v->grids[i].at.plane = plane;
    }
    if (!same) {
        v->view.left = 0;
        v->marked = ODB_NOWHERE;
    }
    ui_tensor__print(v);
}

/* Reads what the session has for the value now. */
void ui_tensor__fetch(struct ui_tensor *v)
{
    const struct odb_session *session = v->view.app->session;
    struct odb_tensor *whole[2], *t[2];
    if (v->value == ODB_NO_VALUE)
        return;
    if (odb_criterion_parse(&v->tolerance, odb_console_tolerance(v->view.app->console), NULL))
        v->tolerance = ODB_CRITERION_DEFAULT;
    odb_session_lock(session);
    bool stale = v->stale || v->generation != session->generation;
    v->generation = session->generation;
    v->report = session->values[v->value];
    odb_session_unlock(session);
    if (!stale)
        return;
    whole[0] = odb_session_reference(session, v->value);
    whole[1] = odb_session_target(session, v->value);
    bool same = !v->stale && whole[0] == v->whole[0] && whole[1] == v->whole[1];
    v->stale = false;
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(v->whole[i]);
        v->whole[i] = whole[i];
    }
    if (same)
        return;
    v->rms = NAN;
    if (ui_tensor__cut(v, v->slice, t, NULL) != ODB_OK) {
        free(v->slice);
        v->slice = NULL;
        if (ui_tensor__cut(v, NULL, t, NULL) != ODB_OK)
            return;
    }
    ui_tensor__take(v, t);
}
