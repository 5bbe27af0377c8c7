// Sorting, selection and searching made of other operators.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <aten/native/explicit/type_properties.h>
#include <aten/native/support/OutArgument.h>

#include <c10/core/WrapDimMinimal.h>

#include <string_view>
#include <tuple>
#include <vector>

namespace at::native {

namespace {

enum class Interpolation { Linear, Lower, Higher, Midpoint, Nearest };

Interpolation parse_interpolation(std::string_view name) {
  if (name == "linear") {
    return Interpolation::Linear;
  }
  if (name == "lower") {
    return Interpolation::Lower;
  }
  if (name == "higher") {
    return Interpolation::Higher;
  }
  if (name == "midpoint") {
    return Interpolation::Midpoint;
  }
  TORCH_CHECK(
      name == "nearest", "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
      std::string(name));
  return Interpolation::Nearest;
}

// Values at fractional ranks of rows that are in order along the last dimension.
Tensor at_ranks(const Tensor& sorted, Tensor ranks, Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::Lower:
      ranks = ranks.floor();
      break;
    case Interpolation::Higher:
      ranks = ranks.ceil();
      break;
    case Interpolation::Nearest:
      ranks = ranks.round();
      break;
    default:
      break;
  }
  const Tensor below = ranks.to(ScalarType::Long);
  const Tensor values = sorted.gather(-1, below);
  if (interpolation != Interpolation::Linear && interpolation != Interpolation::Midpoint) {
    return values;
  }
  const Tensor weights = interpolation == Interpolation::Midpoint ? at::full_like(ranks, 0.5) : ranks - below;
  return values.lerp(sorted.gather(-1, ranks.ceil().to(ScalarType::Long)), weights.to(sorted.scalar_type()));
}

bool are_fractions(const Tensor& q) {
  return at::logical_and(q >= 0, q <= 1).all().item<bool>();
}

Tensor quantile_of(
    const Tensor& self,
    const Tensor& q,
    std::optional<int64_t> dim,
    bool keepdim,
    std::string_view interpolation,
    bool ignore_nan) {
  const Interpolation how = parse_interpolation(interpolation);
  const int64_t wrapped = dim.has_value() ? c10::maybe_wrap_dim(*dim, self.dim()) : 0;
  TORCH_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  TORCH_CHECK(q.dim() <= 1, "quantile() q must be a scalar or 1D tensor; got ", q.dim(), " dimensions");
  TORCH_CHECK(
      self.scalar_type() == ScalarType::Float || self.scalar_type() == ScalarType::Double,
      "quantile() input tensor must be either float or double dtype; got ", c10::toString(self.scalar_type()));
  TORCH_CHECK(
      self.scalar_type() == q.scalar_type(), "quantile() q tensor must be same dtype as the input tensor; got ",
      c10::toString(q.scalar_type()), " and ", c10::toString(self.scalar_type()));
  TORCH_CHECK(
      q.is_meta() || are_fractions(functorch::value_below_all_levels(q)),
      "quantile() q values must be in the range [0, 1]");

  std::vector<int64_t> sizes;
  if (dim.has_value() && self.dim() > 0) {
    sizes = self.sizes().vec();
    if (keepdim) {
      sizes[wrapped] = 1;
    } else {
      sizes.erase(sizes.begin() + wrapped);
    }
  } else if (keepdim) {
    sizes.assign(self.dim(), 1);
  }
  if (q.dim() > 0) {
    sizes.insert(sizes.begin(), q.numel());
  }

  const Tensor rows = !dim.has_value() || self.dim() == 0 ? self.flatten()
      : wrapped == self.dim() - 1                         ? self
                                                          : self.unsqueeze(-1).transpose(wrapped, -1);
  const Tensor sorted = std::get<0>(rows.sort());
  // Ranks are [rows..., q]. A row with NaN has it at its end; there every quantile is NaN. They are double: the product
  // of a float fraction and a size could round to another rank.
  const Tensor fractions = q.to(ScalarType::Double);
  Tensor ranks;
  if (ignore_nan) {
    ranks = fractions * (sorted.isnan().logical_not().sum(-1, /*keepdim=*/true) - 1);
    ranks = ranks.masked_fill(ranks < 0, 0);
  } else {
    const int64_t last = sorted.size(-1) - 1;
    ranks = at::where(sorted.narrow(-1, last, 1).isnan(), at::full({}, last, fractions.options()), fractions * last);
  }
  const Tensor values = at_ranks(sorted, ranks, how);
  return (q.dim() == 0 ? values : values.movedim(-1, 0)).reshape(sizes);
}

// A number that takes part in promotion as a number does, not as a tensor of its dtype.
Tensor wrapped_number(const Scalar& value, const Tensor& like) {
  Tensor result = at::scalar_tensor(value, like.options().dtype(value.type()));
  result.unsafeGetTensorImpl()->set_wrapped_number(true);
  return result;
}

Tensor fraction(double q, const Tensor& self) {
  TORCH_CHECK(q >= 0 && q <= 1, "quantile() q must be in the range [0, 1] but got ", q);
  TORCH_CHECK(self.numel() > 0, "quantile() input tensor must be non-empty");
  TORCH_CHECK(
      self.scalar_type() == ScalarType::Float || self.scalar_type() == ScalarType::Double,
      "quantile() input tensor must be either float or double dtype; got ", c10::toString(self.scalar_type()));
  return at::scalar_tensor(q, self.options());
}

Tensor& copy_quantile(const Tensor& self, const Tensor& result, Tensor& out) {
  TORCH_CHECK(
      out.scalar_type() == self.scalar_type(), "quantile() out tensor must be same dtype as the input tensor; got ",
      c10::toString(out.scalar_type()), " and ", c10::toString(self.scalar_type()));
  copy_into_out("quantile", out, result);
  return out;
}

} // namespace

std::tuple<Tensor, Tensor> sort_plain(const Tensor& self, int64_t dim, bool descending) {
  return at::sort(self, /*stable=*/std::optional<bool>(false), dim, descending);
}

std::tuple<Tensor&, Tensor&> sort_plain_out(
    const Tensor& self, int64_t dim, bool descending, Tensor& values, Tensor& indices) {
  return at::sort_out(values, indices, self, /*stable=*/std::optional<bool>(false), dim, descending);
}

Tensor argsort(const Tensor& self, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, dim, descending));
}

Tensor argsort_stable(const Tensor& self, bool stable, int64_t dim, bool descending) {
  return std::get<1>(at::sort(self, std::optional<bool>(stable), dim, descending));
}

Tensor msort(const Tensor& self) {
  return std::get<0>(at::sort(self, 0, /*descending=*/false));
}

Tensor& msort_out(const Tensor& self, Tensor& out) {
  Tensor indices = at::empty({0}, self.options().dtype(ScalarType::Long));
  at::sort_out(out, indices, self, 0, /*descending=*/false);
  return out;
}

Tensor value_selecting_reduction_backward(
    const Tensor& grad, int64_t dim, const Tensor& indices, IntArrayRef sizes, bool keepdim) {
  const Tensor zeros = grad.new_zeros(sizes, grad.options());
  const bool has_all_dims = keepdim || sizes.empty();
  const Tensor places = has_all_dims ? indices : indices.unsqueeze(dim);
  const Tensor values = has_all_dims ? grad : grad.unsqueeze(dim);
  // Into zeros for all samples, other places of each sample cannot be written.
  return functorch::isBatchedTensor(indices) ? zeros.scatter(dim, places, values) : zeros.scatter_(dim, places, values);
}

Tensor quantile(
    const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, /*ignore_nan=*/false);
}

Tensor& quantile_out(
    const Tensor& self,
    const Tensor& q,
    std::optional<int64_t> dim,
    bool keepdim,
    std::string_view interpolation,
    Tensor& out) {
  return copy_quantile(self, native::quantile(self, q, dim, keepdim, interpolation), out);
}

Tensor quantile_scalar(
    const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of(self, fraction(q, self), dim, keepdim, interpolation, /*ignore_nan=*/false);
}

Tensor& quantile_scalar_out(
    const Tensor& self,
    double q,
    std::optional<int64_t> dim,
    bool keepdim,
    std::string_view interpolation,
    Tensor& out) {
  return copy_quantile(self, native::quantile_scalar(self, q, dim, keepdim, interpolation), out);
}

Tensor nanquantile(
    const Tensor& self, const Tensor& q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of(self, q, dim, keepdim, interpolation, /*ignore_nan=*/true);
}

Tensor& nanquantile_out(
    const Tensor& self,
    const Tensor& q,
    std::optional<int64_t> dim,
    bool keepdim,
    std::string_view interpolation,
    Tensor& out) {
  return copy_quantile(self, native::nanquantile(self, q, dim, keepdim, interpolation), out);
}

Tensor nanquantile_scalar(
    const Tensor& self, double q, std::optional<int64_t> dim, bool keepdim, std::string_view interpolation) {
  return quantile_of(self, fraction(q, self), dim, keepdim, interpolation, /*ignore_nan=*/true);
}

Tensor& nanquantile_scalar_out(
    const Tensor& self,
    double q,
    std::optional<int64_t> dim,
    bool keepdim,
    std::string_view interpolation,
    Tensor& out) {
  return copy_quantile(self, native::nanquantile_scalar(self, q, dim, keepdim, interpolation), out);
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  const auto check = [](const Tensor& t) {
    TORCH_CHECK(
        !t.is_complex() && t.scalar_type() != ScalarType::Bool,
        "Unsupported input type encountered for isin(): ", c10::toString(t.scalar_type()));
  };
  check(elements);
  check(test_elements);
  const ScalarType common = native::result_type({elements, test_elements});
  const Tensor wanted = elements.to(common);
  if (elements.numel() == 0 || test_elements.numel() == 0) {
    return at::full(elements.sizes(), invert, elements.options().dtype(ScalarType::Bool));
  }
  // A value is there if the sorted list has it at the index where it would go. NaN equals nothing, as it should.
  const Tensor sorted = std::get<0>(test_elements.to(common).flatten().sort());
  const Tensor place = at::searchsorted(sorted, wanted).clamp_max(sorted.numel() - 1);
  const Tensor found = sorted.take(place) == wanted;
  return invert ? found.logical_not() : found;
}

Tensor isin_scalar_test(const Tensor& elements, const Scalar& test_element, bool assume_unique, bool invert) {
  return native::isin(elements, wrapped_number(test_element, elements), assume_unique, invert);
}

Tensor isin_scalar_element(const Scalar& element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return native::isin(wrapped_number(element, test_elements), test_elements, assume_unique, invert);
}

Tensor searchsorted_scalar(
    const Tensor& sorted_sequence,
    const Scalar& self,
    bool out_int32,
    bool right,
    std::optional<std::string_view> side,
    const std::optional<Tensor>& sorter) {
  return at::searchsorted(sorted_sequence, wrapped_number(self, sorted_sequence), out_int32, right, side, sorter);
}

Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool out_int32, bool right) {
  return at::bucketize(wrapped_number(self, boundaries), boundaries, out_int32, right);
}

} // namespace at::native
