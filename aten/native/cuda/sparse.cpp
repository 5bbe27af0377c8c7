// Kernels of sparse tensors: sums by place, and products by cuSPARSE.
#include <aten/native/cuda/sparse.h>

#include <aten/Functions.h>
#include <aten/core/Context.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/cuda/CUDAContext.h>
#include <aten/cuda/CUDADataType.h>
#include <aten/cuda/Exceptions.h>
#include <aten/cuda/Libraries.h>
#include <aten/native/cuda/workspace.h>
#include <aten/native/sparse/device_kernels.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace at::native::cuda {

namespace {

template <class F>
using SparseFunction = at::cuda::LibraryFunction<at::cuda::Library::cuSPARSE, F>;

const SparseFunction<decltype(cusparseCreateCsr)> create_csr{"cusparseCreateCsr"};
const SparseFunction<decltype(cusparseDestroySpMat)> destroy_sparse{"cusparseDestroySpMat"};
const SparseFunction<decltype(cusparseCreateDnMat)> create_dense{"cusparseCreateDnMat"};
const SparseFunction<decltype(cusparseDestroyDnMat)> destroy_dense{"cusparseDestroyDnMat"};
const SparseFunction<decltype(cusparseSpMM_bufferSize)> multiply_buffer{"cusparseSpMM_bufferSize"};
const SparseFunction<decltype(cusparseSpMM)> multiply{"cusparseSpMM"};
const SparseFunction<decltype(cusparseSDDMM_bufferSize)> sample_buffer{"cusparseSDDMM_bufferSize"};
const SparseFunction<decltype(cusparseSDDMM)> sample{"cusparseSDDMM"};

/// Rows of a sparse matrix, by places and values of int64 and of `type`.
class CsrMatrix {
 public:
  CsrMatrix(
      int64_t rows, int64_t cols, const Tensor& starts, const Tensor& columns, const void* values, cudaDataType type) {
    TORCH_CUDASPARSE_CHECK(create_csr(
        &handle_, rows, cols, columns.numel(), const_cast<int64_t*>(starts.const_data_ptr<int64_t>()),
        const_cast<int64_t*>(columns.const_data_ptr<int64_t>()), const_cast<void*>(values), CUSPARSE_INDEX_64I,
        CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO, type));
  }
  CsrMatrix(const CsrMatrix&) = delete;
  CsrMatrix& operator=(const CsrMatrix&) = delete;
  ~CsrMatrix() {
    static_cast<void>(destroy_sparse(handle_));
  }
  cusparseSpMatDescr_t get() const {
    return handle_;
  }

 private:
  cusparseSpMatDescr_t handle_ = nullptr;
};

/// A contiguous matrix.
class DenseMatrix {
 public:
  DenseMatrix(const Tensor& t, const void* data, cudaDataType type) {
    TORCH_CUDASPARSE_CHECK(create_dense(
        &handle_, t.size(0), t.size(1), std::max<int64_t>(t.size(1), 1), const_cast<void*>(data), type,
        CUSPARSE_ORDER_ROW));
  }
  DenseMatrix(const DenseMatrix&) = delete;
  DenseMatrix& operator=(const DenseMatrix&) = delete;
  ~DenseMatrix() {
    static_cast<void>(destroy_dense(handle_));
  }
  cusparseDnMatDescr_t get() const {
    return handle_;
  }

 private:
  cusparseDnMatDescr_t handle_ = nullptr;
};

void sum_groups_cuda(const Tensor& values, const Tensor& order, const Tensor& starts, const Tensor& out) {
  if (out.numel() == 0) {
    return;
  }
  const c10::OptionalDeviceGuard guard(out.device());
  const int64_t groups = out.size(0);
  launch_sum_groups(
      {values.scalar_type(), values.const_data_ptr(), order.const_data_ptr<int64_t>(), starts.const_data_ptr<int64_t>(),
       values.size(0), groups, out.numel() / groups, out.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream()});
}

constexpr auto kSparseProducts = kFloatDouble | kComplex;
constexpr cusparseOperation_t kAsIs = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// out += factor left dense, the sparse factor by rows.
template <class T>
void add_row_products(
    const Tensor& out, const Tensor& starts, const Tensor& cols, const Tensor& values, const Tensor& dense, T factor) {
  const bool ordered = at::globalContext().deterministicAlgorithms();
  if constexpr (std::is_same_v<T, c10::complex<double>>) {
    if (ordered) {
      // The algorithm that adds in one order has no complex double. A row of complex numbers is one of twice as many
      // real ones.
      const auto real = [](const Tensor& t) { return at::view_as_real(t).flatten(1); };
      const Tensor scaled = values.mul(Scalar(factor)), turned = dense.mul(Scalar(c10::complex<double>(0, 1)));
      add_row_products<double>(real(out), starts, cols, at::real(scaled).contiguous(), real(dense), 1);
      add_row_products<double>(real(out), starts, cols, at::imag(scaled).contiguous(), real(turned), 1);
      return;
    }
  }
  const cudaDataType type = at::cuda::getCudaDataType<T>();
  const T one(1);
  const CsrMatrix left(out.size(0), dense.size(0), starts, cols, values.const_data_ptr(), type);
  const DenseMatrix right(dense, dense.const_data_ptr(), type), result(out, out.mutable_data_ptr(), type);
  // The second is the faster one for matrices by rows; the third adds in one order.
  const cusparseSpMMAlg_t algorithm = ordered ? CUSPARSE_SPMM_CSR_ALG3 : CUSPARSE_SPMM_CSR_ALG2;
  const cusparseHandle_t handle = at::cuda::getCurrentCUDASparseHandle();
  std::size_t bytes = 0;
  TORCH_CUDASPARSE_CHECK(multiply_buffer(
      handle, kAsIs, kAsIs, &factor, left.get(), right.get(), &one, result.get(), type, algorithm, &bytes));
  const Workspace buffer(std::max<std::size_t>(bytes, 1), c10::cuda::getCurrentCUDAStream().stream());
  TORCH_CUDASPARSE_CHECK(multiply(
      handle, kAsIs, kAsIs, &factor, left.get(), right.get(), &one, result.get(), type, algorithm, buffer.data()));
}

void add_row_products_cuda(
    const Tensor& out,
    const Tensor& starts,
    const Tensor& cols,
    const Tensor& values,
    const Tensor& dense,
    const Scalar& alpha) {
  const c10::OptionalDeviceGuard guard(out.device());
  dispatch("addmm_sparse_cuda", out.scalar_type(), kSparseProducts, [&]<class T> {
    add_row_products<T>(out, starts, cols, values, dense, alpha.to<T>());
  });
}

void sampled_product_cuda(
    const Tensor& left, const Tensor& right, const Tensor& starts, const Tensor& cols, const Tensor& out) {
  const c10::OptionalDeviceGuard guard(out.device());
  dispatch("sampled_addmm_out_sparse_csr", out.scalar_type(), kSparseProducts, [&]<class T> {
    if (left.size(1) == 0) {
      out.fill_(0);
      return;
    }
    const cudaDataType type = at::cuda::getCudaDataType<T>();
    const T one(1), zero(0);
    const DenseMatrix a(left, left.const_data_ptr(), type), b(right, right.const_data_ptr(), type);
    const CsrMatrix result(left.size(0), right.size(1), starts, cols, out.mutable_data_ptr(), type);
    const cusparseHandle_t handle = at::cuda::getCurrentCUDASparseHandle();
    std::size_t bytes = 0;
    TORCH_CUDASPARSE_CHECK(sample_buffer(
        handle, kAsIs, kAsIs, &one, a.get(), b.get(), &zero, result.get(), type, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
    const Workspace buffer(std::max<std::size_t>(bytes, 1), c10::cuda::getCurrentCUDAStream().stream());
    TORCH_CUDASPARSE_CHECK(sample(
        handle, kAsIs, kAsIs, &one, a.get(), b.get(), &zero, result.get(), type, CUSPARSE_SDDMM_ALG_DEFAULT,
        buffer.data()));
  });
}

constexpr SparseDeviceKernels kCudaSparseKernels{&sum_groups_cuda, &add_row_products_cuda, &sampled_product_cuda};

[[maybe_unused]] const bool sparse_registered =
    (register_sparse_kernels(c10::DeviceType::CUDA, &kCudaSparseKernels), true);

} // namespace

const SparseDeviceKernels& sparse_device_kernels() {
  return kCudaSparseKernels;
}

} // namespace at::native::cuda

namespace at::native {

// On the host: the offsets are looked at one by one.
Tensor spdiags_cuda(const Tensor& diagonals, const Tensor& offsets, IntArrayRef shape, std::optional<Layout> layout) {
  return at::_spdiags(diagonals.cpu(), offsets.cpu(), shape, layout)
      .to(diagonals.is_cuda() ? diagonals.device() : offsets.device());
}

} // namespace at::native
