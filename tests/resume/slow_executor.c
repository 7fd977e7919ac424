/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The example executor, slow enough to be killed at its work. What it does is appended to the file
 * that SLOW_LOG names: a line when it begins to run, and one when it has.
 */
#define onnxdbg_executor(none) slow_inner(none)
#include "tiny_executor.c"
#undef onnxdbg_executor

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void slow_note(const char *line)
{
    const char *path = getenv("SLOW_LOG");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0644) : -1;
    if (fd < 0 || write(fd, line, strlen(line)) < 0)
        _exit(9);
    close(fd);
}

static int slow_execute(void *self, const struct onnxdbg_run *run)
{
    const char *ms = getenv("SLOW_MS");
    slow_note("begin\n");
    usleep((useconds_t)(ms ? atoi(ms) : 10) * 1000);
    int result = tiny_execute(self, run);
    slow_note("end\n");
    return result;
}

const struct onnxdbg_executor *onnxdbg_executor(void)
{
    static struct onnxdbg_executor slow;
    slow = *slow_inner();
    slow.execute = slow_execute;
    return &slow;
}
