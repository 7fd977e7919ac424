/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the tensor view shows, fetched from the session.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/call/console.h"
#include "compare/inspect/channels.h"
#include "model/model.h"
#include "session/session.h"
#include "tensor/tensor_print.h"
#include "ui/tensor/tensor_int.h"
#include "ui/view/app.h"

#define FETCH_LARGE (1 << 20) /* elements that are not cut while the user waits */

struct odb_tensor *ui_tensor__with_values(const struct odb_tensor *t)
{
    bool has = t && (t->kind != ODB_TENSOR || t->data || !t->count);
    return has ? odb_tensor_ref(t) : NULL;
}

enum odb_status ui_tensor__cut(const struct ui_tensor *v, const char *slice,
                               struct odb_tensor *out[2], struct odb_error *err)
{
    for (int i = 0; i < 2; i++) {
        out[i] = ui_tensor__with_values(v->whole[i]);
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

bool ui_tensor__is_large(const struct ui_tensor *v)
{
    size_t count = 0;
    for (int i = 0; i < 2; i++)
        count += v->whole[i] && v->whole[i]->kind == ODB_TENSOR ? v->whole[i]->count : 0;
    return count > FETCH_LARGE;
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
    ui_tensor__forget(v);
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
        v->aimed = false;
        v->view.left = 0;
        v->marked = ODB_NOWHERE;
    }
    if (!same || v->axis < 0)
        v->axis = odb_channels_axis(t[0] ? t[0] : t[1]);
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
    bool stale = v->stale || v->generation != odb_session_generation(session);
    v->generation = odb_session_generation(session);
    v->report = odb_session_values(session)[v->value];
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
    if (v->slice && ui_tensor__is_large(v)) {
        v->cutting = v->slice;
        v->slice = NULL;
    }
    if (ui_tensor__cut(v, v->slice, t, NULL) != ODB_OK) {
        free(v->slice);
        v->slice = NULL;
        if (ui_tensor__cut(v, NULL, t, NULL) != ODB_OK)
            return;
    }
    ui_tensor__take(v, t);
}
