#pragma once

#include <csrc/data/example.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace torch::data::datasets::detail {

/// Images with a byte for each pixel and their labels, as files hold them. Pixels become floats from 0 to 1 when they
/// are asked for, so that a mapped file costs memory only where it is read.
class TORCH_API ByteImages {
 public:
  /// Images [n, channels, height, width] in some parts one behind the other; `targets` [n] are int64.
  ByteImages(std::vector<Tensor> parts, Tensor targets);

  /// Throws when there is no such image.
  Example<> get(const char* dataset, size_t index) const;
  size_t size() const {
    return static_cast<size_t>(targets_.size(0));
  }
  /// All images as floats, made when first asked for.
  const Tensor& images() const;
  const Tensor& targets() const {
    return targets_;
  }

 private:
  std::vector<Tensor> parts_;
  std::vector<size_t> ends_;
  Tensor targets_;
  mutable std::once_flag made_images_;
  mutable Tensor images_;
};

} // namespace torch::data::datasets::detail
