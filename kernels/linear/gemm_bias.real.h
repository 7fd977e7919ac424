/* SPDX-License-Identifier: MIT
 *
 * Y = beta * C, C broadcast to Y's two dimensions: what Gemm's product is then added to.
 */
static void FN(gemm_bias)(struct odb_tensor *y, const struct odb_tensor *c, double beta)
{
    size_t row, col, n = (size_t)y->dims[1];
    gemm_c_steps(c, &row, &col);
    for (size_t i = 0; i < (size_t)y->dims[0]; i++) {
        T *to = (T *)y->data + i * n;
        const T *from = (const T *)c->data + i * row;
        for (size_t j = 0; j < n; j++)
            to[j] = (T)((ACC)beta * from[j * col]);
    }
}
