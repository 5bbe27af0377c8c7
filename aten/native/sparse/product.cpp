#include <aten/native/sparse/product.h>

#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/iterator/ExpandUtils.h>
#include <aten/native/pointwise/math.h>
#include <aten/native/sparse/coo.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/native/support/index_rows.h>
#include <aten/parallel/Parallel.h>

#include <algorithm>
#include <vector>

namespace at::native {

namespace {

constexpr int64_t kFlopsPerThread = int64_t{1} << 16;

bool is_reduced(ScalarType dtype) {
  return dtype == kHalf || dtype == kBFloat16;
}

} // namespace

void add_row_products(
    const Tensor& out,
    const Tensor& starts,
    const Tensor& cols,
    const Tensor& values,
    const Tensor& dense,
    const Scalar& alpha) {
  const int64_t rows = out.size(0);
  const int64_t n = out.size(1);
  if (const SparseDeviceKernels* const device = sparse_kernels(out)) {
    if (!c10::isFloatingType(out.scalar_type()) && !c10::isComplexType(out.scalar_type())) {
      at::detail::dtype_not_supported("addmm_sparse_cuda", out.scalar_type(), (at::kFloating | at::kComplex).bits);
    }
    device->add_row_products(out, starts, cols, values, dense, alpha);
    return;
  }
  const int64_t* start = starts.const_data_ptr<int64_t>();
  const int64_t* col = cols.const_data_ptr<int64_t>();
  const int64_t work = std::max<int64_t>(n * (values.numel() / std::max<int64_t>(rows, 1) + 1), 1);
  dispatch("addmm", out.scalar_type(), at::kIntegral | at::kFloatDouble | at::kComplex, [&]<class T> {
    const T factor = alpha.to<T>();
    const T* value = values.const_data_ptr<T>();
    const T* from = dense.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    constexpr int64_t kWide = 8;
    AddRow* const add_row = n < kWide ? nullptr : add_row_of(out.scalar_type(), /*scaled=*/true);
    at::parallel_for(0, rows, kFlopsPerThread / work + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* __restrict sum = to + row * n;
        for (int64_t k = start[row]; k < start[row + 1]; ++k) {
          const T scale = pointwise::mul(factor, value[k]);
          const T* __restrict line = from + col[k] * n;
          if (add_row != nullptr) {
            add_row(sum, line, n, &scale);
            continue;
          }
          for (int64_t j = 0; j < n; ++j) {
            sum[j] = pointwise::add(sum[j], pointwise::mul(scale, line[j]));
          }
        }
      }
    });
  });
}

namespace {

bool is_sorted(const Tensor& rows) {
  const int64_t n = rows.numel();
  if (sparse_kernels(rows) != nullptr) {
    return n < 2 || rows.narrow(0, 1, n - 1).ge(rows.narrow(0, 0, n - 1)).all().item<bool>();
  }
  const int64_t* row = rows.const_data_ptr<int64_t>();
  return std::is_sorted(row, row + n);
}

} // namespace

RowOrder order_by_rows(IntArrayRef sizes, const Tensor& places_) {
  const Tensor places = places_.contiguous();
  Tensor rows = places.select(0, 0);
  Tensor cols = places.select(0, 1);
  check_places(rows, sizes[0], "rows");
  check_places(cols, sizes[1], "columns");
  Tensor order;
  if (!is_sorted(rows)) {
    std::tie(rows, order) = rows.sort(/*stable=*/true, 0, false);
    cols = cols.index_select(0, order);
  }
  return {row_starts(rows, sizes[0]), cols.contiguous(), order};
}

Tensor sparse_times_dense(
    IntArrayRef sizes,
    const Tensor& places,
    const Tensor& values,
    const Tensor& dense,
    const Tensor& base,
    const Scalar& beta,
    const Scalar& alpha) {
  const RowOrder rows =
      values.numel() > 0 && sizes[0] > 0 && dense.size(1) > 0 ? order_by_rows(sizes, places) : RowOrder();
  return rows_times_dense(sizes, rows, values, dense, base, beta, alpha);
}

Tensor rows_times_dense(
    IntArrayRef sizes,
    const RowOrder& rows,
    const Tensor& values,
    const Tensor& dense,
    const Tensor& base,
    const Scalar& beta,
    const Scalar& alpha) {
  const ScalarType dtype = values.scalar_type();
  if (is_reduced(dtype)) {
    return rows_times_dense(
               sizes, rows, values.to(kFloat), dense.to(kFloat), base.defined() ? base.to(kFloat) : base, beta, alpha)
        .to(dtype);
  }
  Tensor out;
  if (!base.defined() || beta.equal(0)) {
    out = at::zeros({sizes[0], dense.size(1)}, dense.options());
  } else {
    out = base.clone(MemoryFormat::Contiguous);
    if (!beta.equal(1)) {
      out.mul_(beta);
    }
  }
  if (values.numel() > 0 && out.numel() > 0) {
    const Tensor ordered = rows.order.defined() ? values.index_select(0, rows.order) : values.contiguous();
    add_row_products(out, rows.starts, rows.cols, ordered, dense.contiguous(), alpha);
  }
  return out;
}

// ---- operators -------------------------------------------------------------------------

namespace {

void check_matrix(const char* op, const Tensor& sparse) {
  const SparseTensorImpl* impl = get_sparse_impl(sparse);
  TORCH_CHECK(impl->sparse_dim() == 2, op, ": matrices expected, got ", impl->sparse_dim(), "D tensor");
  TORCH_CHECK(impl->dense_dim() == 0, op, ": scalar values expected, got ", impl->dense_dim(), "D values");
}

void check_dense(const char* op, const Tensor& sparse, const Tensor& dense) {
  TORCH_CHECK(
      dense.layout() == kStrided, op, ": expected the other matrix to be strided, but got layout ", dense.layout());
  TORCH_CHECK(dense.dim() == 2, op, ": matrices expected, got ", dense.dim(), "D tensor");
  TORCH_CHECK(
      dense.size(0) == sparse.size(1), op, ": Argument #3 (dense): Expected dim 0 size ", sparse.size(1), ", got ",
      dense.size(0));
  TORCH_CHECK(
      dense.scalar_type() == sparse.scalar_type(), op, ": expected both matrices to have the same dtype, but got ",
      sparse.scalar_type(), " and ", dense.scalar_type());
}

Tensor coo_times_dense(
    const char* op,
    const Tensor& sparse,
    const Tensor& dense,
    const Tensor& base,
    const Scalar& beta,
    const Scalar& alpha) {
  check_matrix(op, sparse);
  check_dense(op, sparse, dense);
  const SparseTensorImpl* impl = get_sparse_impl(sparse);
  return sparse_times_dense(sparse.sizes(), impl->indices(), impl->values(), dense, base, beta, alpha);
}

} // namespace

Tensor addmm_coo(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  if (self.is_sparse()) {
    TORCH_CHECK(
        mat1.is_sparse() && mat2.is_sparse(), "addmm: a sparse sum needs two sparse factors; got ", mat1.layout(),
        " and ", mat2.layout());
    return at::add(self.mul(beta), at::_sparse_sparse_matmul(mat1, mat2).mul(alpha));
  }
  TORCH_CHECK(self.layout() == kStrided, "addmm: expected 'self' to be strided, but got layout ", self.layout());
  TORCH_CHECK(
      mat1.dim() == 2 && mat2.dim() == 2, "addmm: matrices expected, got ", mat1.dim(), "D and ", mat2.dim(),
      "D tensors");
  TORCH_CHECK(
      self.scalar_type() == mat1.scalar_type(), "addmm: expected self and mat1 to have the same dtype, but got ",
      self.scalar_type(), " and ", mat1.scalar_type());
  const Tensor base = self.expand({mat1.size(0), mat2.size(1)});
  if (mat1.is_sparse() && mat2.is_sparse()) {
    return at::add(base.mul(beta), at::_sparse_sparse_matmul(mat1, mat2), alpha);
  }
  if (mat1.is_sparse()) {
    return coo_times_dense("addmm", mat1, mat2, base, beta, alpha);
  }
  TORCH_CHECK(
      mat2.is_sparse(), "addmm: expected a sparse factor, but got layouts ", mat1.layout(), " and ", mat2.layout());
  return coo_times_dense("addmm", mat2.t(), mat1.t(), base.t(), beta, alpha).t();
}

Tensor mm_coo(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(
      self.dim() == 2 && mat2.dim() == 2, "mm: matrices expected, got ", self.dim(), "D and ", mat2.dim(), "D tensors");
  if (self.is_sparse() && mat2.is_sparse()) {
    return at::_sparse_sparse_matmul(self, mat2);
  }
  return self.is_sparse() ? coo_times_dense("mm", self, mat2, Tensor(), 0, 1)
                          : coo_times_dense("mm", mat2.t(), self.t(), Tensor(), 0, 1).t();
}

Tensor mv_coo(const Tensor& self, const Tensor& vec) {
  TORCH_CHECK(
      self.is_sparse() && !vec.is_sparse(), "mv: expected a sparse matrix and a strided vector, got layouts ",
      self.layout(), " and ", vec.layout());
  TORCH_CHECK(
      self.dim() == 2 && vec.dim() == 1, "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: ", self.dim(),
      " Tensor Dim: ", vec.dim());
  TORCH_CHECK(
      vec.size(0) == self.size(1), "mv: expected self.size(-1) == vec.size(-1), got ", self.size(1), " and ",
      vec.size(0));
  return at::native::mm_coo(self, vec.unsqueeze(1)).squeeze(1);
}

Tensor bmm_coo(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.is_sparse() && !mat2.is_sparse(), "bmm_sparse: Tensor 'self' must be sparse and 'mat2' strided");
  const SparseTensorImpl* impl = get_sparse_impl(self);
  TORCH_CHECK(impl->dense_dim() == 0, "bmm_sparse: Tensor 'self' must have 0 dense dims, but has ", impl->dense_dim());
  TORCH_CHECK(
      impl->sparse_dim() == 3, "bmm_sparse: Tensor 'self' must have 3 sparse dims, but has ", impl->sparse_dim());
  TORCH_CHECK(mat2.dim() == 3, "bmm_sparse: Tensor 'mat2' must have 3 dims, but has ", mat2.dim());
  TORCH_CHECK(self.size(0) == mat2.size(0), "bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match");
  TORCH_CHECK(self.size(2) == mat2.size(1), "bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match");
  TORCH_CHECK(
      self.scalar_type() == mat2.scalar_type(), "bmm_sparse: expected one dtype, but got ", self.scalar_type(), " and ",
      mat2.scalar_type());
  // One product with the matrices along the diagonal.
  const int64_t batch = self.size(0), rows = self.size(1), depth = self.size(2);
  const Tensor& places = impl->indices();
  check_places(places.select(0, 0), batch, "matrices");
  check_places(places.select(0, 1), rows, "rows");
  check_places(places.select(0, 2), depth, "columns");
  const Tensor number = places.select(0, 0);
  const Tensor diagonal = at::stack({number * rows + places.select(0, 1), number * depth + places.select(0, 2)});
  return sparse_times_dense(
             {batch * rows, batch * depth}, diagonal, impl->values(), mat2.reshape({batch * depth, mat2.size(2)}),
             Tensor(), 0, 1)
      .view({batch, rows, mat2.size(2)});
}

namespace {

/// The values of a coalesced matrix by rows.
Tensor values_by_rows(const Tensor& sparse, const RowOrder& rows) {
  const Tensor& values = get_sparse_impl(sparse)->values();
  return rows.order.defined() ? values.index_select(0, rows.order) : values.contiguous();
}

/// A product of sparse matrices by all products of elements that meet, which then are added up by index: rows are taken
/// together as long as these are not too many.
class ExpandedProduct {
 public:
  ExpandedProduct(IntArrayRef sizes, const Tensor& left, const RowOrder& a, const Tensor& right, const RowOrder& b)
      : sizes_(sizes),
        row_of_(at::arange(sizes[0], a.starts.options()).repeat_interleave(a.starts.diff())),
        firsts_(b.starts.index_select(0, a.cols)),
        lengths_(b.starts.index_select(0, a.cols + 1) - firsts_),
        b_cols_(b.cols),
        left_(values_by_rows(left, a)),
        right_(values_by_rows(right, b)),
        a_starts_(a.starts) {}

  Tensor result(int64_t most_terms) const {
    const int64_t elements = left_.numel();
    if (elements == 0 || lengths_.sum().item<int64_t>() <= most_terms) {
      return part(0, elements);
    }
    // Terms and elements before each row.
    const Tensor zero = at::zeros({1}, lengths_.options());
    const Tensor terms = at::cat({zero, lengths_.cumsum(0)}).index_select(0, a_starts_).cpu(), starts = a_starts_.cpu();
    const int64_t *const before = terms.const_data_ptr<int64_t>(), *const start = starts.const_data_ptr<int64_t>();
    std::vector<Tensor> places, values;
    for (int64_t row = 0; row < sizes_[0];) {
      // At least one row, however many its terms are.
      int64_t next = row + 1;
      while (next < sizes_[0] && before[next + 1] - before[row] <= most_terms) {
        ++next;
      }
      const Tensor rows = part(start[row], start[next]);
      places.push_back(get_sparse_impl(rows)->indices());
      values.push_back(get_sparse_impl(rows)->values());
      row = next;
    }
    return make_coo(sizes_, at::cat(places, 1), at::cat(values, 0), /*coalesced=*/true);
  }

 private:
  /// What comes of the elements from `first` to `last` of the left matrix.
  Tensor part(int64_t first, int64_t last) const {
    const auto own = [&](const Tensor& t) { return t.slice(0, first, last); };
    const Tensor lengths = own(lengths_);
    const Tensor of_a = at::arange(last - first, lengths.options()).repeat_interleave(lengths);
    const Tensor before = lengths.cumsum(0) - lengths;
    const Tensor of_b =
        at::arange(of_a.numel(), of_a.options()) - before.index_select(0, of_a) + own(firsts_).index_select(0, of_a);
    const Tensor places = at::stack({own(row_of_).index_select(0, of_a), b_cols_.index_select(0, of_b)});
    const Tensor products = own(left_).index_select(0, of_a) * right_.index_select(0, of_b);
    return coalesced(make_coo(sizes_, places, products, /*coalesced=*/false));
  }

  IntArrayRef sizes_;
  Tensor row_of_, firsts_, lengths_, b_cols_, left_, right_, a_starts_;
};

/// A term takes some 100 bytes while it is sorted.
constexpr int64_t kMostTerms = int64_t{1} << 24;

} // namespace

Tensor product_by_terms(const Tensor& left, const Tensor& right, int64_t most_terms) {
  const RowOrder a = order_by_rows(left.sizes(), get_sparse_impl(left)->indices());
  const RowOrder b = order_by_rows(right.sizes(), get_sparse_impl(right)->indices());
  const int64_t sizes[] = {left.size(0), right.size(1)};
  return ExpandedProduct(sizes, left, a, right, b).result(most_terms);
}

Tensor _sparse_sparse_matmul_coo(const Tensor& self, const Tensor& other) {
  check_coo("_sparse_sparse_matmul", "self", self);
  check_coo("_sparse_sparse_matmul", "other", other);
  check_matrix("sparse_sparse_matmul_cpu", self);
  check_matrix("sparse_sparse_matmul_cpu", other);
  TORCH_CHECK(
      self.size(1) == other.size(0), "mat1 and mat2 shapes cannot be multiplied (", self.size(0), "x", self.size(1),
      " and ", other.size(0), "x", other.size(1), ")");
  TORCH_CHECK(
      self.scalar_type() == other.scalar_type(), "mat1 dtype ", self.scalar_type(), " does not match mat2 dtype ",
      other.scalar_type());
  const ScalarType dtype = self.scalar_type();
  if (is_reduced(dtype)) {
    return _sparse_sparse_matmul_coo(self.to(kFloat), other.to(kFloat)).to(dtype);
  }
  const Tensor left = coalesced(self);
  const Tensor right = coalesced(other);
  if (sparse_kernels(left) != nullptr) {
    return product_by_terms(left, right, kMostTerms);
  }
  const RowOrder a = order_by_rows(left.sizes(), get_sparse_impl(left)->indices());
  const RowOrder b = order_by_rows(right.sizes(), get_sparse_impl(right)->indices());
  const int64_t rows = self.size(0), width = other.size(1);
  const auto pointer = [](const Tensor& t) { return t.const_data_ptr<int64_t>(); };
  std::vector<int64_t> out_rows, out_cols;
  Tensor values;
  dispatch("sparse_matmul", dtype, at::kIntegral | at::kFloatDouble | at::kComplex, [&]<class T> {
    const Tensor a_values = values_by_rows(left, a), b_values = values_by_rows(right, b);
    const T* x = a_values.const_data_ptr<T>();
    const T* y = b_values.const_data_ptr<T>();
    // One row of the result at a time: its columns are listed as they are met.
    std::vector<T> sum(width), result;
    std::vector<int64_t> seen_in(width, -1), met;
    for (int64_t row = 0; row < rows; ++row) {
      met.clear();
      for (int64_t i = pointer(a.starts)[row]; i < pointer(a.starts)[row + 1]; ++i) {
        const int64_t middle = pointer(a.cols)[i];
        for (int64_t j = pointer(b.starts)[middle]; j < pointer(b.starts)[middle + 1]; ++j) {
          const int64_t col = pointer(b.cols)[j];
          if (seen_in[col] != row) {
            seen_in[col] = row;
            sum[col] = T(0);
            met.push_back(col);
          }
          sum[col] = pointwise::add(sum[col], pointwise::mul(x[i], y[j]));
        }
      }
      std::sort(met.begin(), met.end());
      for (const int64_t col : met) {
        out_rows.push_back(row);
        out_cols.push_back(col);
        result.push_back(sum[col]);
      }
    }
    values = at::empty({static_cast<int64_t>(result.size())}, a_values.options());
    std::copy(result.begin(), result.end(), values.mutable_data_ptr<T>());
  });
  const int64_t count = static_cast<int64_t>(out_rows.size());
  const Tensor indices = at::empty({2, count}, c10::TensorOptions(kLong));
  std::copy(out_rows.begin(), out_rows.end(), indices.mutable_data_ptr<int64_t>());
  std::copy(out_cols.begin(), out_cols.end(), indices.mutable_data_ptr<int64_t>() + count);
  return make_coo({rows, width}, indices, values, /*coalesced=*/true);
}

Tensor hspmm_coo(const Tensor& mat1, const Tensor& mat2) {
  check_coo("hspmm", "mat1", mat1);
  check_matrix("hspmm", mat1);
  check_dense("hspmm", mat1, mat2);
  const Tensor sparse = coalesced(mat1);
  const SparseTensorImpl* impl = get_sparse_impl(sparse);
  // The rows that have elements, numbered one after the other.
  const auto [rows, number] = at::_unique(impl->indices().select(0, 0), /*sorted=*/true, /*return_inverse=*/true);
  check_places(rows, mat1.size(0), "rows");
  const Tensor places = at::stack({number, impl->indices().select(0, 1)});
  const Tensor values = sparse_times_dense({rows.size(0), mat1.size(1)}, places, impl->values(), mat2, Tensor(), 0, 1);
  return make_coo({mat1.size(0), mat2.size(1)}, rows.unsqueeze(0), values, /*coalesced=*/true);
}

Tensor sspaddmm_coo(
    const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  check_coo("sspaddmm", "self", self);
  check_coo("sspaddmm", "mat1", mat1);
  check_matrix("sspaddmm", self);
  const Tensor product = at::native::hspmm_coo(mat1, mat2);
  TORCH_CHECK(
      self.sizes() == product.sizes(), "sspaddmm: Argument #1: Expected dim 0 size ", product.size(0),
      " and dim 1 size ", product.size(1), ", got ", self.sizes());
  const SparseTensorImpl* rows = get_sparse_impl(product);
  const int64_t width = product.size(1), count = rows->nnz();
  const Tensor places = at::stack(
      {rows->indices().select(0, 0).repeat_interleave(width),
       at::arange(width, rows->indices().options()).repeat({count})});
  const SparseTensorImpl* base = get_sparse_impl(self);
  return make_coo(
      self.sizes(), at::cat({base->indices(), places}, 1),
      at::cat({base->values().mul(beta), rows->values().reshape({-1}).mul(alpha)}, 0), /*coalesced=*/false);
}

Tensor smm(const Tensor& self, const Tensor& mat2) {
  return at::sspaddmm(
      at::sparse_coo_tensor({self.size(0), mat2.size(1)}, self.options().dtype(mat2.scalar_type())), self, mat2, 0, 1);
}

Tensor _sparse_addmm(
    const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
  return at::addmm(self, mat1, mat2, beta, alpha);
}

Tensor _sparse_mm(const Tensor& mat1, const Tensor& mat2) {
  if (mat1.is_sparse() && mat2.is_sparse()) {
    return at::_sparse_sparse_matmul(mat1, mat2);
  }
  if (mat1.layout() != kStrided) {
    return at::_sparse_addmm(at::zeros({mat1.size(-2), mat2.size(-1)}, mat2.options()), mat1, mat2, 0, 1);
  }
  const Tensor zeros = at::zeros({mat1.size(-2), mat2.size(-1)}, mat1.options());
  return at::_sparse_addmm(zeros.transpose(-2, -1), mat2.transpose(-2, -1), mat1.transpose(-2, -1), 0, 1)
      .transpose(-2, -1);
}

} // namespace at::native
