// Padding operators written with other operators.
#include <aten/Functions.h>
#include <aten/native/support/constant_pad.h>
#include <c10/util/DimVector.h>
#include <c10/util/safe_numerics.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace at::native {

using c10::DimVector;

namespace {

/// The modes by their numbers in _pad_enum.
enum Mode : int64_t { Reflect, Replicate, Circular, Constant };
constexpr std::array<std::string_view, 4> kModes = {"reflect", "replicate", "circular", "constant"};

} // namespace

ConstantPad plan_constant_pad(const Tensor& self, IntArrayRef pad) {
  TORCH_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  const auto padded_dims = static_cast<int64_t>(pad.size()) / 2;
  TORCH_CHECK(
      padded_dims <= self.dim(),
      "Length of pad should be no more than twice the number of dimensions of the input. Pad length is ", pad.size(),
      "while the input has ", self.dim(), "dimensions.");
  ConstantPad plan{
      self, DimVector(self.sizes().begin(), self.sizes().end()), DimVector(self.dim(), 0),
      std::all_of(pad.begin(), pad.end(), [](int64_t width) { return width <= 0; })};
  const int64_t first = self.dim() - padded_dims;
  const auto widths = [&](int64_t dim) { return &pad[2 * (self.dim() - 1 - dim)]; }; // before, after
  for (int64_t dim = first; dim < self.dim(); ++dim) {
    const int64_t* width = widths(dim);
    if (width[0] < 0) {
      plan.source = plan.source.narrow(dim, -width[0], plan.source.size(dim) + width[0]);
    }
    if (width[1] < 0) {
      plan.source = plan.source.narrow(dim, 0, plan.source.size(dim) + width[1]);
    }
  }
  for (int64_t dim = first; dim < self.dim(); ++dim) {
    const int64_t* width = widths(dim);
    plan.sizes[dim] = plan.source.size(dim);
    plan.before[dim] = std::max<int64_t>(width[0], 0);
    for (const int64_t side : {0, 1}) {
      TORCH_CHECK(
          !c10::add_overflows(plan.sizes[dim], std::max<int64_t>(width[side], 0), &plan.sizes[dim]),
          "constant_pad_nd: pad ", pad, " overflows the size of dimension ", dim);
    }
  }
  return plan;
}

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  const ConstantPad plan = plan_constant_pad(self, pad);
  if (plan.only_cuts) {
    return plan.source.clone();
  }
  const Tensor result = at::empty(plan.sizes, self.options(), self.suggest_memory_format());
  // Each border is filled over what is left inside of the borders before it.
  Tensor inside = result;
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    const int64_t before = plan.before[dim], size = plan.source.size(dim), after = plan.sizes[dim] - before - size;
    if (before > 0) {
      inside.narrow(dim, 0, before).fill_(value);
    }
    if (after > 0) {
      inside.narrow(dim, before + size, after).fill_(value);
    }
    inside = before + after > 0 ? inside.narrow(dim, before, size) : inside;
  }
  inside.copy_(plan.source);
  return result;
}

Tensor _pad_circular(const Tensor& self, IntArrayRef pad) {
  const auto padded_dims = static_cast<int64_t>(pad.size()) / 2;
  TORCH_CHECK(
      pad.size() % 2 == 0 && (self.dim() == padded_dims + 1 || self.dim() == padded_dims + 2),
      "Invalid padding size, expected two widths for each dimension after batch and channels of a tensor of sizes ",
      self.sizes(), " but got ", pad.size());
  Tensor result = self;
  bool is_fresh = false;
  for (int64_t dim = self.dim() - padded_dims; dim < self.dim(); ++dim) {
    const int64_t before = pad[2 * (self.dim() - 1 - dim)];
    const int64_t after = pad[2 * (self.dim() - 1 - dim) + 1];
    const int64_t size = self.size(dim);
    const int64_t cut_before = before < 0 ? -before : 0;
    const int64_t cut_after = after < 0 ? -after : 0;
    TORCH_CHECK(
        cut_before <= size && cut_after <= size - cut_before,
        "Negative padding value is resulting in an empty dimension. Got pad ", pad, " for sizes ", self.sizes());
    const Tensor inside = result.narrow(dim, cut_before, size - cut_before - cut_after);
    TORCH_CHECK(
        before <= inside.size(dim) && after <= inside.size(dim),
        "Padding value causes wrapping around more than once. Got pad ", pad, " for sizes ", self.sizes());
    std::vector<Tensor> parts;
    if (before > 0) {
      parts.push_back(inside.narrow(dim, inside.size(dim) - before, before));
    }
    parts.push_back(inside);
    if (after > 0) {
      parts.push_back(inside.narrow(dim, 0, after));
    }
    result = parts.size() == 1 ? inside : at::cat(parts, dim);
    is_fresh = is_fresh || parts.size() > 1;
  }
  return is_fresh ? result.contiguous() : result.clone(at::MemoryFormat::Contiguous);
}

Tensor _pad_enum(const Tensor& self, IntArrayRef pad, int64_t mode, std::optional<double> value) {
  TORCH_CHECK(mode >= 0 && mode < static_cast<int64_t>(kModes.size()), "_pad_enum: mode must be 0 to 3, got ", mode);
  TORCH_CHECK(pad.size() % 2 == 0, "Padding length must be divisible by 2");
  TORCH_CHECK(
      static_cast<int64_t>(pad.size()) <= 2 * self.dim(),
      "Padding length should be less than or equal to two times the input dimension but got padding length ",
      pad.size(), " and input of dimension ", self.dim());
  if (mode == Constant) {
    return at::constant_pad_nd(self, pad, value.value_or(0.0));
  }
  TORCH_CHECK(!value || *value == 0, "Padding mode \"", kModes[mode], "\" doesn't take in value argument");
  const auto padded_dims = static_cast<int64_t>(pad.size()) / 2;
  TORCH_CHECK_NOT_IMPLEMENTED(
      padded_dims >= 1 && padded_dims <= 3 && (self.dim() == padded_dims + 1 || self.dim() == padded_dims + 2),
      "Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now; got padding of length ", pad.size(),
      " for a tensor of ", self.dim(), " dimensions");
  if (mode == Circular) {
    return at::_pad_circular(self, pad);
  }
  switch (padded_dims) {
    case 1:
      return mode == Reflect ? at::reflection_pad1d(self, pad) : at::replication_pad1d(self, pad);
    case 2:
      return mode == Reflect ? at::reflection_pad2d(self, pad) : at::replication_pad2d(self, pad);
    default:
      return mode == Reflect ? at::reflection_pad3d(self, pad) : at::replication_pad3d(self, pad);
  }
}

Tensor pad(const Tensor& self, IntArrayRef pad, std::string_view mode, std::optional<double> value) {
  const auto* found = std::find(kModes.begin(), kModes.end(), mode);
  TORCH_CHECK_NOT_IMPLEMENTED(
      found != kModes.end(), "Unrecognised padding mode ", mode, "; known: constant, reflect, replicate, circular");
  return at::_pad_enum(self, pad, found - kModes.begin(), value);
}

} // namespace at::native
