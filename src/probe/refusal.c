/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/refusal.h"

#include <string.h>

#include "base/mem.h"
#include "executor/transport/target.h"

/* What a target says where the machine lacks something. */
static const char *const refusal_local[] = {
    "No space left on device",
    "no CUDA-capable device",
    "CUDA driver version is insufficient",
    "no kernel image is available",
    "cannot open shared object file",
    "Failed to load shared library",
    "WebGPU adapter",
};

/* What command: says of such a program. */
static const char refusal_blind[] = "had looked at no file of the run";

bool odb_refusal_is_blind(enum odb_status status, const struct odb_error *err)
{
    return odb_probe_refused(status) && err && strstr(err->what, refusal_blind);
}

bool odb_refusal_is_local(enum odb_status status, const struct odb_error *err)
{
    if (status == ODB_E_NOMEM || status == ODB_E_IO)
        return true;
    if (!odb_probe_refused(status) || !err)
        return false;
    if (odb_refusal_is_blind(status, err))
        return true;
    for (size_t i = 0; i < ODB_COUNT(refusal_local); i++)
        if (strcasestr(err->what, refusal_local[i]))
            return true;
    return odb_target_speaks_of_memory(err->what);
}

bool odb_refusal_may_be_fault(enum odb_status status, const struct odb_error *err)
{
    return odb_probe_refused(status) && !odb_refusal_is_local(status, err);
}

enum odb_status odb_refusal_remedy(enum odb_status status, struct odb_error *err)
{
    if (odb_refusal_may_be_fault(status, err) && err && !err->remedy[0])
        odb_error_remedy(err,
                         "`onnxdbg bisect` finds what it refuses, and whether it runs that with "
                         "other options");
    return status;
}

bool odb_probe_refused(enum odb_status status)
{
    return status == ODB_E_EXECUTOR || status == ODB_UNSUPPORTED;
}
