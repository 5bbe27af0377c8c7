#include <csrc/nn/modules/instancenorm.h>

#include <csrc/nn/functional/instancenorm.h>

#include <ostream>

namespace F = torch::nn::functional;

namespace torch::nn {

namespace detail {

Tensor instance_norm_forward(
    const Tensor& input, size_t dims, const InstanceNormOptions& options, bool training, const NormState& state) {
  const bool batched = input.dim() != static_cast<int64_t>(dims) + 1;
  const Tensor result = F::instance_norm(
      batched ? input : input.unsqueeze(0),
      F::InstanceNormFuncOptions()
          .running_mean(state.running_mean)
          .running_var(state.running_var)
          .weight(state.weight)
          .bias(state.bias)
          .use_input_stats(training || !options.track_running_stats())
          .momentum(options.momentum())
          .eps(options.eps()));
  return batched ? result : result.squeeze(0);
}

void print_instance_norm(std::ostream& stream, size_t dims, const InstanceNormOptions& options) {
  stream << std::boolalpha << "torch::nn::InstanceNorm" << dims << "d(" << options.num_features()
         << ", eps=" << options.eps() << ", momentum=" << options.momentum() << ", affine=" << options.affine()
         << ", track_running_stats=" << options.track_running_stats() << ")";
}

} // namespace detail

void InstanceNorm1dImpl::_check_input_dim(const Tensor& input) {
  detail::check_norm_input(input, 2, 3);
}

void InstanceNorm2dImpl::_check_input_dim(const Tensor& input) {
  detail::check_norm_input(input, 3, 4);
}

void InstanceNorm3dImpl::_check_input_dim(const Tensor& input) {
  detail::check_norm_input(input, 4, 5);
}

} // namespace torch::nn
