// Transforms of the tensors in examples.
#pragma once

#include <csrc/data/example.h>
#include <csrc/data/transforms/base.h>

#include <functional>
#include <utility>

namespace torch::data::transforms {

/// Changes the data of an example and leaves the target.
template <typename Target = Tensor>
class TensorTransform : public Transform<Example<Tensor, Target>, Example<Tensor, Target>> {
 public:
  using E = Example<Tensor, Target>;
  using typename Transform<E, E>::InputType;
  using typename Transform<E, E>::OutputType;

  virtual Tensor operator()(Tensor input) = 0;

  OutputType apply(InputType input) override {
    input.data = (*this)(std::move(input.data));
    return input;
  }
};

/// Made of a function.
template <typename Target = Tensor>
class TensorLambda : public TensorTransform<Target> {
 public:
  using FunctionType = std::function<Tensor(Tensor)>;

  explicit TensorLambda(FunctionType function) : function_(std::move(function)) {}

  Tensor operator()(Tensor input) override {
    return function_(std::move(input));
  }

 private:
  FunctionType function_;
};

namespace detail {
/// Values for each channel of images [channels, height, width], as float.
TORCH_API Tensor channel_values(c10::ArrayRef<double> values);
/// (input - mean) / stddev
TORCH_API Tensor normalize(const Tensor& input, const Tensor& mean, const Tensor& stddev);
} // namespace detail

/// Subtracts the mean and divides by the standard deviation of each channel, or of all if one number is given. Images
/// are [channels, height, width].
template <typename Target = Tensor>
struct Normalize : public TensorTransform<Target> {
  Normalize(c10::ArrayRef<double> mean, c10::ArrayRef<double> stddev)
      : mean(detail::channel_values(mean)), stddev(detail::channel_values(stddev)) {}

  Tensor operator()(Tensor input) override {
    return detail::normalize(input, mean, stddev);
  }

  Tensor mean, stddev;
};

} // namespace torch::data::transforms
