// The CIFAR images (Krizhevsky 2009) in their binary version. (Not in libtorch; names as torchvision's.)
#pragma once

#include <c10/util/SharedOf.h>
#include <csrc/data/datasets/base.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace torch::data::datasets {

namespace detail {
class ByteImages;
} // namespace detail

/// Images of 10 classes. The folder, or cifar-10-batches-bin in it, holds data_batch_1.bin to data_batch_5.bin and
/// test_batch.bin. The files are mapped; copies of the dataset share them.
class TORCH_API CIFAR10 : public Dataset<CIFAR10> {
 public:
  enum class Mode { kTrain, kTest };

  /// Throws c10::Error with the file's name and what is wrong when a file is missing or damaged.
  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);

  /// An image [3, 32, 32] (red, green, blue), float from 0 to 1, and its class, int64 without dimensions.
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;

  bool is_train() const noexcept {
    return mode_ == Mode::kTrain;
  }
  /// All images [n, 3, 32, 32] as floats, made when first asked for; and all classes [n].
  const Tensor& images() const;
  const Tensor& targets() const;

 private:
  c10::SharedOf<detail::ByteImages> data_;
  Mode mode_;
};

/// Images of 100 classes in 20 groups. The folder, or cifar-100-binary in it, holds train.bin and test.bin.
class TORCH_API CIFAR100 : public Dataset<CIFAR100> {
 public:
  enum class Mode { kTrain, kTest };

  /// Throws c10::Error with the file's name and what is wrong when a file is missing or damaged.
  explicit CIFAR100(const std::string& root, Mode mode = Mode::kTrain);

  /// An image [3, 32, 32] (red, green, blue), float from 0 to 1, and its class, int64 without dimensions.
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;

  bool is_train() const noexcept {
    return mode_ == Mode::kTrain;
  }
  /// All images [n, 3, 32, 32] as floats, made when first asked for; all classes [n], and the groups of the classes
  /// [n].
  const Tensor& images() const;
  const Tensor& targets() const;
  const Tensor& coarse_targets() const {
    return coarse_targets_;
  }

 private:
  c10::SharedOf<detail::ByteImages> data_;
  Tensor coarse_targets_;
  Mode mode_;
};

} // namespace torch::data::datasets
