#include <aten/native/cpu/generic/reduce_plan.h>

#include <aten/core/TensorBase.h>

#include <utility>

namespace at::native {

namespace {

// Outermost first. Ties (expanded dimensions) keep their logical order. Dimensions are few, and mostly in order.
void sort_by_stride(WalkDims& dims) {
  for (size_t i = 1; i < dims.size(); ++i) {
    for (size_t place = i; place > 0 && dims[place - 1].in < dims[place].in; --place) {
      std::swap(dims[place - 1], dims[place]);
    }
  }
}

// Merges neighbours that are one run in both input and output.
void merge(WalkDims& dims) {
  size_t last = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    auto& outer = dims[last];
    const auto& inner = dims[i];
    if (outer.in == inner.in * inner.size && outer.out == inner.out * inner.size) {
      outer = {outer.size * inner.size, inner.in, inner.out};
    } else {
      dims[++last] = inner;
    }
  }
  if (!dims.empty()) {
    dims.resize(last + 1);
  }
}

int64_t product(const WalkDims& dims) {
  int64_t count = 1;
  for (const auto& dim : dims) {
    count *= dim.size;
  }
  return count;
}

} // namespace

DimMask reduced_dims(c10::OptionalIntArrayRef dims, int64_t ndim) {
  DimMask mask;
  if (!dims.has_value() || dims->empty()) {
    return mask.set();
  }
  for (const int64_t dim : *dims) {
    mask.set(c10::maybe_wrap_dim(dim, ndim));
  }
  return mask;
}

DimMask reduced_dim(std::optional<int64_t> dim, int64_t ndim) {
  DimMask mask;
  return dim.has_value() ? mask.set(c10::maybe_wrap_dim(*dim, ndim)) : mask.set();
}

namespace {

TensorBase cast(const TensorBase& self, c10::ScalarType dtype) {
  return self.scalar_type() == dtype ? self : self.to(c10::TensorOptions().dtype(dtype));
}

bool to_integer(const TensorBase& self, c10::ScalarType result) {
  return c10::isIntegralType(self.scalar_type(), /*includeBool=*/true) &&
      c10::isIntegralType(result, /*includeBool=*/false);
}

} // namespace

TensorBase sum_input(const TensorBase& self, c10::ScalarType result) {
  using c10::ScalarType;
  const ScalarType dtype = self.scalar_type();
  if (to_integer(self, result)) {
    const bool rare = dtype == ScalarType::UInt16 || dtype == ScalarType::UInt32 || dtype == ScalarType::UInt64;
    return rare ? cast(self, ScalarType::Long) : self;
  }
  return c10::isReducedFloatingType(dtype) && result == ScalarType::Float ? self : cast(self, result);
}

TensorBase wide_input(const TensorBase& self, c10::ScalarType result) {
  using c10::ScalarType;
  if (to_integer(self, result)) {
    return cast(self, ScalarType::Long);
  }
  const TensorBase input = self.scalar_type() == result ? self : cast(self, result);
  return c10::isReducedFloatingType(result)               ? cast(input, ScalarType::Float)
      : c10::isIntegralType(result, /*includeBool=*/true) ? cast(input, ScalarType::Long)
                                                          : input;
}

c10::SmallVector<int64_t, 6> spread_out_strides(int64_t ndim, const DimMask& reduced, const TensorBase& out) {
  c10::SmallVector<int64_t, 6> strides(ndim, 0);
  const bool keepdim = out.dim() == ndim;
  for (int64_t d = 0, o = 0; d < ndim; ++d) {
    if (!reduced[d]) {
      strides[d] = out.strides()[o];
    }
    o += (keepdim || !reduced[d]) ? 1 : 0;
  }
  return strides;
}

ReducePlan plan_reduction(
    c10::IntArrayRef sizes, c10::IntArrayRef strides, const DimMask& reduced, c10::IntArrayRef out_strides) {
  ReducePlan plan;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1) {
      auto& list = reduced[d] ? plan.reduced : plan.kept;
      list.push_back({sizes[d], strides[d], reduced[d] ? 0 : out_strides[d]});
    }
  }
  sort_by_stride(plan.kept);
  sort_by_stride(plan.reduced);
  merge(plan.kept);
  merge(plan.reduced);
  if (plan.reduced.empty() && plan.kept.empty()) {
    return plan;
  }
  plan.inner_reduced = plan.kept.empty() || (!plan.reduced.empty() && plan.reduced.back().in <= plan.kept.back().in);
  auto& source = plan.inner_reduced ? plan.reduced : plan.kept;
  plan.inner = source.back();
  source.pop_back();
  plan.kept_count = product(plan.kept);
  plan.reduced_count = product(plan.reduced);
  return plan;
}

ReducePlan plan_reduction(const TensorBase& self, const DimMask& reduced, const TensorBase& out) {
  const auto ndim = static_cast<size_t>(self.dim());
  if ((~reduced << (reduced.size() - ndim)).none() && self.is_contiguous() && self.numel() != 0) { // all of one run
    ReducePlan plan;
    if (self.numel() != 1) {
      plan.inner = {self.numel(), 1, 0};
    }
    return plan;
  }
  return plan_reduction(self.sizes(), self.strides(), reduced, spread_out_strides(self.dim(), reduced, out));
}

WalkDims plan_rows(c10::IntArrayRef sizes, c10::IntArrayRef in_strides, c10::IntArrayRef out_strides, int64_t skip) {
  WalkDims dims;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) {
    if (d != skip && sizes[d] != 1) {
      dims.push_back({sizes[d], in_strides[d], out_strides[d]});
    }
  }
  sort_by_stride(dims);
  merge(dims);
  return dims;
}

} // namespace at::native
