// What a Fourier transform is to cuFFT, and the plans made so far.
#pragma once

#include <aten/core/TensorBase.h>
#include <c10/util/DimVector.h>

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace at::native::cuda {

using c10::DimVector;

/// The most dimensions that one call of cuFFT transforms.
inline constexpr std::int64_t kFftDims = 3;

/// Elements of a batch of blocks: block b has its element (x0, ..., xk) at
/// b * distance + ((x0 * embed[1] + x1) * embed[2] + x2) * stride.
struct FftLayout {
  std::int64_t stride = 1, distance = 0;
  std::array<long long, kFftDims> embed{};

  auto operator<=>(const FftLayout&) const = default;
};

/// The dimensions of a tensor in their order for cuFFT.
struct FftDims {
  DimVector batch, signal;
};

/// `signal`, and in front of it the other dimensions of t, those with large strides first.
FftDims fft_dims(const TensorBase& t, IntArrayRef signal);

/// The layout of t's memory, if cuFFT can express it. `unit_stride`: the innermost one must be dense.
std::optional<FftLayout> fft_layout(const TensorBase& t, const FftDims& dims, bool unit_stride);

/// Everything that tells one plan from another on one device.
struct FftKey {
  int in_type, out_type, compute_type; // cudaDataType
  std::int64_t rank, batch;
  std::array<long long, kFftDims> sizes;
  FftLayout in, out;

  auto operator<=>(const FftKey&) const = default;
};

/// The plans last used, as many as `max_size`.
template <class Plan>
class FftPlanCache {
 public:
  static constexpr std::int64_t kDefaultSize = 4096;

  /// A plan may be used by one thread at a time: hold this while calling anything here and running a plan.
  std::mutex& mutex() {
    return mutex_;
  }

  template <class Make>
  Plan& get(const FftKey& key, const Make& make) {
    if (const auto found = places_.find(key); found != places_.end()) {
      plans_.splice(plans_.begin(), plans_, found->second);
    } else {
      // Where nothing may be kept, one plan lives until the next is made.
      shrink(std::max<std::int64_t>(max_size_, 1) - 1);
      plans_.emplace_front(key, make());
      places_[key] = plans_.begin();
    }
    return *plans_.front().second;
  }
  std::int64_t size() const {
    return static_cast<std::int64_t>(plans_.size());
  }
  std::int64_t max_size() const {
    return max_size_;
  }
  void set_max_size(std::int64_t size) {
    max_size_ = size;
    shrink(size);
  }
  void clear() {
    shrink(0);
  }

 private:
  using Plans = std::list<std::pair<FftKey, std::unique_ptr<Plan>>>; // the last used first

  void shrink(std::int64_t size) {
    while (this->size() > size) {
      places_.erase(plans_.back().first);
      plans_.pop_back();
    }
  }

  std::mutex mutex_;
  Plans plans_;
  std::map<FftKey, typename Plans::iterator> places_;
  std::int64_t max_size_ = kDefaultSize;
};

} // namespace at::native::cuda
