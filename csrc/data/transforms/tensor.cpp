#include <csrc/data/transforms/tensor.h>

namespace torch::data::transforms::detail {

Tensor channel_values(c10::ArrayRef<double> values) {
  return at::tensor(values, at::TensorOptions(at::kFloat)).unsqueeze(1).unsqueeze(2);
}

Tensor normalize(const Tensor& input, const Tensor& mean, const Tensor& stddev) {
  return input.sub(mean).div(stddev);
}

} // namespace torch::data::transforms::detail
