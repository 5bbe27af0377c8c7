// Convolutions and their gradients: a batch of inputs joins the inputs that are there, a batch of weights the groups.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/ops/convolution.h>
#include <aten/ops/convolution_backward.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <array>
#include <optional>
#include <tuple>

namespace at::functorch {

namespace {

using Optional = std::optional<Tensor>;

struct Geometry {
  IntArrayRef stride, padding, dilation;
  bool transposed;
  IntArrayRef output_padding;
  int64_t groups;
};

/// [B, ..., n, ...] with the batch in front -> [..., B * n, ...], where n was dimension `dim` of a sample.
Tensor join(const Tensor& batch_first, int64_t dim) {
  const Tensor moved = batch_first.movedim(0, dim);
  return moved.flatten(dim, dim + 1);
}

/// The other way round, with the batch in front.
Tensor separate(const Tensor& joined, int64_t dim, int64_t batch) {
  c10::DimVector sizes(joined.sizes().begin(), joined.sizes().end());
  const auto place = static_cast<size_t>(dim);
  sizes[place] /= std::max<int64_t>(batch, 1);
  sizes.insert(sizes.begin() + dim, batch);
  return joined.reshape(sizes).movedim(dim, 0);
}

Tensor call(const Tensor& input, const Tensor& weight, const Optional& bias, const Geometry& g, int64_t groups) {
  return at::convolution(input, weight, bias, g.stride, g.padding, g.dilation, g.transposed, g.output_padding, groups);
}

/// The bias of each sample over results with the batch in front.
Tensor add_bias(const Tensor& result, const Tensor& bias, int64_t batch, int64_t channels) {
  c10::DimVector sizes(static_cast<size_t>(result.dim()), 1);
  sizes[0] = batch;
  sizes[2] = channels;
  return result + bias.reshape(sizes);
}

Tensor convolution(
    const Tensor& input,
    const Tensor& weight,
    const Optional& bias,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups) {
  const Geometry g{stride, padding, dilation, transposed, output_padding, groups};
  TORCH_CHECK(
      input.dim() == weight.dim() && weight.dim() >= 3, "convolution: input ", input.sizes(), " and weight ",
      weight.sizes(), " must have the same number of dimensions, at least 3");
  const Tensor added = bias.value_or(Tensor());
  const VmapLevelPtr level = level_of({input, weight, added}, "convolution");
  if (level->batch_size == 0) {
    return call_without_samples(
        level, [](const auto&... arguments) { return at::convolution(arguments...); }, input, weight, bias, stride,
        padding, dilation, transposed, output_padding, groups);
  }
  const int64_t batch = level->batch_size;
  const BatchedValue x = value_at(input, *level), w = value_at(weight, *level);
  const BatchedValue b = added.defined() ? value_at(added, *level) : BatchedValue{};
  const Optional shared_bias = added.defined() && !b.is_batched() && !w.is_batched() ? bias : std::nullopt;

  Tensor result;
  if (!w.is_batched() && !x.is_batched()) { // the bias alone
    result = call(input, weight, std::nullopt, g, groups).unsqueeze(0);
  } else if (!w.is_batched()) {
    result = separate(call(join(x.batch_first(), 0), weight, shared_bias, g, groups), 0, batch);
  } else if (!x.is_batched() && groups == 1) {
    result = separate(call(input, join(w.batch_first(), transposed ? 1 : 0), std::nullopt, g, 1), 1, batch);
  } else {
    const Tensor inputs = join(x.with_batch(batch), 1), weights = join(w.batch_first(), 0);
    result = separate(call(inputs, weights, std::nullopt, g, groups * batch), 1, batch);
  }
  if (added.defined() && !shared_bias) {
    result = add_bias(result, b.batch_first(), b.is_batched() ? batch : 1, added.numel());
  }
  return makeBatched(result, 0, level);
}

/// Sums over samples of the input and places, of gradients with the batch in front.
Tensor bias_gradient(const Tensor& grads) {
  c10::DimVector dims{1};
  for (int64_t d = 3; d < grads.dim(); ++d) {
    dims.push_back(d);
  }
  return grads.sum(dims);
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output,
    const Tensor& input,
    const Tensor& weight,
    OptionalIntArrayRef bias_sizes,
    IntArrayRef stride,
    IntArrayRef padding,
    IntArrayRef dilation,
    bool transposed,
    IntArrayRef output_padding,
    int64_t groups,
    std::array<bool, 3> output_mask) {
  const VmapLevelPtr level = level_of({grad_output, input, weight}, "convolution_backward");
  if (level->batch_size == 0) {
    return call_without_samples(
        level, [](const auto&... arguments) { return at::convolution_backward(arguments...); }, grad_output, input,
        weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask);
  }
  const int64_t batch = level->batch_size;
  const BatchedValue grad = value_at(grad_output, *level), x = value_at(input, *level), w = value_at(weight, *level);
  const auto backward = [&](const Tensor& g, const Tensor& i, const Tensor& k, int64_t count, bool of_input) {
    return at::convolution_backward(
        g, i, k, std::nullopt, stride, padding, dilation, transposed, output_padding, count,
        {of_input, !of_input, false});
  };
  const auto wrap = [&](const Tensor& result) { return makeBatched(result, 0, level); };
  const Tensor grads = grad.with_batch(batch);
  std::tuple<Tensor, Tensor, Tensor> results;
  // With a batch in the groups each sample has a weight of its own, and so a gradient of it.
  const auto grouped = [&](bool of_input) {
    return backward(
        join(grads, 1), join(x.with_batch(batch), 1), join(w.with_batch(batch), 0), groups * batch, of_input);
  };
  if (output_mask[0]) {
    std::get<0>(results) = w.is_batched()
        ? wrap(separate(std::get<0>(grouped(true)), 1, batch))
        : wrap(separate(
              std::get<0>(backward(join(grads, 0), join(x.with_batch(batch), 0), weight, groups, true)), 0, batch));
  }
  if (output_mask[1]) {
    std::get<1>(results) = wrap(separate(std::get<1>(grouped(false)), 0, batch));
  }
  if (output_mask[2]) {
    std::get<2>(results) = wrap(bias_gradient(grads));
  }
  return results;
}

constexpr c10::impl::BuiltinKernelRow kConvolutionRules[] = {
    rule_for<&convolution>("aten::convolution"),
    rule_for<&convolution_backward>("aten::convolution_backward"),
};
const c10::impl::BuiltinKernels kConvolutionRulesRegistered(kConvolutionRules);

} // namespace

} // namespace at::functorch
