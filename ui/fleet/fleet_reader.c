/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ui/fleet/fleet_reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "fleet/fleet_file.h"
#include "system/job.h"
#include "system/lock.h"
#include "ui/view/app.h"

#define READER_REST 0.5 /* seconds between two looks */
#define READER_SHARE 10 /* of the time, one part is spent reading at most */

struct ui_fleet_reader {
    char *path, *folder; /* owned */
    struct odb_job *job; /* owned */
    struct timespec changed;
    off_t size;
    double due, cost; /* on odb_clock(): the next look; of the last reading */
    bool runs, wanted;
    struct ui_fleet_known *read; /* owned: what the job makes */
    struct ui_fleet_known *old;  /* owned: what it frees first */
};

static void reader_wake(void *app)
{
    ui_app_wake(app);
}

struct ui_fleet_reader *ui_fleet_reader_new(struct ui_app *app, const char *path)
{
    struct ui_fleet_reader *reader = odb_new(struct ui_fleet_reader);
    reader->path = odb_xstrdup(path);
    reader->folder = odb_fleet_folder(path);
    reader->job = odb_job_new(reader_wake, app);
    return reader;
}

void ui_fleet_known_free(struct ui_fleet_known *known)
{
    if (!known)
        return;
    odb_causes_dispose(&known->causes);
    odb_fleet_dispose(&known->fleet);
    free(known);
}

void ui_fleet_reader_free(struct ui_fleet_reader *reader)
{
    if (!reader)
        return;
    odb_job_free(reader->job);
    ui_fleet_known_free(reader->read);
    ui_fleet_known_free(reader->old);
    free(reader->path);
    free(reader->folder);
    free(reader);
}

static void reader_read(void *arg)
{
    struct ui_fleet_reader *reader = arg;
    struct ui_fleet_known *known = odb_new(struct ui_fleet_known);
    struct odb_fleet_file *file = NULL;
    double began = odb_clock();
    ui_fleet_known_free(reader->old);
    reader->old = NULL;
    known->status = odb_fleet_file_open(&file, reader->path, false, &known->fleet, &known->err);
    odb_fleet_file_close(file);
    if (known->status != ODB_OK)
        odb_fleet_dispose(&known->fleet);
    odb_causes_find(&known->causes, &known->fleet);
    reader->cost = odb_clock() - began;
    reader->read = known;
}

static bool reader_changed(struct ui_fleet_reader *reader)
{
    struct stat st = {.st_size = -1};
    if (stat(reader->path, &st) != 0)
        st = (struct stat){.st_size = -1};
    bool same = st.st_size == reader->size && st.st_mtim.tv_sec == reader->changed.tv_sec &&
                st.st_mtim.tv_nsec == reader->changed.tv_nsec;
    reader->size = st.st_size;
    reader->changed = st.st_mtim;
    return !same;
}

void ui_fleet_reader_look(struct ui_fleet_reader *reader, bool anyway)
{
    double now = odb_clock();
    reader->wanted |= anyway;
    if (odb_job_busy(reader->job) || (now < reader->due && !anyway))
        return;
    reader->runs = odb_lock_holder(reader->folder) != 0;
    bool changed = reader_changed(reader);
    reader->due = now + READER_REST;
    if (!changed && !reader->wanted)
        return;
    reader->due = now + ODB_MAX(READER_REST, reader->cost * READER_SHARE);
    reader->wanted = !odb_job_start(reader->job, reader_read, reader);
}

struct ui_fleet_known *ui_fleet_reader_take(struct ui_fleet_reader *reader)
{
    struct ui_fleet_known *read;
    if (!odb_job_collect(reader->job))
        return NULL;
    read = reader->read;
    reader->read = NULL;
    return read;
}

bool ui_fleet_reader_runs(const struct ui_fleet_reader *reader)
{
    return reader->runs;
}

struct ui_fleet_known *ui_fleet_reader_now(struct ui_fleet_reader *reader)
{
    reader_changed(reader);
    reader_read(reader);
    struct ui_fleet_known *read = reader->read;
    reader->read = NULL;
    reader->runs = odb_lock_holder(reader->folder) != 0;
    return read;
}

void ui_fleet_reader_drop(struct ui_fleet_reader *reader, struct ui_fleet_known *known)
{
    if (reader->old || odb_job_busy(reader->job)) {
        ui_fleet_known_free(known);
        return;
    }
    reader->old = known;
}
