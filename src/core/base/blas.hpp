// The few BLAS and LAPACK routines we call, as pointers into SciPy's own library: nothing is linked a second time.
// Fortran conventions: everything by reference, column-major. Callers see to it that the library runs on one thread.
#pragma once

namespace dualgap {

struct Blas {
  using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                        const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                        const double* beta, double* c, const int* ldc);
  using GemmSingle = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                              const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                              const float* beta, float* c, const int* ldc);
  using Syrk = void (*)(const char* uplo, const char* trans, const int* n, const int* k, const double* alpha,
                        const double* a, const int* lda, const double* beta, double* c, const int* ldc);
  using Trsm = void (*)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
                        const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
  using Trsv = void (*)(const char* uplo, const char* trans, const char* diag, const int* n, const double* a,
                        const int* lda, double* x, const int* incx);
  using Symv = void (*)(const char* uplo, const int* n, const double* alpha, const double* a, const int* lda,
                        const double* x, const int* incx, const double* beta, double* y, const int* incy);
  using Potrf = void (*)(const char* uplo, const int* n, double* a, const int* lda, int* info);
  using Potrs = void (*)(const char* uplo, const int* n, const int* nrhs, const double* a, const int* lda, double* b,
                         const int* ldb, int* info);
  using Getrf = void (*)(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
  using Getrs = void (*)(const char* trans, const int* n, const int* nrhs, const double* a, const int* lda,
                         const int* pivots, double* b, const int* ldb, int* info);
  Gemm dgemm = nullptr;
  GemmSingle sgemm = nullptr;
  Syrk dsyrk = nullptr;
  Trsm dtrsm = nullptr;
  Trsv dtrsv = nullptr;
  Symv dsymv = nullptr;
  Potrf dpotrf = nullptr;
  Potrs dpotrs = nullptr;
  Getrf dgetrf = nullptr;
  Getrs dgetrs = nullptr;
};

}  // namespace dualgap
