#include <aten/ExpandUtils.h>

#include <aten/ops/expand.h>
#include <aten/ops/sum.h>
#include <c10/core/SymIntArrayRef.h>

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

c10::MaybeOwned<Tensor> expand_inplace(const Tensor& tensor, const Tensor& to_expand) {
  return expand_size(to_expand, tensor.sizes());
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
