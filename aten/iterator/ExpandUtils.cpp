#include <aten/iterator/ExpandUtils.h>

#include <aten/native/support/convert.h>
#include <aten/ops/expand.h>
#include <aten/ops/sum.h>
#include <c10/core/SymIntArrayRef.h>

#include <utility>

namespace at {
namespace {

template <class Sizes>
Sizes broadcast_shape(IntArrayRef a, IntArrayRef b) {
  const size_t ndim = std::max(a.size(), b.size());
  Sizes result(ndim);
  for (size_t i = 1; i <= ndim; ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    TORCH_CHECK(
        x == y || x == 1 || y == 1, "The size of tensor a (", x, ") must match the size of tensor b (", y,
        ") at non-singleton dimension ", ndim - i);
    result[ndim - i] = x == 1 ? y : x;
  }
  return result;
}

} // namespace

std::vector<int64_t> infer_size(IntArrayRef a, IntArrayRef b) {
  return broadcast_shape<std::vector<int64_t>>(a, b);
}

c10::DimVector infer_size_dimvector(IntArrayRef a, IntArrayRef b) {
  return broadcast_shape<c10::DimVector>(a, b);
}

c10::SymDimVector infer_size_symdimvector(c10::SymIntArrayRef a, c10::SymIntArrayRef b) {
  return broadcast_shape<c10::SymDimVector>(C10_AS_INTARRAYREF_SLOW(a), C10_AS_INTARRAYREF_SLOW(b));
}

std::tuple<std::vector<int64_t>, std::vector<int64_t>> inferExpandGeometry(
    IntArrayRef tensor_sizes, IntArrayRef tensor_strides, IntArrayRef sizes) {
  TORCH_CHECK(
      tensor_sizes.size() == tensor_strides.size(), "inferExpandGeometry: got ", tensor_sizes.size(), " sizes and ",
      tensor_strides.size(), " strides; there must be one stride for each size");
  TORCH_CHECK(
      tensor_sizes.size() <= sizes.size(), "The number of sizes provided (", sizes.size(),
      ") must be greater or equal to the number of dimensions in the tensor (", tensor_sizes.size(), ")");
  const size_t leading = sizes.size() - tensor_sizes.size();
  std::vector<int64_t> expanded = sizes.vec();
  std::vector<int64_t> strides(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    const bool is_new = i < leading;
    const int64_t old_size = is_new ? 1 : tensor_sizes[i - leading];
    TORCH_CHECK(
        expanded[i] >= 0 || (expanded[i] == -1 && !is_new), "The expanded size of the tensor (", expanded[i],
        ") isn't allowed in ", is_new ? "a leading, non-existing dimension " : "dimension ", i);
    if (expanded[i] == -1) {
      expanded[i] = old_size;
    }
    TORCH_CHECK(
        old_size == 1 || old_size == expanded[i], "The expanded size of the tensor (", expanded[i],
        ") must match the existing size (", old_size, ") at non-singleton dimension ", i, ".  Target sizes: ", sizes,
        ".  Tensor sizes: ", tensor_sizes);
    // A new dimension is stepped over like one of size 1; an expanded one stays where it is.
    strides[i] = old_size != expanded[i] || tensor_sizes.empty() ? 0
        : !is_new                                                ? tensor_strides[i - leading]
        : i + 1 < sizes.size()                                   ? expanded[i + 1] * strides[i + 1]
                                                                 : 1;
  }
  return {std::move(expanded), std::move(strides)};
}

std::vector<int64_t> infer_dense_strides(IntArrayRef tensor_sizes, IntArrayRef tensor_strides) {
  TORCH_CHECK(
      tensor_sizes.size() == tensor_strides.size(), "Input sizes and strides should have same size but got ",
      tensor_sizes.size(), " and ", tensor_strides.size());
  const c10::DimVector strides = native::dense_strides_like(tensor_sizes, tensor_strides, /*already_dense=*/false);
  return {strides.begin(), strides.end()};
}

bool is_expandable_to(IntArrayRef shape, IntArrayRef desired) {
  if (shape.size() > desired.size()) {
    return false;
  }
  for (size_t i = 1; i <= shape.size(); ++i) {
    const int64_t size = shape[shape.size() - i];
    if (size != 1 && size != desired[desired.size() - i]) {
      return false;
    }
  }
  return true;
}

bool is_expandable_to(c10::SymIntArrayRef shape, c10::SymIntArrayRef desired) {
  return is_expandable_to(C10_AS_INTARRAYREF_SLOW(shape), C10_AS_INTARRAYREF_SLOW(desired));
}

std::vector<Tensor> expand_outplace(TensorList to_expand) {
  c10::DimVector shape;
  bool first = true;
  for (const Tensor& t : to_expand) {
    if (!t.defined()) {
      continue;
    }
    shape = first ? c10::DimVector(t.sizes().begin(), t.sizes().end()) : infer_size_dimvector(shape, t.sizes());
    first = false;
  }
  std::vector<Tensor> result;
  result.reserve(to_expand.size());
  for (const Tensor& t : to_expand) {
    result.push_back(!t.defined() || t.sizes() == IntArrayRef(shape) ? t : t.expand(shape));
  }
  return result;
}

std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(const Tensor& a, const Tensor& b) {
  const c10::DimVector shape = infer_size_dimvector(a.sizes(), b.sizes());
  return {expand_size(a, shape), expand_size(b, shape)};
}

std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b, const Tensor& c) {
  const c10::DimVector shape = infer_size_dimvector(infer_size_dimvector(a.sizes(), b.sizes()), c.sizes());
  return {expand_size(a, shape), expand_size(b, shape), expand_size(c, shape)};
}

c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return expand_size(to_expand, tensor.sizes());
}

std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_inplace(
    const Tensor& tensor, const Tensor& a, const Tensor& b) {
  return {expand_size(a, tensor.sizes()), expand_size(b, tensor.sizes())};
}

void check_defined(std::initializer_list<std::reference_wrapper<const Tensor>> tensors, const char* api_name) {
  for (const Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.defined(), api_name, "(...) called with an undefined Tensor");
  }
}

std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b, const char* api_name) {
  check_defined({a, b}, api_name);
  return expand_outplace(a, b);
}

std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_outplace(
    const Tensor& a, const Tensor& b, const Tensor& c, const char* api_name) {
  check_defined({a, b, c}, api_name);
  return expand_outplace(a, b, c);
}

c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand, const char* api_name) {
  check_defined({tensor, to_expand}, api_name);
  return expand_inplace(tensor, to_expand);
}

std::tuple<c10::MaybeOwned<Tensor>, c10::MaybeOwned<Tensor>> expand_inplace(
    const Tensor& tensor, const Tensor& a, const Tensor& b, const char* api_name) {
  check_defined({tensor, a, b}, api_name);
  return expand_inplace(tensor, a, b);
}

c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes, const char* api_name) {
  check_defined({to_expand}, api_name);
  return expand_size(to_expand, sizes);
}

c10::MaybeOwned<Tensor> expand_size(const Tensor& to_expand, IntArrayRef sizes) {
  return to_expand.sizes() == sizes ? c10::MaybeOwned<Tensor>::borrowed(to_expand)
                                    : c10::MaybeOwned<Tensor>::owned(to_expand.expand(sizes));
}

Tensor sum_to(Tensor tensor, IntArrayRef shape, bool always_return_non_view) {
  if (shape.empty()) {
    return tensor.sum();
  }
  const IntArrayRef sizes = tensor.sizes();
  const auto leading = static_cast<int64_t>(sizes.size() - shape.size());
  c10::DimVector reduced;
  for (int64_t i = 0; i < leading; ++i) {
    reduced.push_back(i);
  }
  for (int64_t i = leading; i < static_cast<int64_t>(sizes.size()); ++i) {
    if (shape[i - leading] == 1 && sizes[i] != 1) {
      reduced.push_back(i);
    }
  }
  const bool sums = !reduced.empty();
  if (sums) {
    tensor = tensor.sum(reduced, /*keepdim=*/true);
  }
  if (leading > 0) {
    tensor = tensor.view(shape);
  }
  return always_return_non_view && !sums ? tensor.clone() : tensor;
}

Tensor sum_to(Tensor tensor, c10::SymIntArrayRef shape, bool always_return_non_view) {
  return sum_to(std::move(tensor), c10::asIntArrayRefSlow(shape, __FILE__, __LINE__), always_return_non_view);
}

} // namespace at
