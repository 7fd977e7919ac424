/* SPDX-License-Identifier: MIT
 *
 * Determinant of the n by n matrix a, which is lost: the product of what Gaussian elimination with
 * partial pivoting leaves on the diagonal.
 */
static ACC FN(det_of)(ACC *a, size_t n)
{
    ACC det = 1;
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t r = c + 1; r < n; r++)
            if (ABSOLUTE(a[r * n + c]) > ABSOLUTE(a[pivot * n + c]))
                pivot = r;
        for (size_t j = c; pivot != c && j < n; j++) {
            ACC v = a[c * n + j];
            a[c * n + j] = a[pivot * n + j];
            a[pivot * n + j] = v;
        }
        det *= pivot != c ? -a[c * n + c] : a[c * n + c];
        if (a[c * n + c] == 0)
            return 0;
        for (size_t r = c + 1; r < n; r++) {
            ACC factor = a[r * n + c] / a[c * n + c];
            for (size_t j = c + 1; j < n; j++)
                a[r * n + j] -= factor * a[c * n + j];
        }
    }
    return det;
}

/* Matrices [begin, end). */
static void FN(det_all)(void *arg, size_t begin, size_t end)
{
    struct det *s = arg;
    size_t size = s->n * s->n;
    ACC *a = odb_workspace(ODB_WORKSPACE_ROWS, size * sizeof *a + 1);
    if (!a) {
        atomic_store(&s->failed, true);
        return;
    }
    for (size_t i = begin; i < end; i++) {
        const T *x = (const T *)s->x + i * size;
        for (size_t j = 0; j < size; j++)
            a[j] = (ACC)x[j];
        ((T *)s->y)[i] = (T)FN(det_of)(a, s->n);
    }
}
