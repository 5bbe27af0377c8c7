// Derivatives of sampling at given points.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>
#include <c10/util/DimVector.h>

#include <algorithm>
#include <vector>

namespace torch::autograd::formulas {

namespace {

// Values of interpolation_mode and padding_mode.
constexpr int64_t kBilinear = 0, kNearest = 1, kBicubic = 2;
constexpr int64_t kZeros = 0, kReflection = 2;

struct Coordinate {
  Tensor value; // in elements, without a gradient
  Tensor slope; // how it moves with the grid's, likewise
};

/// Mirrors values at the borders of an image of `size` elements: at the outermost ones or at their edges.
Coordinate reflected(const Coordinate& place, int64_t size, bool align_corners) {
  const double low = align_corners ? 0 : -0.5, span = static_cast<double>(align_corners ? size - 1 : size);
  if (span == 0) {
    return {at::zeros_like(place.value), at::zeros_like(place.slope)};
  }
  const Tensor distance = (place.value - low).abs(), flips = (distance / span).floor(), rest = distance - flips * span;
  const Tensor is_even = flips.remainder(2).eq(0);
  const Tensor direction = at::where(place.value.lt(low), -1.0, 1.0).to(place.value.scalar_type());
  return {
      at::where(is_even, rest, span - rest) + low,
      place.slope * direction * at::where(is_even, 1.0, -1.0).to(direction.scalar_type())};
}

/// What padding makes of a point: with a border it ends at the outermost elements, where it no longer moves.
Coordinate padded(Coordinate place, int64_t size, int64_t padding_mode, bool align_corners) {
  if (padding_mode == kZeros) {
    return place;
  }
  if (padding_mode == kReflection) {
    place = reflected(place, size, align_corners);
  }
  const double last = static_cast<double>(size - 1);
  const Tensor inside = place.value.gt(0).logical_and(place.value.lt(last));
  return {place.value.clamp(0, last), place.slope * inside};
}

/// Along one dimension: the elements that a sample is made of, their weights, and how these move with the grid.
struct AxisTaps {
  std::vector<Tensor> index, is_inside, weight, slope;

  void add(const Tensor& place, int64_t size, Tensor w, Tensor moves) {
    is_inside.push_back(place.ge(0).logical_and(place.le(size - 1)));
    // NaN is nowhere, and no number.
    index.push_back(at::where(is_inside.back(), place, 0.0).to(at::kLong));
    weight.push_back(std::move(w));
    slope.push_back(std::move(moves));
  }
};

constexpr double kSharpness = -0.75;
Tensor cubic_near(const Tensor& x) {
  return ((kSharpness + 2) * x - (kSharpness + 3)) * x * x + 1;
}
Tensor cubic_far(const Tensor& x) {
  return ((kSharpness * x - 5 * kSharpness) * x + 8 * kSharpness) * x - 4 * kSharpness;
}
Tensor cubic_near_slope(const Tensor& x) {
  return (3 * (kSharpness + 2) * x - 2 * (kSharpness + 3)) * x;
}
Tensor cubic_far_slope(const Tensor& x) {
  return (3 * kSharpness * x - 10 * kSharpness) * x + 8 * kSharpness;
}

/// `x` are the grid's coordinates of the dimension, -1 to 1 over the image.
AxisTaps taps_along(const Tensor& x, int64_t size, int64_t mode, int64_t padding_mode, bool align_corners) {
  const Tensor fixed = x.detach();
  const double scale = (align_corners ? static_cast<double>(size - 1) : static_cast<double>(size)) / 2;
  Coordinate place{(fixed + 1) * scale - (align_corners ? 0 : 0.5), at::full_like(fixed, scale)};
  AxisTaps taps;
  if (mode != kBicubic) {
    place = padded(place, size, padding_mode, align_corners);
  }
  if (mode == kNearest) {
    taps.add(place.value.round(), size, at::ones_like(fixed), at::zeros_like(fixed));
    return taps;
  }
  const Tensor first = place.value.floor();
  // Moves with x as the padding lets it.
  const Tensor after = place.value - first + place.slope * (x - fixed);
  if (mode == kBilinear) {
    taps.add(first, size, 1 - after, -place.slope);
    taps.add(first + 1, size, after, place.slope);
    return taps;
  }
  const Tensor weights[] = {cubic_far(after + 1), cubic_near(after), cubic_near(1 - after), cubic_far(2 - after)};
  const Tensor slopes[] = {
      cubic_far_slope(after + 1), cubic_near_slope(after), -cubic_near_slope(1 - after), -cubic_far_slope(2 - after)};
  for (int64_t k = 0; k < 4; ++k) {
    const Coordinate tap = padded({first + (k - 1), place.slope}, size, padding_mode, align_corners);
    taps.add(tap.value, size, weights[k], slopes[k] * scale);
  }
  return taps;
}

/// The elements that samples are made of: one for each choice of a tap along each dimension.
class Taps {
 public:
  /// `grid` has sizes [batch, samples, dimensions].
  Taps(const Tensor& input, const Tensor& grid, int64_t mode, int64_t padding_mode, bool align_corners)
      : sizes_(input.sizes().slice(2).vec()), channels_(input.size(1)) {
    std::reverse(sizes_.begin(), sizes_.end()); // the grid's first coordinate goes along the last dimension
    for (size_t a = 0; a < sizes_.size(); ++a) {
      axes_.push_back(
          taps_along(grid.select(-1, static_cast<int64_t>(a)), sizes_[a], mode, padding_mode, align_corners));
      choices_ *= axes_[a].index.size();
    }
  }

  size_t choices() const {
    return choices_;
  }
  size_t dims() const {
    return axes_.size();
  }
  /// The element in each channel of a flat image.
  Tensor index(size_t choice) const {
    Tensor element;
    int64_t step = 1;
    for (size_t a = 0; a < dims(); ++a) {
      const Tensor& along = axes_[a].index[tap(choice, a)];
      element = a == 0 ? along : element + along * step;
      step *= sizes_[a];
    }
    return element.unsqueeze(1).expand({element.size(0), channels_, element.size(1)});
  }
  Tensor is_inside(size_t choice) const {
    Tensor inside;
    for (size_t a = 0; a < dims(); ++a) {
      const Tensor& along = axes_[a].is_inside[tap(choice, a)];
      inside = a == 0 ? along : inside.logical_and(along);
    }
    return inside;
  }
  Tensor weight(size_t choice) const {
    return product(choice, dims());
  }
  /// How the weight moves with the grid's coordinate `a`.
  Tensor slope(size_t choice, size_t a) const {
    return product(choice, a);
  }

 private:
  size_t tap(size_t choice, size_t a) const {
    for (size_t b = 0; b < a; ++b) {
      choice /= axes_[b].index.size();
    }
    return choice % axes_[a].index.size();
  }
  /// Of the weights, with the slope in the place of that of dimension `moved`.
  Tensor product(size_t choice, size_t moved) const {
    Tensor result;
    for (size_t a = 0; a < dims(); ++a) {
      const AxisTaps& axis = axes_[a];
      const Tensor& factor = a == moved ? axis.slope[tap(choice, a)] : axis.weight[tap(choice, a)];
      result = a == 0 ? factor : result * factor;
    }
    return result;
  }

  std::vector<int64_t> sizes_;
  int64_t channels_;
  std::vector<AxisTaps> axes_;
  size_t choices_ = 1;
};

} // namespace

/// Gradients of grid_sampler_2d and grid_sampler_3d for (input, grid): by their kernels, and by operators where these
/// gradients are to be differentiated again.
std::tuple<Tensor, Tensor> grid_sampler_gradients(
    const Tensor& grad,
    const Tensor& input,
    const Tensor& grid,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    std::array<bool, 2> mask) {
  const int64_t dims = input.dim() - 2;
  if (!is_differentiated_again(grad, input, grid)) {
    return dims == 2
        ? at::grid_sampler_2d_backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, mask)
        : at::grid_sampler_3d_backward(grad, input, grid, interpolation_mode, padding_mode, align_corners, mask);
  }
  const Tensor grads = grad.flatten(2), elements = input.flatten(2);
  const Taps taps(input, grid.reshape({input.size(0), -1, dims}), interpolation_mode, padding_mode, align_corners);
  Tensor to_input = at::zeros_like(elements, at::MemoryFormat::Contiguous);
  std::vector<Tensor> to_places(taps.dims());
  for (size_t choice = 0; choice < taps.choices(); ++choice) {
    const Tensor index = taps.index(choice), is_inside = taps.is_inside(choice);
    if (mask[0]) {
      to_input = to_input.scatter_add(2, index, grads * (taps.weight(choice) * is_inside).unsqueeze(1));
    }
    if (!mask[1]) {
      continue;
    }
    const Tensor share = (grads * elements.gather(2, index)).sum(1) * is_inside;
    for (size_t a = 0; a < taps.dims(); ++a) {
      to_places[a] = sum_of(to_places[a], share * taps.slope(choice, a));
    }
  }
  return {
      mask[0] ? to_input.view(input.sizes()) : Tensor(),
      mask[1] ? at::stack(to_places, -1).view(grid.sizes()) : Tensor()};
}

Tensor grid_sampler_tangent(
    const Tensor& input,
    const Tensor& input_t,
    const Tensor& grid,
    const Tensor& grid_t,
    int64_t interpolation_mode,
    int64_t padding_mode,
    bool align_corners,
    const Tensor& result) {
  const int64_t dims = input.dim() - 2;
  Tensor tangent;
  if (input_t.defined()) {
    tangent = dims == 2 ? at::grid_sampler_2d(input_t, grid, interpolation_mode, padding_mode, align_corners)
                        : at::grid_sampler_3d(input_t, grid, interpolation_mode, padding_mode, align_corners);
  }
  if (!grid_t.defined()) {
    return tangent;
  }
  const c10::DimVector rows{input.size(0), -1, dims};
  const Taps taps(input, grid.reshape(rows), interpolation_mode, padding_mode, align_corners);
  const Tensor elements = input.flatten(2), moves = grid_t.reshape(rows);
  Tensor sum;
  for (size_t choice = 0; choice < taps.choices(); ++choice) {
    Tensor change;
    for (size_t a = 0; a < taps.dims(); ++a) {
      change = sum_of(change, taps.slope(choice, a) * moves.select(-1, static_cast<int64_t>(a)));
    }
    const Tensor shares = (change * taps.is_inside(choice)).unsqueeze(1);
    sum = sum_of(sum, elements.gather(2, taps.index(choice)) * shares);
  }
  return sum_of(tangent, sum.reshape(result.sizes()));
}

} // namespace torch::autograd::formulas
