/* SPDX-License-Identifier: MIT */
#include "base/host.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

static void host_processor(struct odb_buf *out)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        colon[strcspn(colon, "\n")] = '\0';
        odb_buf_printf(out, ",%s", colon + 1);
        break;
    }
    if (file)
        fclose(file);
}

void odb_host_put(struct odb_buf *out)
{
    struct utsname host;
    uname(&host);
    odb_buf_printf(out, "%s %s %s", host.sysname, host.release, host.machine);
    host_processor(out);
}
