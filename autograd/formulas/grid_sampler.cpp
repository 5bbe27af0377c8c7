// Derivatives of sampling at given points.
#include <aten/Functions.h>
#include <aten/core/TensorOperators.h>
#include <autograd/formulas/shared.h>

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
  const int64_t batch = input.size(0), channels = input.size(1);
  const Tensor places = grid.reshape({batch, -1, dims}), grads = grad.flatten(2), elements = input.flatten(2);
  std::vector<AxisTaps> axes; // the grid's first coordinate goes along the last dimension
  int64_t choices = 1;
  for (int64_t a = 0; a < dims; ++a) {
    axes.push_back(
        taps_along(places.select(-1, a), input.size(-1 - a), interpolation_mode, padding_mode, align_corners));
    choices *= static_cast<int64_t>(axes[a].index.size());
  }
  Tensor to_input = at::zeros_like(elements, at::MemoryFormat::Contiguous);
  std::vector<Tensor> to_places(dims);
  for (int64_t choice = 0; choice < choices; ++choice) {
    std::vector<int64_t> tap(dims);
    Tensor at_element, is_inside, weight;
    int64_t left = choice, step = 1;
    for (int64_t a = 0; a < dims; ++a) {
      const AxisTaps& axis = axes[a];
      tap[a] = left % static_cast<int64_t>(axis.index.size());
      left /= static_cast<int64_t>(axis.index.size());
      at_element = a == 0 ? axis.index[tap[a]] : at_element + axis.index[tap[a]] * step;
      is_inside = a == 0 ? axis.is_inside[tap[a]] : is_inside.logical_and(axis.is_inside[tap[a]]);
      weight = a == 0 ? axis.weight[tap[a]] : weight * axis.weight[tap[a]];
      step *= input.size(-1 - a);
    }
    const Tensor index = at_element.unsqueeze(1).expand({batch, channels, at_element.size(1)});
    if (mask[0]) {
      to_input = to_input.scatter_add(2, index, grads * (weight * is_inside).unsqueeze(1));
    }
    if (!mask[1]) {
      continue;
    }
    const Tensor share = (grads * elements.gather(2, index)).sum(1) * is_inside;
    for (int64_t a = 0; a < dims; ++a) {
      Tensor moves = share * axes[a].slope[tap[a]];
      for (int64_t b = 0; b < dims; ++b) {
        if (b != a) {
          moves = moves * axes[b].weight[tap[b]];
        }
      }
      to_places[a] = choice == 0 ? moves : to_places[a] + moves;
    }
  }
  return {
      mask[0] ? to_input.view(input.sizes()) : Tensor(),
      mask[1] ? at::stack(to_places, -1).view(grid.sizes()) : Tensor()};
}

} // namespace torch::autograd::formulas
