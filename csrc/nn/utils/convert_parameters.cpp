#include <csrc/nn/utils/convert_parameters.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

namespace torch::nn::utils {

namespace {

void check_one_device(const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) {
    TORCH_CHECK(
        parameter.device() == parameters.front().device(),
        "Found two parameters on different devices, this is currently not supported: ", parameters.front().device(),
        " and ", parameter.device());
  }
}

} // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  std::vector<Tensor> parts;
  parts.reserve(parameters.size());
  for (const Tensor& parameter : parameters) {
    parts.push_back(parameter.view(-1));
  }
  return at::cat(parts);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  int64_t total = 0;
  for (const Tensor& parameter : parameters) {
    total += parameter.numel();
  }
  TORCH_CHECK(
      vec.dim() == 1 && vec.numel() >= total, "vector_to_parameters: vec has sizes ", vec.sizes(),
      ", but must be a vector of at least ", total, " elements, which the parameters have together");
  int64_t offset = 0;
  for (const Tensor& parameter : parameters) {
    parameter.set_data(vec.narrow(0, offset, parameter.numel()).view_as(parameter).data());
    offset += parameter.numel();
  }
}

} // namespace torch::nn::utils
