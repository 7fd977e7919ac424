/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model that is run: the reference computes in the debugger's own process, so no shape, attribute
 * or index of a stranger may lead a kernel outside of its tensors. The work that nodes are is
 * counted, too.
 */
#include "fuzz.h"

#include "analysis/cost.h"
#include "model/model.h"
#include "model/read/load.h"

static void reference_cost(const struct odb_model *model)
{
    struct odb_shapes shapes = {0};
    struct odb_cost_sum sum;
    struct odb_cost *nodes = NULL;
    odb_shapes_declared(&shapes, model);
    odb_cost_model(&nodes, &sum, model, &shapes);
    free(nodes);
    odb_shapes_dispose(&shapes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct odb_error err = ODB_ERROR_INIT;
    struct odb_model *model;
    if (odb_model_open_bytes(&model, data, size, NULL, "/nowhere", "model", &err) != ODB_OK)
        return 0;
    reference_cost(model);
    fuzz_run_model(model);
    odb_model_free(model);
    return 0;
}
