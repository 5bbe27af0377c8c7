// gradient: differences of samples, central inside and one-sided at both ends.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <numeric>

namespace at::native {

namespace {

std::vector<int64_t> all_dims(const Tensor& self) {
  std::vector<int64_t> dims(self.dim());
  std::iota(dims.begin(), dims.end(), int64_t{0});
  return dims;
}

void check_gradient(const Tensor& self, IntArrayRef dims, int64_t edge_order) {
  TORCH_CHECK(self.scalar_type() != kByte, "torch.gradient does not support uint8 input.");
  TORCH_CHECK(
      edge_order == 1 || edge_order == 2, "torch.gradient only supports edge_order=1 and edge_order=2. Got ",
      edge_order);
  std::vector<bool> seen(self.dim());
  for (const int64_t dim : dims) {
    const int64_t d = c10::maybe_wrap_dim(dim, self.dim(), /*wrap_scalar=*/false);
    TORCH_CHECK(!seen[d], "dim ", d, " appears multiple times in the list of dims (in gradient)");
    seen[d] = true;
    TORCH_CHECK(
        self.size(d) >= edge_order + 1,
        "torch.gradient expected each dimension size to be at least edge_order+1; size(", d, ") is ", self.size(d));
  }
}

/// `given` spacings, of `dims` if the caller named them, of all dimensions else.
void check_spacing_count(const Tensor& self, size_t given, std::optional<size_t> dims) {
  if (dims.has_value()) {
    TORCH_CHECK(
        given == *dims,
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
        "same "
        "length, but got a spacing argument of length ",
        given, " and a dim argument of length ", *dims, ".");
  } else {
    TORCH_CHECK(
        given == static_cast<size_t>(self.dim()),
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = ",
        self.dim(), "', since dim argument was not given, but got a list of length ", given);
  }
}

/// Elements `first` to `first + count` along `dim`; a negative `first` counts from the end.
Tensor part(const Tensor& self, int64_t dim, int64_t first, int64_t count = 1) {
  return self.narrow(dim, first < 0 ? self.size(dim) + first : first, count);
}

/// Along one dimension with samples `step` apart.
Tensor gradient_even(const Tensor& self, int64_t dim, const Scalar& step, int64_t edge_order) {
  const int64_t inner = self.size(dim) - 2;
  const Tensor first = part(self, dim, 0), second = part(self, dim, 1);
  const Tensor last = part(self, dim, -1), last_but_one = part(self, dim, -2);
  const Tensor center = (part(self, dim, 2, inner) - part(self, dim, 0, inner)) / step / 2;
  if (edge_order == 1) {
    return at::cat({(second - first) / step, center, (last - last_but_one) / step}, dim);
  }
  const Tensor begin = (second * 4 - first * 3 - part(self, dim, 2)) / step / 2;
  const Tensor end = (last * 3 - last_but_one * 4 + part(self, dim, -3)) / step / 2;
  return at::cat({begin, center, end}, dim);
}

/// Along one dimension with samples at `coordinates`: the derivative of the parabola through three neighbours.
Tensor gradient_uneven(const Tensor& self, int64_t dim, const Tensor& coordinates, int64_t edge_order) {
  TORCH_CHECK(
      coordinates.dim() == 1,
      "torch.gradient expected each element of spacing to have one dimension, but got an element with ",
      coordinates.dim(), " dimensions!");
  TORCH_CHECK(
      coordinates.size(0) == self.size(dim), "torch.gradient expected a coordinate for each of the ", self.size(dim),
      " elements along dimension ", dim, ", but got ", coordinates.size(0));
  const int64_t inner = self.size(dim) - 2;
  c10::DimVector shape(self.dim(), 1);
  shape[dim] = -1;
  const Tensor steps = coordinates.diff().reshape(shape);
  const auto step = [&](int64_t i) { return part(steps, dim, i); };

  const Tensor left = part(steps, dim, 0, inner), right = part(steps, dim, 1, inner), both = left + right;
  const Tensor center = part(self, dim, 2, inner) * (left / (right * both)) +
      part(self, dim, 1, inner) * ((right - left) / (left * right)) -
      part(self, dim, 0, inner) * (right / (left * both));
  if (edge_order == 1) {
    const Tensor begin = (part(self, dim, 1) - part(self, dim, 0)) / step(0);
    const Tensor end = (part(self, dim, -1) - part(self, dim, -2)) / step(-1);
    return at::cat({begin, center, end}, dim);
  }
  const auto edge = [](const Tensor& at_edge, const Tensor& next, const Tensor& far, const Tensor& near_step,
                       const Tensor& far_step) {
    const Tensor sum = near_step + far_step;
    return next * (sum / (near_step * far_step)) - at_edge * ((near_step + sum) / (near_step * sum)) -
        far * (near_step / (far_step * sum));
  };
  const Tensor begin = edge(part(self, dim, 0), part(self, dim, 1), part(self, dim, 2), step(0), step(1));
  const Tensor end = edge(part(self, dim, -1), part(self, dim, -2), part(self, dim, -3), step(-1), step(-2));
  return at::cat({begin, center, -end}, dim);
}

std::vector<Tensor> gradients_even(const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dims, int64_t edge_order) {
  check_gradient(self, dims, edge_order);
  std::vector<Tensor> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const Scalar& step = spacing.size() == 1 ? spacing[0] : spacing[i];
    result.push_back(gradient_even(self, c10::maybe_wrap_dim(dims[i], self.dim()), step, edge_order));
  }
  return result;
}

std::vector<Tensor> gradients_uneven(const Tensor& self, TensorList spacing, IntArrayRef dims, int64_t edge_order) {
  check_gradient(self, dims, edge_order);
  std::vector<Tensor> result;
  for (size_t i = 0; i < dims.size(); ++i) {
    result.push_back(gradient_uneven(self, c10::maybe_wrap_dim(dims[i], self.dim()), spacing[i], edge_order));
  }
  return result;
}

} // namespace

std::vector<Tensor> gradient_scalarint(
    const Tensor& self, const std::optional<Scalar>& spacing, std::optional<int64_t> dim, int64_t edge_order) {
  const std::vector<int64_t> dims = dim.has_value() ? std::vector<int64_t>{*dim} : all_dims(self);
  return gradients_even(self, {spacing.value_or(Scalar(1))}, dims, edge_order);
}

std::vector<Tensor> gradient_scalararray(
    const Tensor& self, const Scalar& spacing, IntArrayRef dim, int64_t edge_order) {
  return gradients_even(self, {spacing}, dim, edge_order);
}

std::vector<Tensor> gradient_array(const Tensor& self, IntArrayRef dim, int64_t edge_order) {
  return gradients_even(self, {Scalar(1)}, dim, edge_order);
}

std::vector<Tensor> gradient_scalarrayint(
    const Tensor& self, ArrayRef<Scalar> spacing, std::optional<int64_t> dim, int64_t edge_order) {
  check_spacing_count(self, spacing.size(), dim.has_value() ? std::optional<size_t>(1) : std::nullopt);
  return gradients_even(self, spacing, dim.has_value() ? std::vector<int64_t>{*dim} : all_dims(self), edge_order);
}

std::vector<Tensor> gradient_scalarrayarray(
    const Tensor& self, ArrayRef<Scalar> spacing, IntArrayRef dim, int64_t edge_order) {
  check_spacing_count(self, spacing.size(), dim.size());
  return gradients_even(self, spacing, dim, edge_order);
}

std::vector<Tensor> gradient_tensorarrayint(
    const Tensor& self, TensorList spacing, std::optional<int64_t> dim, int64_t edge_order) {
  check_spacing_count(self, spacing.size(), dim.has_value() ? std::optional<size_t>(1) : std::nullopt);
  return gradients_uneven(self, spacing, dim.has_value() ? std::vector<int64_t>{*dim} : all_dims(self), edge_order);
}

std::vector<Tensor> gradient_tensorarray(const Tensor& self, TensorList spacing, IntArrayRef dim, int64_t edge_order) {
  check_spacing_count(self, spacing.size(), dim.size());
  return gradients_uneven(self, spacing, dim, edge_order);
}

} // namespace at::native
