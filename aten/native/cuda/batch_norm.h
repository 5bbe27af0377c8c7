// Launches of batch and group normalization: statistics of channels, and what is done with them to each element.
#pragma once

#include <aten/native/cuda/fast_division.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

// Statistics and factors of channels are computed in float, or double where elements are: "wide" below.

/// Dense elements as outer x channels x inner. With channels last, inner is 1.
struct Channels {
  std::int64_t outer, channels, inner;
  c10::ScalarType dtype; // floating
  cudaStream_t stream;

  std::int64_t numel() const {
    return outer * channels * inner;
  }
};

/// A number for each channel, wide or in the dtype of the elements; null where there are none or none are wanted.
template <class Data>
struct ChannelNumbers {
  Data* data = nullptr;
  bool narrow = false;
};
using GivenNumbers = ChannelNumbers<const void>;
using WantedNumbers = ChannelNumbers<void>;

/// Blocks that share the elements of a channel.
int channel_splits(const Channels& p, int multiprocessors);

/// What becomes of the mean and the variance (of all elements, not of a sample) of a channel.
struct MomentsTo {
  WantedNumbers mean, invstd, variance;
  WantedNumbers save_mean, save_invstd; // the first two once more
  WantedNumbers running_mean, running_var; // moved towards the statistics
  double eps, momentum;
};
/// One launch, or two where channels are split: then `parts` holds 3 wide numbers for each channel and split.
void launch_channel_moments(const Channels& p, int splits, const void* x, void* parts, const MomentsTo& to);

/// What becomes of the sums of g and of g (x - mean) over a channel: the sums themselves, gradients of the weight and
/// the bias, and the factors of the gradient of x: dx = g * g_factor + (x - mean) * factor + offset. All but the
/// gradients are wide.
struct SumsTo {
  void *sum, *moment;
  WantedNumbers grad_weight, grad_bias;
  void *factor, *offset, *g_factor; // all or none
  GivenNumbers spread; // 1 / deviation; where statistics are given, the variance
  GivenNumbers weight;
  bool training; // statistics depend on x
  double count, eps; // elements of a channel
};
/// `width` channels after each other share a mean. As many launches as launch_channel_moments; `parts` has 2 numbers
/// instead of 3.
void launch_channel_sums(
    const Channels& p,
    int splits,
    const void* g,
    const void* x,
    GivenNumbers mean,
    std::int64_t width,
    void* parts,
    const SumsTo& to);

/// out = (x - mean) * spread * weight + bias. `width` channels after each other share a mean and a spread; weights and
/// biases begin anew after `period` channels.
struct ChannelAffine {
  GivenNumbers mean, spread, weight, bias;
  bool spread_is_variance; // else 1 / deviation
  double eps;
  std::int64_t width, period;
};
void launch_channel_affine(const Channels& p, const void* x, const ChannelAffine& by, void* out);

/// dx as SumsTo tells.
struct ChannelGradient {
  GivenNumbers mean;
  std::int64_t width;
  const void *factor, *offset, *g_factor;
};
void launch_channel_gradient(const Channels& p, const void* x, const void* g, const ChannelGradient& by, void* out);

/// Samples of `groups` groups of `width` channels each, of `spatial` elements.
struct GroupNorm {
  std::int64_t samples, groups, width, spatial;
  c10::ScalarType dtype;
  cudaStream_t stream;
};
/// From the sums of each channel of each sample to the factors for its elements.
void launch_group_norm_factors(
    const GroupNorm& p,
    GivenNumbers rstd,
    GivenNumbers weight,
    const void* sum,
    const void* moment,
    void* factor,
    void* offset,
    void* g_factor);
/// Gradients of the weight and the bias from the same sums, over all samples.
void launch_group_norm_weights(
    const GroupNorm& p,
    GivenNumbers rstd,
    const void* sum,
    const void* moment,
    WantedNumbers grad_weight,
    WantedNumbers grad_bias);

} // namespace at::native::cuda
