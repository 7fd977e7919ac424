/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "explain/measure/in_double.h"

#include <string.h>

#include "base/mem.h"
#include "compare/lanes.h"
#include "system/parallel.h"

enum { IN_DOUBLE_PART = 1 << 14, IN_DOUBLE_BLOCK = 512 };

struct in_double {
    const struct odb_tensor *v;
    const odb_f64 *y;
    in_double_fn *add;
    size_t bytes;
    char *sums;
};

static void in_double_part(void *arg, size_t begin, size_t end)
{
    const struct in_double *job = arg;
    const size_t bits = odb_dtype_info(job->v->dtype)->bits;
    void *sum = job->sums + begin / IN_DOUBLE_PART * job->bytes;
    double y[IN_DOUBLE_BLOCK] __attribute__((aligned(32)));
    double v[IN_DOUBLE_BLOCK] __attribute__((aligned(32)));
    for (size_t i = begin, n; i < end; i += n) {
        const char *from = (const char *)job->v->data + i * bits / 8;
        n = ODB_MIN(end - i, (size_t)IN_DOUBLE_BLOCK);
        odb_convert(ODB_F64, v, job->v->dtype, from, n);
        memcpy(y, job->y + i, n * sizeof *y);
        for (size_t k = n; k % ODB_LANES; k++)
            y[k] = v[k] = 0;
        job->add(sum, y, v, n);
    }
}

size_t in_double(const struct odb_tensor *v, const odb_f64 *y, in_double_fn *add, size_t bytes,
                 void **sums)
{
    size_t parts = (v->count + IN_DOUBLE_PART - 1) / IN_DOUBLE_PART;
    struct in_double job = {v, y, add, bytes, odb_xcalloc(parts + 1, bytes)};
    odb_parallel_for(v->count, IN_DOUBLE_PART, in_double_part, &job);
    *sums = job.sums;
    return parts;
}
