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

/// Images of handwritten digits (LeCun, Cortes and Burges 1998), or any others in files of that format and those names,
/// as Fashion-MNIST and KMNIST are. The folder holds train-images-idx3-ubyte and train-labels-idx1-ubyte, for tests
/// t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte, unpacked. The files are mapped; copies of the dataset share them.
class TORCH_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Throws c10::Error with the file's name and what is wrong when files are missing, damaged or do not belong
  /// together.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  /// An image [1, height, width], float from 0 to 1, and its label, int64 without dimensions.
  Example<> get(size_t index) override;
  std::optional<size_t> size() const override;

  bool is_train() const noexcept {
    return mode_ == Mode::kTrain;
  }
  /// All images [n, 1, height, width] as floats, made when first asked for; and all labels [n].
  const Tensor& images() const;
  const Tensor& targets() const;

 private:
  c10::SharedOf<detail::ByteImages> data_;
  Mode mode_;
};

} // namespace torch::data::datasets
