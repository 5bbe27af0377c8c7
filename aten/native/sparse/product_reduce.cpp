// Products of a CSR matrix and a strided one, whose sums may be means, greatest or least products instead.
#include <aten/native/sparse/compressed.h>

#include <aten/Functions.h>
#include <aten/core/OpMathType.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/support/ReductionType.h>
#include <aten/native/support/differentiated.h>
#include <aten/parallel/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

constexpr int64_t kProductsPerThread = int64_t{1} << 14;

/// The elements of a CSR matrix, its places checked.
struct CsrElements {
  Tensor starts;
  Tensor cols;
  Tensor values;
};

CsrElements csr_elements(const Tensor& self) {
  const Tensor places = compressed_to_coo_indices(self);
  const SparseCsrTensorImpl* impl = compressed_impl(self);
  return {impl->compressed_indices().to(kLong).contiguous(), places.select(0, 1), impl->values().contiguous()};
}

void check_reducing_product(const Tensor& self, const Tensor& dense, const char* name) {
  constexpr const char* op = "sparse_mm_reduce";
  TORCH_CHECK(self.layout() == kSparseCsr, op, ": expect self to be SparseCsr, got ", self.layout());
  TORCH_CHECK(self.dim() == 2, op, ": expected self to be a 2-D tensor, got ", self.dim(), "-D tensor.");
  TORCH_CHECK(compressed_impl(self)->dense_dim() == 0, op, ": expected non-hybrid self tensor.");
  TORCH_CHECK_NOT_IMPLEMENTED(
      self.is_cpu() && dense.is_cpu(), op, ": expected tensors on the CPU, got ", self.device(), " and ",
      dense.device());
  TORCH_CHECK(
      dense.layout() == kStrided, "Expected tensor to have Strided Layout, but got ", name, " with ", dense.layout(),
      " Layout (while checking arguments for ", op, ")");
  TORCH_CHECK(
      dense.scalar_type() == self.scalar_type(), "Expected ", name, " to have scalar type ", self.scalar_type(),
      ", as self, but got ", dense.scalar_type(), " (while checking arguments for ", op, ")");
}

/// Of equal products the first stays, of NaNs the last.
template <class R>
bool is_taken(R product, R best, bool greatest) {
  return (greatest ? product > best : product < best) || pointwise::is_nan(product);
}

/// One row of the result for each row of the matrix. `arg` may be null.
template <class T, class Index>
void reduce_products(const CsrElements& m, const Tensor& dense, ReductionType reduce, const Tensor& out, Index* arg) {
  using R = at::opmath_type<T>;
  const int64_t* start = m.starts.const_data_ptr<int64_t>();
  const int64_t* col = m.cols.const_data_ptr<int64_t>();
  const T* value = m.values.const_data_ptr<T>();
  const T* from = dense.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  const int64_t rows = out.size(0), n = out.size(1);
  const bool chosen = reduce == ReductionType::MAX || reduce == ReductionType::MIN;
  const int64_t work = std::max<int64_t>(n * (m.values.numel() / std::max<int64_t>(rows, 1) + 1), 1);
  at::parallel_for(0, rows, kProductsPerThread / work + 1, [&](int64_t begin, int64_t end) {
    std::vector<R> line(n);
    for (int64_t row = begin; row < end; ++row) {
      std::fill(line.begin(), line.end(), R(0));
      for (int64_t k = start[row]; k < start[row + 1]; ++k) {
        const R scale = value[k];
        const T* __restrict other = from + col[k] * n;
        R* __restrict joined = line.data();
        if (!chosen) {
          for (int64_t j = 0; j < n; ++j) {
            joined[j] += scale * R(other[j]);
          }
          continue;
        }
        for (int64_t j = 0; j < n; ++j) {
          const R product = scale * R(other[j]);
          if (k == start[row] || is_taken(product, joined[j], reduce == ReductionType::MAX)) {
            joined[j] = product;
            if (arg != nullptr) {
              arg[row * n + j] = static_cast<Index>(k);
            }
          }
        }
      }
      const R count = reduce == ReductionType::MEAN ? R(std::max<int64_t>(start[row + 1] - start[row], 1)) : R(1);
      std::transform(line.begin(), line.end(), to + row * n, [&](R x) { return static_cast<T>(x / count); });
    }
  });
}

/// The gradient of each element of the matrix: the grads of its row times the row of `dense` it took part with.
template <class T, class Index>
void element_gradients(
    const CsrElements& m,
    const Tensor& dense,
    ReductionType reduce,
    const Tensor& grad,
    const Index* arg,
    const Tensor& out) {
  using R = at::opmath_type<T>;
  const int64_t* start = m.starts.const_data_ptr<int64_t>();
  const int64_t* col = m.cols.const_data_ptr<int64_t>();
  const T* from = dense.const_data_ptr<T>();
  const T* above = grad.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  const int64_t n = dense.size(1);
  at::parallel_for(0, grad.size(0), kProductsPerThread / std::max<int64_t>(n, 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const R count = reduce == ReductionType::MEAN ? R(start[row + 1] - start[row]) : R(1);
      for (int64_t k = start[row]; k < start[row + 1]; ++k) {
        R sum = 0;
        for (int64_t j = 0; j < n; ++j) {
          if (arg == nullptr || arg[row * n + j] == k) {
            sum += R(from[col[k] * n + j]) * R(above[row * n + j]);
          }
        }
        to[k] = static_cast<T>(sum / count);
      }
    }
  });
}

/// The gradient of `dense`, which is added to `out`: what the elements of a column got, each times the grads of its
/// row.
template <class T, class Index>
void dense_gradients(
    const CsrElements& m, ReductionType reduce, const Tensor& grad, const Index* arg, const Tensor& out) {
  using R = at::opmath_type<T>;
  const int64_t* start = m.starts.const_data_ptr<int64_t>();
  const int64_t* col = m.cols.const_data_ptr<int64_t>();
  const T* value = m.values.const_data_ptr<T>();
  const T* above = grad.const_data_ptr<T>();
  R* to = out.mutable_data_ptr<R>();
  const int64_t rows = grad.size(0), n = grad.size(1);
  // Several rows may write one of the result, so the columns of it are what is shared out.
  at::parallel_for(
      0, n, kProductsPerThread / std::max<int64_t>(m.values.numel(), 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = 0; row < rows; ++row) {
          const R count = reduce == ReductionType::MEAN ? R(start[row + 1] - start[row]) : R(1);
          for (int64_t k = start[row]; k < start[row + 1]; ++k) {
            const R scale = R(value[k]) / count;
            for (int64_t j = begin; j < end; ++j) {
              if (arg == nullptr || arg[row * n + j] == k) {
                to[col[k] * n + j] += scale * R(above[row * n + j]);
              }
            }
          }
        }
      });
}

/// Calls f with the C++ types of values and indices.
template <class F>
void dispatch_csr(ScalarType values, ScalarType indices, F&& f) {
  dispatch("spmm_reduce_kernel", values, at::kFloating, [&]<class T> {
    if (indices == kInt) {
      f.template operator()<T, int32_t>();
    } else {
      f.template operator()<T, int64_t>();
    }
  });
}

} // namespace

std::tuple<Tensor, Tensor> _sparse_mm_reduce_impl_csr(
    const Tensor& self, const Tensor& other, std::string_view reduce) {
  check_reducing_product(self, other, "other");
  TORCH_CHECK(
      other.dim() == 2 && other.size(0) == self.size(1),
      "Expected a tensor of dimension 2 and tensor.size[0] == ", self.size(1), " but got: dimension ", other.dim(),
      " and sizes ", other.sizes(), " (while checking arguments for sparse_mm_reduce)");
  const ReductionType reduction = get_reduction_enum(reduce);
  TORCH_CHECK(reduction != ReductionType::PROD, "sparse_mm_reduce: reduce type of prod has not been enabled.");
  const CsrElements m = csr_elements(self);
  const Tensor& columns = compressed_impl(self)->plain_indices();
  const Tensor dense = other.contiguous().resolve_neg();
  const Tensor out = at::empty({self.size(0), other.size(1)}, other.options());
  // A gradient goes to what was chosen; a number that no element has stands for none.
  const bool chosen = reduction == ReductionType::MAX || reduction == ReductionType::MIN;
  const bool places = chosen && columns.numel() > 0 && (is_differentiated(self) || is_differentiated(other));
  const Tensor arg =
      places ? at::full(out.sizes(), columns.numel(), columns.options()) : at::empty({0}, columns.options());
  dispatch_csr(out.scalar_type(), columns.scalar_type(), [&]<class T, class Index> {
    reduce_products<T, Index>(m, dense, reduction, out, places ? arg.mutable_data_ptr<Index>() : nullptr);
  });
  return {out, arg};
}

std::tuple<Tensor, Tensor> _sparse_mm_reduce_impl_backward_csr(
    const Tensor& self,
    const Tensor& grad_out,
    const Tensor& weight,
    std::string_view reduce,
    const Tensor& arg_out,
    std::array<bool, 2> output_mask) {
  check_reducing_product(self, weight, "weight");
  check_reducing_product(self, grad_out, "grad_out");
  TORCH_CHECK(
      weight.dim() == 2 && weight.size(0) == self.size(1) && grad_out.dim() == 2 && grad_out.size(0) == self.size(0) &&
          grad_out.size(1) == weight.size(1),
      "_sparse_mm_reduce_impl_backward: expected grad_out of the sizes of self @ weight, got self ", self.sizes(),
      ", weight ", weight.sizes(), " and grad_out ", grad_out.sizes());
  const ReductionType reduction = get_reduction_enum(reduce);
  TORCH_CHECK(reduction != ReductionType::PROD, "sparse_mm_reduce: reduce type of prod has not been enabled.");
  const CsrElements m = csr_elements(self);
  const ScalarType index = compressed_impl(self)->plain_indices().scalar_type();
  const bool chosen = (reduction == ReductionType::MAX || reduction == ReductionType::MIN) && m.values.numel() > 0;
  TORCH_CHECK(
      !chosen ||
          (arg_out.layout() == kStrided && arg_out.is_cpu() && arg_out.sizes() == grad_out.sizes() &&
           arg_out.scalar_type() == index),
      "_sparse_mm_reduce_impl_backward: expected arg_out, which the call forward gave, of sizes ", grad_out.sizes(),
      " and dtype ", index, ", got sizes ", arg_out.sizes(), " and dtype ", arg_out.scalar_type());
  const Tensor grad = grad_out.contiguous().resolve_neg(), dense = weight.contiguous().resolve_neg(),
               arg = arg_out.contiguous();
  Tensor grad_self, grad_weight;
  dispatch_csr(self.scalar_type(), index, [&]<class T, class Index> {
    const Index* place = chosen ? arg.const_data_ptr<Index>() : nullptr;
    if (output_mask[0]) {
      const Tensor values = at::empty_like(m.values);
      element_gradients<T, Index>(m, dense, reduction, grad, place, values);
      grad_self = with_compressed_values(self, values);
    }
    if (output_mask[1]) {
      const Tensor sums =
          at::zeros(weight.sizes(), weight.options().dtype(c10::CppTypeToScalarType<at::opmath_type<T>>::value));
      dense_gradients<T, Index>(m, reduction, grad, place, sums);
      grad_weight = sums.to(weight.scalar_type());
    }
  });
  return {grad_self, grad_weight};
}

Tensor _sparse_mm_reduce(const Tensor& sparse, const Tensor& dense, std::string_view reduce) {
  return std::get<0>(at::_sparse_mm_reduce_impl(sparse, dense, reduce));
}

} // namespace at::native
