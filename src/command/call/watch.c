/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/call/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "command/call/call.h"
#include "command/call/console.h"
#include "command/table/command.h"
#include "run/hooks.h"
#include "session/session.h"
#include "system/ending.h"

#define WATCH_QUIET 1.0 /* seconds before anything is shown: most searches are done by then */
#define WATCH_EVERY 0.1
#define WATCH_DEAR 120.0 /* seconds that are said before they are spent */
#define WATCH_DEARER 1.5 /* times what was said last, to be said again */

/* A signal handler has nowhere else to write to. */
static atomic_int watch_signal; /* several threads look at it */

/* What ends a search, and what was to happen before it began. */
static struct watch_caught {
    int signal;
    struct sigaction before;
} watch_caught[] = {{.signal = SIGINT}, {.signal = SIGTERM}, {.signal = SIGHUP}};

/* The first asks for an end, the second does not wait for it. */
static void watch_on_signal(int number)
{
    atomic_store(&watch_signal, number);
    if (number != SIGINT) /* the user may press Ctrl-C again */
        odb_ending_begin(number);
    for (size_t i = 0; i < ODB_COUNT(watch_caught); i++)
        if (watch_caught[i].signal == number)
            sigaction(number, &watch_caught[i].before, NULL);
}

static void watch_catch(bool on)
{
    struct sigaction action = {.sa_handler = watch_on_signal};
    sigemptyset(&action.sa_mask);
    if (on)
        atomic_store(&watch_signal, 0);
    for (size_t i = 0; i < ODB_COUNT(watch_caught); i++) {
        struct watch_caught *one = &watch_caught[i];
        struct sigaction now;
        sigaction(one->signal, NULL, &now);
        if (on && now.sa_handler != watch_on_signal)
            one->before = now;
        if (one->before.sa_handler != SIG_IGN) /* as nohup has it */
            sigaction(one->signal, on ? &action : &one->before, NULL);
    }
}

bool odb_watch_spent(const struct odb_watch *watch)
{
    return odb_budget_spent(&watch->call->budget);
}

/* What the search has cost, what it will, and what it would come to if it ended now. */
static void watch_put_left(const struct odb_watch *watch, double now, struct odb_buf *line)
{
    double left = watch->expected - (now - watch->start);
    odb_buf_printf(line, "%d of about %zu load%s, ", (int)watch->loads,
                   ODB_MAX(watch->loads, watch->expected_loads),
                   odb_plural(ODB_MAX(watch->loads, watch->expected_loads)));
    if (left > 0) {
        odb_buf_put_duration(line, left);
        odb_buf_puts(line, " left; ");
    }
    odb_buf_printf(line, "stopping now names #%d", watch->first_left);
    if (watch->last_left != watch->first_left)
        odb_buf_printf(line, " to #%d", watch->last_left);
    odb_buf_puts(line, "; ");
}

static void watch_show(struct odb_watch *watch)
{
    size_t done = watch->done, total = watch->total;
    double now = odb_clock();
    struct odb_buf line = ODB_BUF_INIT;
    char shown[79];
    if (!watch->call->progress || now - watch->start < WATCH_QUIET ||
        now - watch->last < WATCH_EVERY)
        return;
    watch->last = now;
    watch->shown = true;
    if (watch->left)
        watch_put_left(watch, now, &line);
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
    odb_buf_printf(&line, " (%.0f s", now - watch->start);
    if (watch->expected > now - watch->start)
        odb_buf_printf(&line, " of about %.0f", watch->expected);
    odb_buf_putc(&line, ')');
    odb_text_fit(shown, sizeof shown, "%s", odb_buf_text(&line));
    fprintf(watch->call->log, "\r\033[K%s", shown);
    fflush(watch->call->log);
    odb_buf_dispose(&line);
}

/* It is asked all through a wait, in which nothing happens: the seconds go on. */
static bool watch_cancelled(void *payload)
{
    struct odb_watch *watch = payload;
    if (pthread_equal(pthread_self(), watch->thread))
        watch_show(watch);
    struct odb_console *console = watch->call->console;
    return (console ? atomic_load(&console->cancel) : atomic_load(&watch_signal) != 0) ||
           (watch->cuts && watch->call->budget.deadline > 0 &&
            odb_clock() >= watch->call->budget.deadline);
}

/* A long search says its price before, so that it can be declined. */
static void watch_price(struct odb_watch *watch, const struct odb_search_event *event)
{
    struct odb_buf line = ODB_BUF_INIT;
    watch->expected = event->seconds;
    watch->expected_loads = event->loads;
    if (watch->call->console || event->seconds < WATCH_DEAR ||
        event->seconds < watch->said * WATCH_DEARER)
        return;
    watch->said = event->seconds;
    odb_buf_printf(&line, "%s: about %zu loads of the target, ", event->text, event->loads);
    odb_buf_put_duration(&line, event->seconds);
    odb_buf_puts(&line, "; Ctrl-C, --compiles or --budget ends it with partial results\n");
    odb_watch_print(watch, watch->call->log, odb_buf_text(&line));
    odb_buf_dispose(&line);
}

static void watch_event(void *payload, const struct odb_search_event *event)
{
    struct odb_watch *watch = payload;
    bool goes = event->what == ODB_EVENT_PHASE || event->what == ODB_EVENT_PROGRESS;
    if (watch->call->session && (goes || !watch->aside))
        odb_session_event(watch->call->session, event);
    if (event->what == ODB_EVENT_PHASE) {
        odb_text_fit(watch->phase, sizeof watch->phase, "%s", event->text ? event->text : "");
        watch->phase_start = odb_clock();
        watch->probe[0] = '\0';
    }
    if (event->what == ODB_EVENT_PROBE_BEGIN)
        odb_text_fit(watch->probe, sizeof watch->probe, "%s", event->text ? event->text : "");
    if (event->what == ODB_EVENT_PROBE_END)
        watch->loads += event->loads;
    if (event->what == ODB_EVENT_FORECAST)
        watch_price(watch, event);
    if (event->what == ODB_EVENT_SUSPECTS) {
        watch->left = event->remaining;
        watch->first_left = event->node;
        watch->last_left = event->last;
    }
    if (goes) {
        watch->done = event->done;
        watch->total = event->total;
    }
    watch_show(watch);
}

struct odb_search_hooks odb_watch_begin(struct odb_watch *watch, struct odb_command_call *call)
{
    double seconds = (double)odb_call_int(call, ODB_OPTION_BUDGET, 0);
    *watch = (struct odb_watch){.call = call, .start = odb_clock(), .thread = pthread_self()};
    if (seconds > 0 && !call->budget.deadline)
        call->budget.deadline = watch->start + seconds;
    call->budget.memory = odb_call_size(call, ODB_OPTION_MEM);
    call->budget.compiles = (size_t)odb_call_int(call, ODB_OPTION_COMPILES, 0);
    call->budget.probes = (size_t)odb_call_int(call, ODB_OPTION_PROBES, 0);
    if (!call->console)
        watch_catch(true);
    return (struct odb_search_hooks){watch_event, watch_cancelled, watch, &call->budget};
}

void odb_watch_print(struct odb_watch *watch, FILE *to, const char *line)
{
    if (watch->shown) {
        fputs("\r\033[K", watch->call->log);
        fflush(watch->call->log);
        watch->shown = false;
    }
    errno = 0;
    if ((fputs(line, to) < 0 || (watch->call->progress && fflush(to) != 0)) &&
        to == watch->call->out && !watch->call->write_error)
        watch->call->write_error = errno ? errno : EIO;
}

void odb_watch_end(struct odb_watch *watch)
{
    if (!watch->call->console)
        watch_catch(false);
    if (watch->shown)
        fputs("\r\033[K", watch->call->log);
    fflush(watch->call->log);
}

static bool watch_progress_stop(void *payload, size_t done, size_t total)
{
    const struct odb_watch_progress *progress = payload;
    odb_hooks_progress(&progress->hooks, progress->phase, ODB_NO_NODE, done, total);
    return progress->hooks.cancelled(progress->hooks.payload);
}

const struct odb_progress *odb_watch_progress(struct odb_watch_progress *progress,
                                              struct odb_command_call *call, const char *phase)
{
    progress->hooks = odb_watch_begin(&progress->watch, call);
    progress->phase = phase;
    progress->progress = (struct odb_progress){watch_progress_stop, progress};
    odb_hooks_phase(&progress->hooks, phase, 0);
    return &progress->progress;
}
