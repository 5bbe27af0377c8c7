// cuSPARSE's products by plain loops of the CPU's operators, on the memory that they are told.
#include "test/cuda/emulated/libraries.h"

#include <aten/Functions.h>
#include <aten/core/List.h>
#include <aten/core/from_blob.h>
#include <aten/core/ivalue.h>
#include <aten/cuda/CUDAContextLight.h>
#include <aten/cuda/Exceptions.h>

#include <cusparse.h>

#include <map>

struct cusparseSpMatDescr {
  int64_t rows, cols, nnz;
  const int64_t *starts, *columns;
  void* values;
  cudaDataType type;
};
struct cusparseDnMatDescr {
  int64_t rows, cols, leading;
  void* data;
  cudaDataType type;
};

namespace emulated {

namespace {

using at::Tensor;

at::ScalarType dtype_of(cudaDataType type) {
  return type == CUDA_R_32F ? at::kFloat
      : type == CUDA_R_64F  ? at::kDouble
      : type == CUDA_C_32F  ? at::kComplexFloat
                            : at::kComplexDouble;
}

at::Scalar number(const void* value, cudaDataType type) {
  return at::from_blob(const_cast<void*>(value), {}, at::TensorOptions(dtype_of(type))).item();
}

Tensor matrix(const cusparseDnMatDescr& m) {
  return at::from_blob(m.data, {m.rows, m.cols}, {m.leading, 1}, at::TensorOptions(dtype_of(m.type)));
}

/// The row of each element.
Tensor rows_of(const cusparseSpMatDescr& m) {
  Tensor rows = at::empty({m.nnz}, at::kLong);
  for (int64_t row = 0; row < m.rows; ++row) {
    rows.narrow(0, m.starts[row], m.starts[row + 1] - m.starts[row]).fill_(row);
  }
  return rows;
}
Tensor columns_of(const cusparseSpMatDescr& m) {
  return at::from_blob(const_cast<int64_t*>(m.columns), {m.nnz}, at::TensorOptions(at::kLong));
}
Tensor values_of(const cusparseSpMatDescr& m) {
  return at::from_blob(m.values, {m.nnz}, at::TensorOptions(dtype_of(m.type)));
}

cusparseStatus_t create_csr(
    cusparseSpMatDescr_t* made,
    int64_t rows,
    int64_t cols,
    int64_t nnz,
    void* starts,
    void* columns,
    void* values,
    cusparseIndexType_t start_type,
    cusparseIndexType_t column_type,
    cusparseIndexBase_t base,
    cudaDataType type) {
  if (start_type != CUSPARSE_INDEX_64I || column_type != CUSPARSE_INDEX_64I || base != CUSPARSE_INDEX_BASE_ZERO ||
      rows < 0 || cols < 0) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  ++libraries().sparse_descriptors;
  *made = new cusparseSpMatDescr{
      rows, cols, nnz, static_cast<const int64_t*>(starts), static_cast<const int64_t*>(columns), values, type};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t destroy_csr(cusparseConstSpMatDescr_t m) {
  --libraries().sparse_descriptors;
  delete m;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t create_dense(
    cusparseDnMatDescr_t* made,
    int64_t rows,
    int64_t cols,
    int64_t leading,
    void* data,
    cudaDataType type,
    cusparseOrder_t order) {
  if (order != CUSPARSE_ORDER_ROW || leading < cols || leading < 1) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  ++libraries().sparse_descriptors;
  *made = new cusparseDnMatDescr{rows, cols, leading, data, type};
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t destroy_dense(cusparseConstDnMatDescr_t m) {
  --libraries().sparse_descriptors;
  delete m;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t multiply_buffer(
    cusparseHandle_t,
    cusparseOperation_t,
    cusparseOperation_t,
    const void*,
    cusparseConstSpMatDescr_t,
    cusparseConstDnMatDescr_t,
    const void*,
    cusparseDnMatDescr_t,
    cudaDataType,
    cusparseSpMMAlg_t,
    size_t* bytes) {
  *bytes = 64;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t multiply(
    cusparseHandle_t,
    cusparseOperation_t op_a,
    cusparseOperation_t op_b,
    const void* alpha,
    cusparseConstSpMatDescr_t a,
    cusparseConstDnMatDescr_t b,
    const void* beta,
    cusparseDnMatDescr_t c,
    cudaDataType compute,
    cusparseSpMMAlg_t algorithm,
    void* buffer) {
  if (algorithm == CUSPARSE_SPMM_CSR_ALG3 && compute == CUDA_C_64F) {
    return CUSPARSE_STATUS_NOT_SUPPORTED;
  }
  if (op_a != CUSPARSE_OPERATION_NON_TRANSPOSE || op_b != CUSPARSE_OPERATION_NON_TRANSPOSE || buffer == nullptr ||
      a->cols != b->rows || a->rows != c->rows || b->cols != c->cols || compute != a->type || b->type != a->type ||
      c->type != a->type) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  run_on_current_stream(
      [a = *a, b = *b, out = matrix(*c), alpha = number(alpha, compute), beta = number(beta, compute)] {
        const Tensor terms = values_of(a).unsqueeze(1) * matrix(b).index_select(0, columns_of(a));
        out.copy_(out * beta + at::zeros_like(out).index_add(0, rows_of(a), terms) * alpha);
      });
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t sample_buffer(
    cusparseHandle_t,
    cusparseOperation_t,
    cusparseOperation_t,
    const void*,
    cusparseConstDnMatDescr_t,
    cusparseConstDnMatDescr_t,
    const void*,
    cusparseSpMatDescr_t,
    cudaDataType,
    cusparseSDDMMAlg_t,
    size_t* bytes) {
  *bytes = 64;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t sample(
    cusparseHandle_t,
    cusparseOperation_t,
    cusparseOperation_t,
    const void* alpha,
    cusparseConstDnMatDescr_t a,
    cusparseConstDnMatDescr_t b,
    const void* beta,
    cusparseSpMatDescr_t c,
    cudaDataType compute,
    cusparseSDDMMAlg_t,
    void* buffer) {
  if (buffer == nullptr || a->cols != b->rows || a->rows != c->rows || b->cols != c->cols) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  run_on_current_stream([a = *a, b = *b, c = *c, alpha = number(alpha, compute), beta = number(beta, compute)] {
    const Tensor product = matrix(a).mm(matrix(b)), values = values_of(c);
    // As in BLAS, what is there does not matter where beta is 0.
    const Tensor old = beta.equal(0) ? at::zeros_like(values) : values * beta;
    values.copy_(old + product.index({rows_of(c), columns_of(c)}) * alpha);
  });
  return CUSPARSE_STATUS_SUCCESS;
}

template <class F>
void* address(F* f) {
  return reinterpret_cast<void*>(f);
}

} // namespace

void* cusparse_function(const std::string& name) {
  static const std::map<std::string, void*> all = {
      {"cusparseCreateCsr", address(&create_csr)},
      {"cusparseDestroySpMat", address(&destroy_csr)},
      {"cusparseCreateDnMat", address(&create_dense)},
      {"cusparseDestroyDnMat", address(&destroy_dense)},
      {"cusparseSpMM_bufferSize", address(&multiply_buffer)},
      {"cusparseSpMM", address(&multiply)},
      {"cusparseSDDMM_bufferSize", address(&sample_buffer)},
      {"cusparseSDDMM", address(&sample)},
  };
  return all.at(name);
}

} // namespace emulated

namespace at::cuda {

cusparseHandle_t getCurrentCUDASparseHandle() {
  return nullptr;
}
namespace sparse {
const char* cusparseGetErrorMessage(cusparseStatus_t) {
  return "refused by the emulated library";
}
} // namespace sparse
} // namespace at::cuda
