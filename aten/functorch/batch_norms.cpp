// Normalizations: what is normalized stays as it is, and weights of each sample are applied to all of them after it.
#include <aten/functorch/batch_rules.h>

#include <aten/core/Tensor.h>
#include <aten/core/TensorOperators.h>
#include <aten/ops/_fused_rms_norm.h>
#include <aten/ops/native_batch_norm.h>
#include <aten/ops/native_batch_norm_backward.h>
#include <aten/ops/native_group_norm.h>
#include <aten/ops/native_group_norm_backward.h>
#include <aten/ops/native_layer_norm.h>
#include <aten/ops/native_layer_norm_backward.h>
#include <c10/util/DimVector.h>
#include <c10/util/Exception.h>

#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <vector>

namespace at::functorch {

namespace {

using Optional = std::optional<Tensor>;
using Three = std::tuple<Tensor, Tensor, Tensor>;

Tensor or_undefined(const Optional& tensor) {
  return tensor.value_or(Tensor());
}
bool has_batch(const Optional& tensor) {
  return tensor.has_value() && isBatchedTensor(*tensor);
}

// ---- channels: a batch of them joins those that are there
// -------------------------------------------------------------

/// [B, N, C, ...] -> [N, B * C, ...]
Tensor join_channels(const Tensor& batch_first) {
  return batch_first.movedim(0, 1).flatten(1, 2);
}
/// [N, B * C, ...] -> [B, N, C, ...]
Tensor separate_channels(const Tensor& joined, int64_t batch, int64_t channels) {
  c10::DimVector sizes{joined.size(0), batch, channels};
  sizes.append(joined.sizes().begin() + 2, joined.sizes().end());
  return joined.reshape(sizes).movedim(1, 0);
}

struct Channels {
  VmapLevelPtr level;
  int64_t batch;
  int64_t channels;

  Optional joined(const Optional& of_channels) const {
    return is_given(of_channels) ? Optional(value_at(*of_channels, *level).with_batch(batch).reshape({-1}))
                                 : std::nullopt;
  }
  /// [B * C] as samples; empty results stay empty.
  Tensor separate(const Tensor& of_channels) const {
    return makeBatched(
        of_channels.numel() == 0 && batch * channels != 0 ? of_channels.expand({0}).unsqueeze(0).expand({batch, 0})
                                                          : of_channels.reshape({batch, -1}),
        0, level);
  }
};

/// Statistics that are changed in place are written back to where they came from.
void write_back(const Optional& running, const Optional& joined, const Channels& c) {
  if (!is_given(running)) {
    return;
  }
  const BatchedValue value = value_at(*running, *c.level);
  TORCH_CHECK(
      value.is_batched(),
      "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
      "were not batched. If you are using a module and do not need these statistics, make it with "
      "track_running_stats(false)");
  const Tensor target = value.batch_first();
  if (value_below_all_levels(target).data_ptr() != value_below_all_levels(*joined).data_ptr()) {
    target.copy_(joined->view(target.sizes()));
  }
}

Three batch_norm(
    const Tensor& input,
    const Optional& weight,
    const Optional& bias,
    const Optional& running_mean,
    const Optional& running_var,
    bool training,
    double momentum,
    double eps) {
  const VmapLevelPtr level = level_of(
      {input, or_undefined(weight), or_undefined(bias), or_undefined(running_mean), or_undefined(running_var)},
      "batch_norm");
  if (level->batch_size == 0) {
    return call_without_samples(
        level, [](const auto&... arguments) { return at::native_batch_norm(arguments...); }, input, weight, bias,
        running_mean, running_var, training, momentum, eps);
  }
  const Channels c{level, level->batch_size, input.size(1)};
  const Optional mean = c.joined(running_mean), var = c.joined(running_var);
  const Tensor joined = join_channels(value_at(input, *level).with_batch(c.batch));
  auto [output, save_mean, save_invstd] =
      at::native_batch_norm(joined, c.joined(weight), c.joined(bias), mean, var, training, momentum, eps);
  if (training) {
    const NoGradGuard no_grad;
    write_back(running_mean, mean, c);
    write_back(running_var, var, c);
  }
  return {
      makeBatched(separate_channels(output, c.batch, c.channels), 0, level), c.separate(save_mean),
      c.separate(save_invstd)};
}

Three batch_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    const Optional& weight,
    const Optional& running_mean,
    const Optional& running_var,
    const Optional& save_mean,
    const Optional& save_invstd,
    bool train,
    double eps,
    std::array<bool, 3> output_mask) {
  const VmapLevelPtr level = level_of(
      {grad_out, input, or_undefined(weight), or_undefined(running_mean), or_undefined(running_var),
       or_undefined(save_mean), or_undefined(save_invstd)},
      "native_batch_norm_backward");
  if (level->batch_size == 0) {
    return call_without_samples(
        level, [](const auto&... arguments) { return at::native_batch_norm_backward(arguments...); }, grad_out, input,
        weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask);
  }
  const Channels c{level, level->batch_size, input.size(1)};
  const auto joined = [&](const Tensor& t) { return join_channels(value_at(t, *level).with_batch(c.batch)); };
  const auto [grad_input, grad_weight, grad_bias] = at::native_batch_norm_backward(
      joined(grad_out), joined(input), c.joined(weight), c.joined(running_mean), c.joined(running_var),
      c.joined(save_mean), c.joined(save_invstd), train, eps, output_mask);
  Three results;
  if (output_mask[0]) {
    std::get<0>(results) = makeBatched(separate_channels(grad_input, c.batch, c.channels), 0, level);
  }
  if (output_mask[1]) {
    std::get<1>(results) = c.separate(grad_weight);
  }
  if (output_mask[2]) {
    std::get<2>(results) = c.separate(grad_bias);
  }
  return results;
}

// ---- the last dimensions
// ----------------------------------------------------------------------------------------------

Three layer_norm(
    const Tensor& input, IntArrayRef normalized_shape, const Optional& weight, const Optional& bias, double eps) {
  if (!isBatchedTensor(input) || has_batch(weight) || has_batch(bias)) {
    auto [output, mean, rstd] = at::native_layer_norm(input, normalized_shape, std::nullopt, std::nullopt, eps);
    output = is_given(weight) ? output * *weight : output;
    return {is_given(bias) ? output + *bias : output, mean, rstd};
  }
  const VmapLevelPtr level = level_of({input}, "layer_norm");
  const auto [output, mean, rstd] =
      at::native_layer_norm(value_at(input, *level).batch_first(), normalized_shape, weight, bias, eps);
  return {makeBatched(output, 0, level), makeBatched(mean, 0, level), makeBatched(rstd, 0, level)};
}

std::tuple<Tensor, Tensor> rms_norm(
    const Tensor& input, IntArrayRef normalized_shape, const Optional& weight, std::optional<double> eps) {
  if (!isBatchedTensor(input) || has_batch(weight)) {
    const auto [output, rstd] = at::_fused_rms_norm(input, normalized_shape, std::nullopt, eps);
    return {is_given(weight) ? output * *weight : output, rstd};
  }
  const VmapLevelPtr level = level_of({input}, "rms_norm");
  const auto [output, rstd] = at::_fused_rms_norm(value_at(input, *level).batch_first(), normalized_shape, weight, eps);
  return {makeBatched(output, 0, level), makeBatched(rstd, 0, level)};
}

/// The dimensions of a sample that weights do not have.
c10::DimVector leading_dims(const Tensor& tensor, size_t normalized) {
  c10::DimVector dims(static_cast<size_t>(tensor.dim()) - normalized);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Tensor summed(const Tensor& tensor, const c10::DimVector& dims) {
  return dims.empty() ? tensor : tensor.sum(dims);
}

Three layer_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    IntArrayRef normalized_shape,
    const Tensor& mean,
    const Tensor& rstd,
    const Optional& weight,
    const Optional& /*bias*/,
    std::array<bool, 3> output_mask) {
  Three results;
  const c10::DimVector leading = leading_dims(input, normalized_shape.size());
  if (output_mask[0]) {
    const Tensor grad = is_given(weight) ? grad_out * *weight : grad_out;
    const VmapLevelPtr level = level_of({grad, input, mean, rstd}, "native_layer_norm_backward");
    if (level) {
      const auto value = [&](const Tensor& t) { return value_at(t, *level).with_batch(level->batch_size); };
      const auto [of_input, of_weight, of_bias] = at::native_layer_norm_backward(
          value(grad), value(input), normalized_shape, value(mean), value(rstd), std::nullopt, std::nullopt,
          {true, false, false});
      std::get<0>(results) = makeBatched(of_input, 0, level);
    }
  }
  if (output_mask[1]) {
    std::get<1>(results) = summed(grad_out * (input - mean) * rstd, leading);
  }
  if (output_mask[2]) {
    std::get<2>(results) = summed(grad_out, leading);
  }
  return results;
}

// ---- groups of channels
// -----------------------------------------------------------------------------------------------

/// A vector of channels over tensors of sizes [N, C, ...].
Tensor over_channels(const Tensor& vector, const Tensor& like) {
  c10::DimVector sizes(static_cast<size_t>(like.dim()), 1);
  sizes[1] = vector.numel();
  return vector.reshape(sizes);
}

Three group_norm(
    const Tensor& input,
    const Optional& weight,
    const Optional& bias,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    double eps) {
  Tensor output = input, mean, rstd;
  if (const VmapLevelPtr level = level_of({input}, "group_norm")) {
    const Tensor value = value_at(input, *level).batch_first();
    const int64_t batch = level->batch_size;
    const auto [normal, means, rstds] =
        at::native_group_norm(value.flatten(0, 1), std::nullopt, std::nullopt, batch * N, C, HxW, group, eps);
    output = makeBatched(normal.reshape(value.sizes()), 0, level);
    mean = makeBatched(means.reshape({batch, N, group}), 0, level);
    rstd = makeBatched(rstds.reshape({batch, N, group}), 0, level);
  } else {
    std::tie(output, mean, rstd) = at::native_group_norm(input, std::nullopt, std::nullopt, N, C, HxW, group, eps);
  }
  output = is_given(weight) ? output * over_channels(*weight, input) : output;
  output = is_given(bias) ? output + over_channels(*bias, input) : output;
  return {output, mean, rstd};
}

Three group_norm_backward(
    const Tensor& grad_out,
    const Tensor& input,
    const Tensor& mean,
    const Tensor& rstd,
    const Optional& weight,
    int64_t N,
    int64_t C,
    int64_t HxW,
    int64_t group,
    std::array<bool, 3> output_mask) {
  Three results;
  if (output_mask[0]) {
    const Tensor grad = is_given(weight) ? grad_out * over_channels(*weight, input) : grad_out;
    const VmapLevelPtr level = level_of({grad, input, mean, rstd}, "native_group_norm_backward");
    const int64_t batch = level->batch_size;
    const auto value = [&](const Tensor& t) {
      return value_at(t, *level).with_batch(batch).flatten(0, 1).contiguous();
    };
    const auto [of_input, of_weight, of_bias] = at::native_group_norm_backward(
        value(grad), value(input), value(mean), value(rstd), std::nullopt, batch * N, C, HxW, group,
        {true, false, false});
    c10::DimVector sizes{batch};
    sizes.append(input.sizes().begin(), input.sizes().end());
    std::get<0>(results) = makeBatched(of_input.reshape(sizes), 0, level);
  }
  const auto by_channel = [&](const Tensor& t) { return t.reshape({N, C, HxW}).sum({0, 2}); };
  if (output_mask[1]) {
    const auto of_groups = [&](const Tensor& t) { return t.reshape({N, group, 1, 1}); };
    const Tensor grouped = input.reshape({N, group, C / group, HxW});
    const Tensor normal = (grouped - of_groups(mean)) * of_groups(rstd);
    std::get<1>(results) = by_channel(grad_out.reshape({N, C, HxW}) * normal.reshape({N, C, HxW}));
  }
  if (output_mask[2]) {
    std::get<2>(results) = by_channel(grad_out);
  }
  return results;
}

constexpr c10::impl::BuiltinKernelRow kNormsRules[] = {
    rule_for<&batch_norm>("aten::native_batch_norm"),
    rule_for<&batch_norm_backward>("aten::native_batch_norm_backward"),
    rule_for<&layer_norm>("aten::native_layer_norm"),
    rule_for<&layer_norm_backward>("aten::native_layer_norm_backward"),
    rule_for<&rms_norm>("aten::_fused_rms_norm"),
    rule_for<&group_norm>("aten::native_group_norm"),
    rule_for<&group_norm_backward>("aten::native_group_norm_backward"),
};
const c10::impl::BuiltinKernels kNormsRulesRegistered(kNormsRules);

} // namespace

} // namespace at::functorch
