// Launches of batch and group normalization: statistics of channels, and what is done with them to each element.
#pragma once

#include <aten/native/cuda/fast_division.h>
#include <c10/core/ScalarType.h>

#include <cuda_runtime_api.h>

#include <cstdint>

namespace at::native::cuda {

// Statistics and factors of channels are float, or double where elements are.

/// Dense elements as outer x channels x inner. With channels last, inner is 1.
struct Channels {
  std::int64_t outer, channels, inner;
  c10::ScalarType dtype; // floating
  cudaStream_t stream;

  std::int64_t numel() const {
    return outer * channels * inner;
  }
};

/// Blocks that share the elements of a channel.
int channel_splits(const Channels& p, int multiprocessors);

/// The mean and the variance (of all elements, not of a sample) of each channel. `parts` holds 3 numbers for each channel
/// and split.
void launch_channel_moments(const Channels& p, int splits, const void* x, void* parts, void* mean, void* variance);
/// Sums over each channel of g, and of g (x - mean). `parts` holds 2 numbers for each channel and split.
void launch_channel_sums(
    const Channels& p, int splits, const void* g, const void* x, const void* mean, void* parts, void* sum, void* moment);
/// out = (x - mean) * factor + offset + g * g_factor, by channel; no last term where g is null.
void launch_channel_affine(
    const Channels& p, const void* x, const void* g, const void* mean, const void* factor, const void* offset,
    const void* g_factor, void* out);

/// What becomes of statistics: arrays with a number for each channel; null where there is none or none is wanted.
struct BatchNormForward {
  std::int64_t channels;
  bool is_double;
  double count, momentum, eps; // count: elements of a channel
  bool training;
  const void *mean, *variance, *weight, *bias;
  void *invstd, *running_mean, *running_var; // only in training
  void *factor, *offset;
  cudaStream_t stream;
};
void launch_batch_norm_forward(const BatchNormForward& p);

struct BatchNormBackward {
  std::int64_t channels;
  bool is_double, training;
  double count, eps;
  const void *spread; // 1 / deviation in training, else the variance
  const void *weight, *sum, *moment;
  void *grad_weight, *grad_bias;
  void *factor, *offset, *g_factor;
  cudaStream_t stream;
};
void launch_batch_norm_backward(const BatchNormBackward& p);

/// Samples of `groups` groups of `width` channels each, of `spatial` elements.
struct GroupNorm {
  std::int64_t samples, groups, width, spatial;
  bool is_double;
  double eps;
  cudaStream_t stream;
};
/// From statistics of groups to means, factors and offsets of each channel of each sample; fills rstd.
void launch_group_norm_forward(
    const GroupNorm& p, const void* mean, const void* variance, const void* weight, const void* bias, void* rstd,
    void* channel_mean, void* factor, void* offset);
/// Means of groups for each channel of each sample.
void launch_group_norm_means(const GroupNorm& p, const void* mean, void* channel_mean);
/// From the sums of each channel of each sample to the factors for its elements; scales `moment` by rstd.
void launch_group_norm_backward(
    const GroupNorm& p, const void* rstd, const void* weight, const void* sum, void* moment, void* factor, void* offset,
    void* g_factor);

} // namespace at::native::cuda
