/* Small symmetric systems of linear equations; larger ones: learn/numerics.c. */
#include "base/solve.h"

#include <math.h>

bool ft__solve(double *a, double *b, int n)
{
    bool definite = true;

    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i * n + j];

            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            definite &= i != j || sum > 0;
            a[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / a[j * n + j];
        }
        for (int k = 0; k < i; k++)
            b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
    return definite;
}
