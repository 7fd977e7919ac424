/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What has to look at all elements: slices, searches, statistics, channels, pictures of planes. One
 * job of the view's own does one of them after the other, for which nothing waits; small tensors
 * are not worth one. What the user asked for by a command goes before what is only to be shown.
 */
#include <stdlib.h>

#include "compare/inspect/channels.h"
#include "compare/inspect/heat.h"
#include "system/job.h"
#include "tensor/tensor_print.h"
#include "ui/tensor/tensor_int.h"
#include "ui/terminal/terminal.h"
#include "ui/view/app.h"
#include "ui/view/pace.h"

#define LOOK_AT_ONCE (1 << 16) /* elements that are looked at without a job */
#define LOOK_PLANES 1024       /* planes that are told apart */

/* What a kind of look is. All but run are called on the screen's thread. */
struct look_kind {
    const char *name;
    bool asked; /* for, by a command: then an error is said at once */
    bool (*wanted)(const struct ui_tensor *v);
    void (*ask)(struct ui_tensor *v, struct ui_tensor_work *work);
    enum odb_status (*run)(struct ui_tensor_work *work, const struct odb_progress *progress,
                           struct odb_error *err);
    /* What it found becomes the view's. */
    void (*take)(struct ui_tensor *v, struct ui_tensor_work *work);
};

/* --- slices ----------------------------------------------------------------------------------- */

static bool look_slice_wanted(const struct ui_tensor *v)
{
    return v->cutting != NULL;
}

static void look_slice_ask(struct ui_tensor *v, struct ui_tensor_work *work)
{
    work->slice = v->cutting;
    v->cutting = NULL;
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(work->t[i]);
        work->t[i] = ui_tensor__with_values(v->whole[i]);
    }
}

static enum odb_status look_slice_run(struct ui_tensor_work *work,
                                      const struct odb_progress *progress, struct odb_error *err)
{
    for (int i = 0; i < 2; i++)
        if (work->t[i])
            ODB_TRY(odb_slice(&work->cut[i], work->t[i], work->slice, err));
    return ODB_OK;
}

static void look_slice_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    struct odb_tensor *t[2] = {work->cut[0], work->cut[1]};
    work->cut[0] = work->cut[1] = NULL;
    free(v->slice);
    v->slice = work->slice;
    work->slice = NULL;
    ui_tensor__take(v, t);
}

/* --- searches --------------------------------------------------------------------------------- */

static bool look_find_wanted(const struct ui_tensor *v)
{
    return v->find.direction != 0;
}

static void look_find_ask(struct ui_tensor *v, struct ui_tensor_work *work)
{
    work->find = v->find;
    work->from = v->marked;
    v->find.direction = 0;
}

/* Two sides of other shapes have no places in common: one of them is looked at. */
static enum odb_status look_find_run(struct ui_tensor_work *work,
                                     const struct odb_progress *progress, struct odb_error *err)
{
    const struct ui_tensor_find *find = &work->find;
    const struct odb_tensor *ref = work->t[0], *target = work->t[1];
    if (ref && target && !odb_tensor_same_shape(ref, target)) {
        bool second = find->seek.where == ODB_SEEK_TARGET;
        ref = second ? NULL : ref;
        target = second ? target : NULL;
    }
    ODB_TRY(odb_seek_next(&work->at, &work->where, &find->seek, ref, target, work->from,
                          find->direction, progress, err));
    if (find->counted || work->at == ODB_NOWHERE)
        return ODB_OK;
    return odb_seek_count(&work->find.total, &work->find.before, &find->seek, ref, target, work->at,
                          progress, err);
}

static void look_find_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    ui_tensor__found(v, work);
}

/* --- statistics ------------------------------------------------------------------------------- */

static bool look_stats_wanted(const struct ui_tensor *v)
{
    return !v->seen && !v->failure;
}

static enum odb_status look_stats_run(struct ui_tensor_work *work,
                                      const struct odb_progress *progress, struct odb_error *err)
{
    return odb_inspect(&work->stats, work->t[UI_REFERENCE], work->t[UI_TARGET], progress, err);
}

static void look_stats_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    v->stats = work->stats;
    v->seen = &v->stats;
    if (!v->slice)
        v->rms = v->seen->metrics.rms;
    ui_tensor__aim(v);
}

/* --- channels --------------------------------------------------------------------------------- */

static bool look_channels_wanted(const struct ui_tensor *v)
{
    const struct odb_tensor *t = v->t[0] ? v->t[0] : v->t[1];
    return !v->channels && v->axis >= 0 && t && t->kind == ODB_TENSOR && t->count &&
           v->axis < t->rank;
}

static void look_channels_ask(struct ui_tensor *v, struct ui_tensor_work *work)
{
    work->axis = v->axis;
}

static enum odb_status look_channels_run(struct ui_tensor_work *work,
                                         const struct odb_progress *progress, struct odb_error *err)
{
    return odb_channels_make(&work->channels, work->t[0], work->t[1], work->axis, progress, err);
}

static void look_channels_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    v->channels = work->channels;
    work->channels = NULL;
    ui_tensor__tell_channels(v);
    ui_tensor__sort_channels(v);
}

/* --- pictures --------------------------------------------------------------------------------- */

static bool look_heat_wanted(const struct ui_tensor *v)
{
    const struct ui_tensor_picture *a = &v->picture, *b = &v->heat_of;
    return a->rows && (!v->heat || a->first != b->first || a->rows != b->rows ||
                       a->cols != b->cols || a->h != b->h || a->w != b->w);
}

static void look_heat_ask(struct ui_tensor *v, struct ui_tensor_work *work)
{
    work->picture = v->picture;
}

static enum odb_status look_heat_run(struct ui_tensor_work *work,
                                     const struct odb_progress *progress, struct odb_error *err)
{
    const struct ui_tensor_picture *p = &work->picture;
    return odb_heat_make(&work->heat, work->t[0], work->t[1], p->first, p->rows, p->cols, p->h,
                         p->w, progress, err);
}

static void look_heat_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    odb_heat_free(v->heat);
    v->heat = work->heat;
    v->heat_of = work->picture;
    work->heat = NULL;
}

/* All planes are the rows of one. */
static bool look_planes_wanted(const struct ui_tensor *v)
{
    return v->picture.planes && !v->planes && v->t[0] && v->t[1] && v->paired;
}

static enum odb_status look_planes_run(struct ui_tensor_work *work,
                                       const struct odb_progress *progress, struct odb_error *err)
{
    const struct ui_tensor_picture *p = &work->picture;
    return odb_heat_make(&work->planes, work->t[0], work->t[1], 0, p->planes, p->rows * p->cols,
                         ODB_MIN(p->planes, LOOK_PLANES), 1, progress, err);
}

static void look_planes_take(struct ui_tensor *v, struct ui_tensor_work *work)
{
    v->planes = work->planes;
    work->planes = NULL;
}

/* In the order in which they are done. */
static const struct look_kind look_kinds[UI_LOOKS] = {
    [UI_LOOK_SLICE] = {"cutting", true, look_slice_wanted, look_slice_ask, look_slice_run,
                       look_slice_take},
    [UI_LOOK_FIND] = {"looking", true, look_find_wanted, look_find_ask, look_find_run,
                      look_find_take},
    [UI_LOOK_HEAT] = {"drawing", false, look_heat_wanted, look_heat_ask, look_heat_run,
                      look_heat_take},
    [UI_LOOK_PLANES] = {"comparing planes", false, look_planes_wanted, look_heat_ask,
                        look_planes_run, look_planes_take},
    [UI_LOOK_STATS] = {"computing", false, look_stats_wanted, NULL, look_stats_run,
                       look_stats_take},
    [UI_LOOK_CHANNELS] = {"comparing channels", false, look_channels_wanted, look_channels_ask,
                          look_channels_run, look_channels_take},
};

/* --- the job ---------------------------------------------------------------------------------- */

static void look_run(void *arg)
{
    struct ui_tensor_work *work = arg;
    const struct odb_progress progress = {ui_pace_stop, &work->pace};
    work->status = look_kinds[work->id].run(work, &progress, &work->err);
}

void ui_tensor__done(void *payload)
{
    ui_app_wake(payload);
}

/* What was found, by a look or for the view. */
static void look_drop(struct odb_channels **channels, struct odb_heat **heat,
                      struct odb_heat **planes)
{
    odb_channels_free(*channels);
    odb_heat_free(*heat);
    odb_heat_free(*planes);
    *channels = NULL;
    *heat = *planes = NULL;
}

static void look_put_away(struct ui_tensor_work *work)
{
    for (int i = 0; i < 2; i++) {
        odb_tensor_unref(work->t[i]);
        odb_tensor_unref(work->cut[i]);
        work->t[i] = work->cut[i] = NULL;
    }
    look_drop(&work->channels, &work->heat, &work->planes);
    free(work->slice);
    work->slice = NULL;
}

static void look_ended(struct ui_tensor *v)
{
    struct ui_tensor_work *work = &v->work;
    const struct look_kind *kind = &look_kinds[work->id];
    char text[1024];
    if (!atomic_load(&work->pace.stop)) {
        if (work->status == ODB_OK) {
            kind->take(v, work);
        } else if (kind->asked) {
            ui_app_say_error(v->view.app, &work->err);
        } else {
            free(v->failure);
            v->failure = odb_xstrdup(odb_error_text(&work->err, text, sizeof text));
            v->stopped |= 1u << work->id;
        }
    }
    look_put_away(work);
}

/* True: it was done at once. */
static bool look_begin(struct ui_tensor *v, enum ui_look_id id)
{
    struct ui_tensor_work *work = &v->work;
    size_t count = 0;
    work->id = id;
    work->err = (struct odb_error)ODB_ERROR_INIT;
    ui_pace_begin(&work->pace, v->view.app);
    for (int i = 0; i < 2; i++)
        work->t[i] = odb_tensor_ref(v->t[i]);
    if (look_kinds[id].ask)
        look_kinds[id].ask(v, work);
    for (int i = 0; i < 2; i++)
        if (work->t[i])
            count += work->t[i]->kind == ODB_TENSOR ? work->t[i]->count : SIZE_MAX / 2;
    if (count > LOOK_AT_ONCE && odb_job_start(v->job, look_run, work))
        return false;
    look_run(work);
    look_ended(v);
    return true;
}

/* The next one to do; UI_LOOKS: none. */
static enum ui_look_id look_next(const struct ui_tensor *v)
{
    for (int id = 0; id < UI_LOOKS; id++)
        if (!(v->stopped >> id & 1) && look_kinds[id].wanted(v))
            return (enum ui_look_id)id;
    return UI_LOOKS;
}

void ui_tensor__compute(struct ui_tensor *v)
{
    if (odb_job_collect(v->job))
        look_ended(v);
    if (!v->t[0] && !v->t[1])
        return;
    enum ui_look_id id;
    while ((id = look_next(v)) != UI_LOOKS && !odb_job_busy(v->job))
        if (!look_begin(v, id))
            return;
    /* What was asked for does not wait for what was not; that begins anew. */
    if (id != UI_LOOKS && look_kinds[id].asked && !look_kinds[v->work.id].asked)
        ui_pace_cancel(&v->work.pace);
}

void ui_tensor__forget(struct ui_tensor *v)
{
    if (v->job && odb_job_busy(v->job))
        ui_pace_cancel(&v->work.pace);
    look_drop(&v->channels, &v->heat, &v->planes);
    free(v->failure);
    free(v->order);
    free(v->told);
    v->failure = NULL;
    v->order = NULL;
    v->told = NULL;
    v->seen = NULL;
    v->stopped = 0;
    v->find.counted = false;
    v->find.direction = 0;
}

void ui_tensor__close_looks(struct ui_tensor *v)
{
    ui_pace_cancel(&v->work.pace);
    odb_job_free(v->job);
    v->job = NULL;
    look_put_away(&v->work);
    ui_tensor__forget(v);
    free(v->cutting);
    v->cutting = NULL;
}

/* --- how far it is ---------------------------------------------------------------------------- */

static bool look_is_long(const struct ui_tensor *v)
{
    return odb_job_busy(v->job) && !atomic_load(&v->work.pace.stop) &&
           ui_pace_is_long(&v->work.pace);
}

bool ui_tensor__stop(struct ui_tensor *v)
{
    bool asked = look_kinds[v->work.id].asked && odb_job_busy(v->job);
    if (!look_is_long(v) && !asked)
        return false;
    ui_pace_cancel(&v->work.pace);
    if (!asked)
        v->stopped |= 1u << v->work.id;
    ui_app_say(v->view.app, UI_STYLE_WARN, asked ? "stopped" : "stopped; redraw begins it anew");
    return true;
}

void ui_tensor__progress(const struct ui_tensor *v, enum ui_look_id id, struct odb_buf *out)
{
    const struct ui_tensor_work *work = &v->work;
    const char *dots = ui_glyph_text(UI_GLYPH_ELLIPSIS, v->view.app->terminal->unicode);
    bool now = odb_job_busy(v->job) && work->id == id;
    if (v->stopped >> id & 1) {
        odb_buf_puts(out, v->failure ? v->failure : "stopped; redraw begins it anew");
        return;
    }
    odb_buf_printf(out, "%s %s", look_kinds[id].name, dots);
    if (!now || !look_is_long(v) || !atomic_load(&work->pace.total))
        return;
    ui_pace_put(&work->pace, out);
    odb_buf_puts(out, "; Esc stops it");
}

void ui_tensor__say_progress(struct ui_tensor *v)
{
    struct odb_buf text = ODB_BUF_INIT;
    if (!look_is_long(v) || !look_kinds[v->work.id].asked)
        return;
    ui_tensor__progress(v, v->work.id, &text);
    ui_app_say(v->view.app, UI_STYLE_MESSAGE, "%s", odb_buf_text(&text));
    odb_buf_dispose(&text);
}
