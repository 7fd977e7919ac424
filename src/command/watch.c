/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/watch.h"

#include <string.h>

#include "engine/clock.h"

#define WATCH_QUIET 1.0 /* seconds before anything is shown: most searches are done by then */
#define WATCH_EVERY 0.1

static void watch_show(struct odb_watch *watch)
{
    size_t done = watch->done, total = watch->total;
    double now = odb_clock();
    struct odb_buf line = ODB_BUF_INIT;
    if (!watch->call->progress || now - watch->start < WATCH_QUIET ||
        now - watch->last < WATCH_EVERY)
        return;
    watch->last = now;
    watch->shown = true;
    odb_buf_put_shown(&line, watch->phase);
    if (total)
        odb_buf_printf(&line, ": %zu/%zu", done, total);
    else if (watch->probe[0])
        odb_buf_puts(&line, ": ");
    if (!total)
        odb_buf_put_shown(&line, watch->probe);
    if (total && done && done < total)
        odb_buf_printf(&line, ", %.0f s left",
                       (now - watch->phase_start) / (double)done * (double)(total - done));
    odb_buf_printf(&line, " (%.0f s)", now - watch->start);
    fprintf(watch->call->log, "\r\033[K%.*s", 78, odb_buf_text(&line));
    fflush(watch->call->log);
    odb_buf_dispose(&line);
}

static void watch_event(void *payload, const struct odb_search_event *event)
{
    struct odb_watch *watch = payload;
    if (watch->session)
        odb_store_event(watch->session, event);
    if (event->what == ODB_EVENT_PHASE) {
        snprintf(watch->phase, sizeof watch->phase, "%s", event->text ? event->text : "");
        watch->phase_start = odb_clock();
        watch->probe[0] = '\0';
    }
    if (event->what == ODB_EVENT_PROBE_BEGIN)
        snprintf(watch->probe, sizeof watch->probe, "%.40s", event->text ? event->text : "");
    if (event->what == ODB_EVENT_PHASE || event->what == ODB_EVENT_PROGRESS) {
        watch->done = event->done;
        watch->total = event->total;
    }
    watch_show(watch);
}

struct odb_search_hooks odb_watch_begin(struct odb_watch *watch, struct odb_command_call *call,
                                        struct odb_store *session)
{
    *watch = (struct odb_watch){.call = call, .session = session, .start = odb_clock()};
    odb_call__catch_interrupt(true);
    return (struct odb_search_hooks){watch_event, odb_call__interrupted, watch};
}

void odb_watch_end(struct odb_watch *watch)
{
    odb_call__catch_interrupt(false);
    if (watch->shown)
        fputs("\r\033[K", watch->call->log);
    fflush(watch->call->log);
}
