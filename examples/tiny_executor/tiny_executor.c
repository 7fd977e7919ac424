/* SPDX-License-Identifier: MIT
 *
 * A small executor for onnxdbg, to begin one of your own from: an interpreter that walks over the
 * graph. A device would compile the graph in load_model() and be driven by execute(); what stands
 * around that is the same.
 *
 *     onnxdbg bisect model.onnx --target plugin:./tiny_executor.so
 *
 * Operators are the rows of a table: arithmetic of floats with broadcasting, MatMul of matrices,
 * Transpose, and Identity and Constant of anything. So that there is something to find, the option
 * bug=OP makes what that operator gives one percent too large.
 */
#include <math.h>
#include <onnxdbg/executor.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK 16

/* A tensor of floats that we have computed; the model's outputs are lent to the host. */
struct block {
    struct onnxdbg_data data; /* first: a value of the run may be one of these */
    int refs;
    int64_t dims[MAX_RANK];
    float elements[];
};

struct slot {
    const struct onnxdbg_data *data; /* NULL: not computed yet */
    struct block *block;             /* ref; NULL: the data is not ours */
};

struct tiny {
    const struct onnxdbg_host *host;
    const struct onnxdbg_graph *graph; /* lives until the next model */
    char *bug;                         /* NULL: none */
};

struct op {
    const char *name;
    int n_inputs;
    int (*run)(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
               struct slot *slots);
    float (*unary)(float x);
    float (*binary)(float x, float y);
};

/* --- blocks ----------------------------------------------------------------------------------- */

static void block_unref(void *payload)
{
    struct block *block = payload;
    if (block && --block->refs == 0)
        free(block);
}

/* The node's first output; NULL after a failure that has been reported. */
static float *new_output(struct tiny *tiny, const struct onnxdbg_node *node, struct slot *slots,
                         int rank, const int64_t *dims)
{
    size_t count = 1;
    for (int i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, (size_t)dims[i], &count))
            count = SIZE_MAX;
    struct block *block =
        count < SIZE_MAX / 8 ? malloc(sizeof *block + count * sizeof(float)) : NULL;
    if (!block) {
        tiny->host->fail(tiny->host, ONNXDBG_NO_MEMORY, "%s: no memory for its output",
                         node->op_type);
        return NULL;
    }
    block->refs = 1;
    memcpy(block->dims, dims, (size_t)rank * sizeof *dims);
    block->data = (struct onnxdbg_data){.kind = ONNXDBG_TENSOR,
                                        .dtype = ONNXDBG_FLOAT,
                                        .rank = rank,
                                        .dims = block->dims,
                                        .count = count,
                                        .size = count * sizeof(float),
                                        .elements = block->elements};
    slots[node->outputs[0]] = (struct slot){&block->data, block};
    return block->elements;
}

/* Input i as a tensor of floats; NULL after a failure that has been reported. */
static const struct onnxdbg_data *float_input(struct tiny *tiny, const struct onnxdbg_node *node,
                                              const struct slot *slots, int i)
{
    const struct onnxdbg_data *x = slots[node->inputs[i]].data;
    if (x->kind == ONNXDBG_TENSOR && x->dtype == ONNXDBG_FLOAT)
        return x;
    tiny->host->fail(tiny->host, ONNXDBG_UNSUPPORTED, "%s of anything but floats", node->op_type);
    return NULL;
}

/* --- operators -------------------------------------------------------------------------------- */

static int run_identity(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
                        struct slot *slots)
{
    struct slot *x = &slots[node->inputs[0]];
    (void)tiny, (void)op;
    if (x->block)
        x->block->refs++;
    slots[node->outputs[0]] = *x;
    return 0;
}

/* An attribute of that type, NULL where the node has none. */
static const struct onnxdbg_attribute *
find_attribute(const struct onnxdbg_node *node, const char *name, enum onnxdbg_attribute_type type)
{
    for (int i = 0; i < node->n_attributes; i++)
        if (!strcmp(node->attributes[i]->name, name) && node->attributes[i]->type == (int)type)
            return node->attributes[i];
    return NULL;
}

static int run_constant(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
                        struct slot *slots)
{
    const struct onnxdbg_attribute *value = find_attribute(node, "value", ONNXDBG_ATTRIBUTE_TENSOR);
    (void)op;
    if (!value)
        return tiny->host->fail(tiny->host, ONNXDBG_UNSUPPORTED, "Constant without a tensor");
    slots[node->outputs[0]] = (struct slot){value->tensors[0], NULL};
    return 0;
}

static int run_unary(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
                     struct slot *slots)
{
    const struct onnxdbg_data *x = float_input(tiny, node, slots, 0);
    float *y = x ? new_output(tiny, node, slots, x->rank, x->dims) : NULL;
    if (!y)
        return ONNXDBG_FAILED;
    for (size_t i = 0; i < x->count; i++)
        y[i] = op->unary(((const float *)x->elements)[i]);
    return 0;
}

/* Dimension i of rank, counted as if x had that rank: 1 where it has fewer. */
static int64_t dim_of(const struct onnxdbg_data *x, int rank, int i)
{
    return i < rank - x->rank ? 1 : x->dims[i - (rank - x->rank)];
}

/* Which element of x is read for element i of the output. */
static size_t element_of(const struct onnxdbg_data *x, int rank, const int64_t *dims, size_t i)
{
    size_t at = 0, stride = 1;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t own = dim_of(x, rank, d);
        at += own == 1 ? 0 : i % (size_t)dims[d] * stride;
        stride *= (size_t)own;
        i /= (size_t)dims[d];
    }
    return at;
}

static int run_binary(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
                      struct slot *slots)
{
    const struct onnxdbg_data *a = float_input(tiny, node, slots, 0);
    const struct onnxdbg_data *b = a ? float_input(tiny, node, slots, 1) : NULL;
    int64_t dims[MAX_RANK];
    if (!b)
        return ONNXDBG_FAILED;
    int rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < rank; i++) {
        int64_t of_a = dim_of(a, rank, i), of_b = dim_of(b, rank, i);
        if (of_a != of_b && of_a != 1 && of_b != 1)
            return tiny->host->fail(tiny->host, ONNXDBG_INPUT, "%s of dimensions %lld and %lld",
                                    node->op_type, (long long)of_a, (long long)of_b);
        dims[i] = of_a == 1 ? of_b : of_a;
    }
    float *y = new_output(tiny, node, slots, rank, dims);
    if (!y)
        return ONNXDBG_FAILED;
    const float *va = a->elements, *vb = b->elements;
    for (size_t i = 0; i < slots[node->outputs[0]].data->count; i++)
        y[i] = op->binary(va[element_of(a, rank, dims, i)], vb[element_of(b, rank, dims, i)]);
    return 0;
}

/* Elements are read where they are in x and written one after the other. */
static int run_transpose(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
                         struct slot *slots)
{
    const struct onnxdbg_data *x = float_input(tiny, node, slots, 0);
    const struct onnxdbg_attribute *perm = find_attribute(node, "perm", ONNXDBG_ATTRIBUTE_INTS);
    int64_t dims[MAX_RANK];
    size_t strides[MAX_RANK];
    (void)op;
    if (!x)
        return ONNXDBG_FAILED;
    for (int i = 0; i < x->rank; i++) {
        int64_t axis = perm && perm->n == (size_t)x->rank ? perm->ints[i] : x->rank - 1 - i;
        if (axis < 0 || axis >= x->rank)
            return tiny->host->fail(tiny->host, ONNXDBG_INPUT, "Transpose by an axis that is none");
        dims[i] = x->dims[axis];
        strides[i] = 1;
        for (int64_t k = axis + 1; k < x->rank; k++)
            strides[i] *= (size_t)x->dims[k];
    }
    float *y = new_output(tiny, node, slots, x->rank, dims);
    if (!y)
        return ONNXDBG_FAILED;
    for (size_t i = 0; i < x->count; i++) {
        size_t rest = i, at = 0;
        for (int d = x->rank - 1; d >= 0; d--) {
            at += rest % (size_t)dims[d] * strides[d];
            rest /= (size_t)dims[d];
        }
        y[i] = ((const float *)x->elements)[at];
    }
    return 0;
}

/* Any number of matrices by one. */
static int run_matmul(struct tiny *tiny, const struct op *op, const struct onnxdbg_node *node,
                      struct slot *slots)
{
    const struct onnxdbg_data *a = float_input(tiny, node, slots, 0);
    const struct onnxdbg_data *b = a ? float_input(tiny, node, slots, 1) : NULL;
    int64_t dims[MAX_RANK];
    (void)op;
    if (!b)
        return ONNXDBG_FAILED;
    if (a->rank < 2 || b->rank != 2 || a->dims[a->rank - 1] != b->dims[0])
        return tiny->host->fail(tiny->host, ONNXDBG_UNSUPPORTED,
                                "MatMul of ranks %d and %d, or of matrices that do not fit",
                                (int)a->rank, (int)b->rank);
    size_t inner = (size_t)b->dims[0], columns = (size_t)b->dims[1];
    memcpy(dims, a->dims, (size_t)a->rank * sizeof *dims);
    dims[a->rank - 1] = b->dims[1];
    float *y = new_output(tiny, node, slots, a->rank, dims);
    if (!y)
        return ONNXDBG_FAILED;
    size_t count = slots[node->outputs[0]].data->count;
    const float *va = a->elements, *vb = b->elements;
    memset(y, 0, count * sizeof *y);
    for (size_t row = 0; columns && row < count / columns; row++) {
        if (tiny->host->cancelled(tiny->host)) /* once in a while is enough */
            return tiny->host->fail(tiny->host, ONNXDBG_FAILED, "cancelled");
        for (size_t i = 0; i < inner; i++)
            for (size_t column = 0; column < columns; column++)
                y[row * columns + column] += va[row * inner + i] * vb[i * columns + column];
    }
    return 0;
}

static float op_abs(float x)
{
    return fabsf(x);
}

static float op_neg(float x)
{
    return -x;
}

static float op_relu(float x)
{
    return x < 0 ? 0 : x;
}

static float op_add(float x, float y)
{
    return x + y;
}

static float op_sub(float x, float y)
{
    return x - y;
}

static float op_mul(float x, float y)
{
    return x * y;
}

static float op_div(float x, float y)
{
    return x / y;
}

static const struct op ops[] = {
    {"Identity", 1, run_identity, NULL, NULL}, {"Constant", 0, run_constant, NULL, NULL},
    {"Abs", 1, run_unary, op_abs, NULL},       {"Neg", 1, run_unary, op_neg, NULL},
    {"Relu", 1, run_unary, op_relu, NULL},     {"Sqrt", 1, run_unary, sqrtf, NULL},
    {"Exp", 1, run_unary, expf, NULL},         {"Tanh", 1, run_unary, tanhf, NULL},
    {"Add", 2, run_binary, NULL, op_add},      {"Sub", 2, run_binary, NULL, op_sub},
    {"Mul", 2, run_binary, NULL, op_mul},      {"Div", 2, run_binary, NULL, op_div},
    {"MatMul", 2, run_matmul, NULL, NULL},     {"Transpose", 1, run_transpose, NULL, NULL},
};

static const struct op *find_op(const struct onnxdbg_node *node)
{
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (!node->domain[0] && !strcmp(ops[i].name, node->op_type))
            return &ops[i];
    return NULL;
}

/* --- the calls -------------------------------------------------------------------------------- */

static int tiny_init(const struct onnxdbg_host *host, const struct onnxdbg_setup *setup,
                     void **self)
{
    const char *bug = NULL;
    for (size_t i = 0; i < setup->n_options; i++) {
        if (strcmp(setup->keys[i], "bug") != 0) {
            host->fail(host, ONNXDBG_USAGE, "there is no option '%s'", setup->keys[i]);
            return host->remedy(host, "there is bug=OP");
        }
        bug = setup->values[i];
    }
    struct tiny *tiny = calloc(1, sizeof *tiny);
    if (!tiny)
        return host->fail(host, ONNXDBG_NO_MEMORY, "no memory");
    tiny->host = host;
    tiny->bug = bug ? strdup(bug) : NULL;
    *self = tiny;
    return 0;
}

/* Says no now rather than in the midst of a run. */
static int tiny_load_model(void *self, const struct onnxdbg_model *model)
{
    struct tiny *tiny = self;
    const struct onnxdbg_host *host = tiny->host;
    (void)model; /* which has the same as bytes */
    tiny->graph = host->graph(host);
    if (!tiny->graph)
        return ONNXDBG_FAILED;
    for (size_t i = 0; i < tiny->graph->n_nodes; i++) {
        const struct onnxdbg_node *node = tiny->graph->nodes[i];
        const struct op *op = find_op(node);
        int omitted = 0;
        for (int k = 0; k < node->n_inputs; k++)
            omitted += node->inputs[k] < 0;
        if (!op)
            return host->fail(host, ONNXDBG_UNSUPPORTED, "no operator %s%s%s (node '%s')",
                              node->domain, node->domain[0] ? "::" : "", node->op_type, node->name);
        if (node->n_inputs != op->n_inputs || omitted || node->n_outputs != 1)
            return host->fail(host, ONNXDBG_UNSUPPORTED, "%s with %d inputs and %d outputs",
                              node->op_type, (int)node->n_inputs, (int)node->n_outputs);
    }
    return 0;
}

static int run_node(struct tiny *tiny, const struct onnxdbg_node *node, struct slot *slots)
{
    const struct op *op = find_op(node);
    for (int i = 0; i < node->n_inputs; i++)
        if (!slots[node->inputs[i]].data)
            return tiny->host->fail(tiny->host, ONNXDBG_INPUT, "%s: '%s' has no value",
                                    node->op_type, tiny->graph->values[node->inputs[i]]->name);
    int result = op->run(tiny, op, node, slots);
    struct block *block = result ? NULL : slots[node->outputs[0]].block;
    if (block && op->run != run_identity && tiny->bug && !strcmp(tiny->bug, node->op_type))
        for (size_t i = 0; i < block->data.count; i++)
            block->elements[i] *= 1.01F;
    return result;
}

/* Lends what we have computed; what was given to us, the host copies. */
static int give(struct tiny *tiny, size_t i, const struct slot *slot)
{
    const struct onnxdbg_host *host = tiny->host;
    if (!slot->block)
        return host->give(host, i, slot->data, NULL, NULL);
    slot->block->refs++;
    return host->give(host, i, slot->data, block_unref, slot->block);
}

static int tiny_execute(void *self, const struct onnxdbg_run *run)
{
    struct tiny *tiny = self;
    const struct onnxdbg_graph *graph = tiny->graph;
    struct slot *slots = calloc(graph->n_values + 1, sizeof *slots);
    int result = 0;
    if (!slots)
        return tiny->host->fail(tiny->host, ONNXDBG_NO_MEMORY, "no memory");
    for (size_t i = 0; i < graph->n_values; i++)
        slots[i].data = graph->values[i]->constant;
    for (size_t i = 0; i < graph->n_inputs; i++)
        slots[graph->inputs[i]].data = run->inputs[i];
    for (size_t i = 0; i < graph->n_nodes && !result; i++)
        result = run_node(tiny, graph->nodes[i], slots);
    for (size_t i = 0; i < graph->n_outputs && !result; i++)
        if (run->wanted[i])
            result = give(tiny, i, &slots[graph->outputs[i]]);
    for (size_t i = 0; i < graph->n_values; i++)
        block_unref(slots[i].block);
    free(slots);
    return result;
}

static void tiny_release(void *self)
{
    struct tiny *tiny = self;
    free(tiny->bug);
    free(tiny);
}

static const char *tiny_describe(void *self)
{
    (void)self;
    return "tiny executor 1.0, an interpreter";
}

static int tiny_account(void *self)
{
    struct tiny *tiny = self;
    const struct onnxdbg_host *host = tiny->host;
    for (size_t i = 0; i < tiny->graph->n_nodes; i++)
        host->place(host, tiny->graph->nodes[i]->name, tiny->graph->nodes[i]->op_type, "cpu");
    if (tiny->bug)
        host->note(host, "%s is wrong by one percent, as was asked for", tiny->bug);
    return 0;
}

const struct onnxdbg_executor *onnxdbg_executor(void)
{
    static const struct onnxdbg_executor tiny = {.abi = ONNXDBG_EXECUTOR_ABI,
                                                 .size = sizeof tiny,
                                                 .name = "tiny",
                                                 .init = tiny_init,
                                                 .load_model = tiny_load_model,
                                                 .execute = tiny_execute,
                                                 .release = tiny_release,
                                                 .describe = tiny_describe,
                                                 .account = tiny_account};
    return &tiny;
}
