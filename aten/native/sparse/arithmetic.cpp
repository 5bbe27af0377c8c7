// Sums, products and quotients of coordinate tensors with each other, with strided tensors and with numbers.
#include <aten/native/sparse/coo.h>
#include <aten/native/sparse/device_kernels.h>
#include <aten/native/sparse/values.h>

#include <aten/Functions.h>
#include <aten/core/ScalarOps.h>
#include <aten/core/TensorIndexing.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/core/ivalue.h>
#include <aten/iterator/ExpandUtils.h>

#include <vector>

namespace at::native {

using c10::DimVector;

namespace {

/// Steps through two lists of places, of any order, as a merge of sorted ones does: calls
/// `step(i, j)` with the numbers of the next element on each side, -1 where it has none there.
template <class F>
void merge_places(const Tensor& a_, const Tensor& b_, F step) {
  const Tensor a = a_.contiguous();
  const Tensor b = b_.contiguous();
  const int64_t dims = a.size(0);
  const int64_t n = a.size(1);
  const int64_t m = b.size(1);
  const int64_t* left = a.const_data_ptr<int64_t>();
  const int64_t* right = b.const_data_ptr<int64_t>();
  const auto compare = [&](int64_t i, int64_t j) {
    for (int64_t d = 0; d < dims; ++d) {
      if (left[d * n + i] != right[d * m + j]) {
        return left[d * n + i] < right[d * m + j] ? -1 : 1;
      }
    }
    return 0;
  };
  for (int64_t i = 0, j = 0; i < n || j < m;) {
    const int order = i == n ? 1 : j == m ? -1 : compare(i, j);
    step(order <= 0 ? i : -1, order >= 0 ? j : -1);
    i += order <= 0;
    j += order >= 0;
  }
}

void check_alpha(ScalarType common, const Scalar& alpha) {
  TORCH_CHECK(!alpha.isBoolean() || common == kBool, "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(
      c10::isFloatingType(common) || c10::isComplexType(common) || alpha.isIntegral(true),
      "For integral input tensors, argument alpha must not be a floating point number.");
  TORCH_CHECK(
      c10::isComplexType(common) || !alpha.isComplex(),
      "For non-complex input tensors, argument alpha must not be a complex number.");
}

Tensor times(const Tensor& values, const Scalar& alpha) {
  return alpha.equal(1) ? values : values.mul(alpha);
}

Tensor add_coo_coo(const Tensor& self, const Tensor& other, const Scalar& alpha, ScalarType common) {
  TORCH_CHECK(
      self.sizes() == other.sizes(), "add: expected sizes of 'self' and 'other' to match, but ", self.sizes(),
      " != ", other.sizes());
  const SparseTensorImpl* a = get_sparse_impl(self);
  const SparseTensorImpl* b = get_sparse_impl(other);
  const bool coalesced = a->coalesced() && b->coalesced();
  if (b->nnz() == 0) {
    return make_coo(self.sizes(), a->indices().clone(), a->values().to(common, false, /*copy=*/true), a->coalesced());
  }
  if (a->nnz() == 0) {
    return make_coo(
        self.sizes(), b->indices().clone(), times(b->values().to(common, false, /*copy=*/true), alpha), b->coalesced());
  }
  TORCH_CHECK(
      at::sparse::is_same_density(self, other),
      "add: expected 'self' and 'other' to have same density, but 'self' has ", a->sparse_dim(),
      " sparse dimensions while 'other' has ", b->sparse_dim(), " sparse dimensions");
  const Tensor left = a->values().to(common).contiguous();
  const Tensor right = times(b->values().to(common), alpha).contiguous();
  if (!a->values().is_contiguous() || !b->values().is_contiguous() || sparse_kernels(left) != nullptr) {
    return make_coo(self.sizes(), at::cat({a->indices(), b->indices()}, 1), at::cat({left, right}, 0), false);
  }
  std::vector<std::pair<int64_t, int64_t>> pairs;
  pairs.reserve(a->nnz() + b->nnz());
  merge_places(a->indices(), b->indices(), [&](int64_t i, int64_t j) { pairs.emplace_back(i, j); });

  const int64_t count = static_cast<int64_t>(pairs.size());
  const int64_t block = block_size(self);
  const Tensor a_places = a->indices().contiguous();
  const Tensor b_places = b->indices().contiguous();
  const Tensor indices = at::empty({a->sparse_dim(), count}, a_places.options());
  for (int64_t d = 0; d < a->sparse_dim(); ++d) {
    const int64_t* from_a = a_places.const_data_ptr<int64_t>() + d * a->nnz();
    const int64_t* from_b = b_places.const_data_ptr<int64_t>() + d * b->nnz();
    int64_t* out = indices.mutable_data_ptr<int64_t>() + d * count;
    for (int64_t k = 0; k < count; ++k) {
      out[k] = pairs[k].first >= 0 ? from_a[pairs[k].first] : from_b[pairs[k].second];
    }
  }
  DimVector sizes(left.sizes().begin(), left.sizes().end());
  sizes[0] = count;
  const Tensor values = at::empty(sizes, left.options());
  dispatch("add", common, at::kAll | at::kComplexHalves, [&]<class T> {
    const T* x = left.const_data_ptr<T>();
    const T* y = right.const_data_ptr<T>();
    T* out = values.mutable_data_ptr<T>();
    for (int64_t k = 0; k < count; ++k) {
      const auto [i, j] = pairs[k];
      for (int64_t e = 0; e < block; ++e) {
        const T u = i < 0 ? T() : x[i * block + e];
        const T v = j < 0 ? T() : y[j * block + e];
        if constexpr (std::is_same_v<T, bool>) {
          *out++ = u || v;
        } else {
          *out++ = i < 0 ? v : j < 0 ? u : static_cast<T>(u + v);
        }
      }
    }
  });
  return make_coo(self.sizes(), indices, values, coalesced);
}

/// Adds alpha * sparse to `out`, in place.
void add_into_strided(Tensor& out, const Tensor& sparse, const Scalar& alpha) {
  const SparseTensorImpl* impl = get_sparse_impl(sparse);
  if (impl->nnz() == 0 || out.numel() == 0) {
    return;
  }
  const Tensor places = at::sparse::flatten_indices(impl->indices(), sparse.sizes());
  const Tensor values = impl->values().to(out.scalar_type());
  if (out.is_contiguous()) {
    add_blocks(out, places, values, alpha);
    return;
  }
  Tensor whole = out.contiguous();
  add_blocks(whole, places, values, alpha);
  out.copy_(whole);
}

/// The sparse tensor of the size to which it and the strided one are broadcast.
Tensor broadcast_sparse(const Tensor& sparse, IntArrayRef sizes) {
  return sparse.sizes() == sizes ? sparse : at::_sparse_broadcast_to(sparse, sizes);
}

Tensor picked(const Tensor& strided, const Tensor& indices, IntArrayRef sizes) {
  const Tensor whole = strided.expand(sizes);
  if (indices.size(0) == 0) {
    DimVector tail{indices.size(1)};
    tail.append(sizes.begin(), sizes.end());
    return whole.unsqueeze(0).expand(tail);
  }
  c10::List<std::optional<Tensor>> places;
  for (int64_t d = 0; d < indices.size(0); ++d) {
    places.push_back(indices.select(0, d));
  }
  return whole.index(places);
}

Tensor mul_coo_coo(const Tensor& self, const Tensor& other, ScalarType common) {
  TORCH_CHECK(
      self.sizes() == other.sizes(), "mul: expected 'self' and 'other' to have same sizes when both are sparse, but ",
      self.sizes(), " != ", other.sizes());
  const Tensor left = coalesced(self);
  const Tensor right = coalesced(other);
  const SparseTensorImpl* a = get_sparse_impl(left);
  const SparseTensorImpl* b = get_sparse_impl(right);
  TORCH_CHECK(
      a->nnz() == 0 || b->nnz() == 0 || at::sparse::is_same_density(left, right),
      "mul: expected 'self' and 'other' to have same density, but 'self' has ", a->sparse_dim(),
      " sparse dimensions while 'other' has ", b->sparse_dim(), " sparse dimensions");
  if (a->nnz() > 0 && b->nnz() > 0 && sparse_kernels(left) != nullptr) {
    const Tensor of_b = element_numbers(
        at::sparse::flatten_indices(b->indices(), self.sizes()),
        at::sparse::flatten_indices(a->indices(), self.sizes()));
    const Tensor of_a = of_b.ge(0).nonzero().squeeze(1);
    const Tensor factors = b->values().to(common).index_select(0, of_b.index_select(0, of_a));
    return make_coo(
        self.sizes(), a->indices().index_select(1, of_a), a->values().to(common).index_select(0, of_a).mul(factors),
        true);
  }
  std::vector<int64_t> of_a;
  std::vector<int64_t> of_b;
  if (a->nnz() > 0 && b->nnz() > 0) {
    merge_places(a->indices(), b->indices(), [&](int64_t i, int64_t j) {
      if (i >= 0 && j >= 0) {
        of_a.push_back(i);
        of_b.push_back(j);
      }
    });
  }
  const Tensor from_a = int64_tensor(of_a, left.device());
  const Tensor values = a->values().to(common).index_select(0, from_a);
  const Tensor factors =
      b->nnz() == 0 ? values : b->values().to(common).index_select(0, int64_tensor(of_b, left.device()));
  return make_coo(self.sizes(), a->indices().index_select(1, from_a), values.mul(factors), true);
}

} // namespace

// ---- add -------------------------------------------------------------------------------

Tensor add_coo(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  TORCH_CHECK(
      !self.is_sparse() || other.is_sparse(), "add(sparse, dense) is not supported. Use add(dense, sparse) instead.");
  TORCH_CHECK(
      !self.unsafeGetTensorImpl()->is_sparse_compressed() && !other.unsafeGetTensorImpl()->is_sparse_compressed(),
      "add: tensors of layouts ", self.layout(), " and ", other.layout(),
      " cannot be added; convert one with to_sparse");
  const ScalarType common = at::result_type(self, other);
  check_alpha(common, alpha);
  if (self.is_sparse()) {
    return add_coo_coo(self, other, alpha, common);
  }
  TORCH_CHECK(
      self.sizes() == other.sizes(), "add: expected 'self' and 'other' to have same size, but self has size ",
      self.sizes(), " while other has size ", other.sizes(),
      " (FYI: dense-sparse addition does not currently support broadcasting)");
  Tensor result = self.to(common, false, /*copy=*/true).contiguous();
  add_into_strided(result, other, alpha);
  return result;
}

Tensor& add_coo_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  const ScalarType common = at::result_type(self, other);
  TORCH_CHECK(
      c10::canCast(common, self.scalar_type()), "result type ", common, " can't be cast to the desired output type ",
      self.scalar_type(), " (in add_)");
  if (self.layout() == kStrided && other.is_sparse() && self.sizes() == other.sizes() && common == self.scalar_type()) {
    check_alpha(common, alpha);
    add_into_strided(self, other, alpha);
    return self;
  }
  write_sparse("add", self, at::native::add_coo(self, other, alpha));
  return self;
}

Tensor sub_coo(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  TORCH_CHECK(
      self.scalar_type() != kBool && other.scalar_type() != kBool,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
      "`~` or "
      "`logical_not()` operator instead.");
  return at::native::add_coo(self, other, -alpha);
}

Tensor& sub_coo_(Tensor& self, const Tensor& other, const Scalar& alpha) {
  TORCH_CHECK(
      self.scalar_type() != kBool && other.scalar_type() != kBool,
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
      "`~` or "
      "`logical_not()` operator instead.");
  return at::native::add_coo_(self, other, -alpha);
}

// ---- mul, div --------------------------------------------------------------------------

Tensor mul_coo(const Tensor& self, const Tensor& other) {
  const ScalarType common = at::result_type(self, other);
  if (self.is_sparse() && other.is_sparse() && self.dim() > 0 && other.dim() > 0) {
    return mul_coo_coo(self, other, common);
  }
  TORCH_CHECK(
      !self.unsafeGetTensorImpl()->is_sparse_compressed() && !other.unsafeGetTensorImpl()->is_sparse_compressed(),
      "mul: tensors of layouts ", self.layout(), " and ", other.layout(),
      " cannot be multiplied; convert one with to_sparse");
  if (self.is_sparse() && other.is_sparse()) {
    // One of them is a single number.
    const Tensor& number = self.dim() == 0 ? self : other;
    return at::native::mul_coo(number.to_dense(), number.is_same(self) ? other : self);
  }
  const Tensor& strided = self.is_sparse() ? other : self;
  const Tensor& sparse = self.is_sparse() ? self : other;
  const DimVector sizes = at::infer_size_dimvector(strided.sizes(), sparse.sizes());
  const Tensor whole = broadcast_sparse(sparse, sizes);
  const SparseTensorImpl* impl = get_sparse_impl(whole);
  const Tensor factors = strided.dim() == 0 ? strided.to(common) : picked(strided, impl->indices(), sizes).to(common);
  return make_coo(sizes, impl->indices().clone(), impl->values().to(common).mul(factors), impl->coalesced());
}

Tensor& mul_coo_(Tensor& self, const Tensor& other) {
  const Tensor result = at::native::mul_coo(self, other);
  if (self.layout() == kStrided) {
    TORCH_CHECK(
        self.sizes() == result.sizes(), "output with shape ", self.sizes(), " doesn't match the broadcast shape ",
        result.sizes(), " (in mul_)");
    write_sparse("mul", self, result.to_dense());
  } else {
    write_sparse("mul", self, result);
  }
  return self;
}

namespace {

Tensor quotient(const Tensor& self, const Tensor& other, std::optional<std::string_view> mode) {
  TORCH_CHECK(
      !other.is_sparse(), "Sparse division requires a scalar or zero-dim dense tensor divisor (got a sparse divisor)");
  TORCH_CHECK(
      other.dim() == 0, "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape ", other.sizes(),
      " for divisor)");
  // Rounding is not linear: places that are there twice must be added up before.
  const Tensor input = mode.has_value() ? coalesced(self) : self;
  const SparseTensorImpl* impl = get_sparse_impl(input);
  const ScalarType common = at::result_type(self, other);
  return make_coo(
      self.sizes(), impl->indices().clone(), at::div(impl->values().to(common), other.to(common), mode),
      impl->coalesced());
}

} // namespace

Tensor div_coo(const Tensor& self, const Tensor& other) {
  return quotient(self, other, std::nullopt);
}

Tensor div_mode_coo(const Tensor& self, const Tensor& other, std::optional<std::string_view> rounding_mode) {
  return quotient(self, other, rounding_mode);
}

Tensor div_scalar_mode_coo(const Tensor& self, const Scalar& other, std::optional<std::string_view> rounding_mode) {
  return quotient(self, wrapped_scalar_tensor(other), rounding_mode);
}

Tensor floor_divide_coo(const Tensor& self, const Tensor& other) {
  return quotient(self, other, "floor");
}

Tensor floor_divide_scalar_coo(const Tensor& self, const Scalar& other) {
  return quotient(self, wrapped_scalar_tensor(other), "floor");
}

Tensor pow_coo(const Tensor& self, const Scalar& exponent) {
  TORCH_CHECK(
      !exponent.equal(0), "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense");
  const Tensor input = coalesced(self);
  const SparseTensorImpl* impl = get_sparse_impl(input);
  return make_coo(self.sizes(), impl->indices().clone(), impl->values().pow(exponent), true);
}

} // namespace at::native
