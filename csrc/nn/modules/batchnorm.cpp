#include <csrc/nn/modules/batchnorm.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>
#include <csrc/nn/functional/batchnorm.h>
#include <csrc/nn/init.h>
#include <csrc/nn/modules/batch_norm_override.h>

#include <ostream>
#include <utility>

namespace F = torch::nn::functional;

namespace torch::nn {

namespace detail {

void register_norm(
    Module& module, int64_t num_features, bool affine, bool track_running_stats, const NormState& state) {
  const auto parameter = [&](const char* name) {
    return module.register_parameter(name, affine ? at::empty({num_features}) : Tensor(), /*requires_grad=*/affine);
  };
  const auto buffer = [&](const char* name, const at::TensorOptions& options, at::IntArrayRef sizes) {
    return module.register_buffer(name, track_running_stats ? at::empty(sizes, options) : Tensor());
  };
  state.weight = parameter("weight");
  state.bias = parameter("bias");
  state.running_mean = buffer("running_mean", {}, num_features);
  state.running_var = buffer("running_var", {}, num_features);
  state.num_batches_tracked = buffer("num_batches_tracked", at::kLong, {});
}

void reset_running_stats(const NormState& state) {
  if (state.running_mean.defined()) {
    state.running_mean.zero_();
    state.running_var.fill_(1);
    state.num_batches_tracked.zero_();
  }
}

void reset_norm_parameters(const NormState& state) {
  reset_running_stats(state);
  if (state.weight.defined()) {
    init::ones_(state.weight);
    init::zeros_(state.bias);
  }
}

namespace {

// Of this thread: the module whose forward is about to run, known by its options.
struct NextForward {
  const BatchNormOptions* options = nullptr;
  BatchNormFunction function;
};
thread_local NextForward next_forward;

} // namespace

void override_next_batch_norm(const BatchNormOptions& options, BatchNormFunction function) {
  next_forward = {&options, std::move(function)};
}

Tensor batch_norm_forward(const Tensor& input, const BatchNormOptions& options, bool training, const NormState& state) {
  double momentum = options.momentum().value_or(0.0);
  if (training && options.track_running_stats() && state.num_batches_tracked.defined()) {
    state.num_batches_tracked.add_(1);
    if (!options.momentum()) {
      momentum = 1.0 / state.num_batches_tracked.item<double>(); // the plain average of all batches
    }
  }
  const bool by_batch = training || !options.track_running_stats();
  if (next_forward.options != nullptr) {
    const NextForward next = std::exchange(next_forward, {});
    if (next.options == &options && by_batch) {
      return next.function(input, momentum, options.eps(), state);
    }
  }
  return F::batch_norm(
      input, state.running_mean, state.running_var,
      F::BatchNormFuncOptions()
          .weight(state.weight)
          .bias(state.bias)
          .training(by_batch)
          .momentum(momentum)
          .eps(options.eps()));
}

void print_batch_norm(std::ostream& stream, size_t dims, const BatchNormOptions& options) {
  stream << std::boolalpha << "torch::nn::BatchNorm" << dims << "d(" << options.num_features()
         << ", eps=" << options.eps() << ", momentum=";
  if (options.momentum()) {
    stream << *options.momentum();
  } else {
    stream << "None";
  }
  stream << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ")";
}

void check_norm_input(const Tensor& input, int64_t dims, int64_t other_dims) {
  if (dims == other_dims) {
    TORCH_CHECK(
        input.dim() == dims, "expected ", dims, "D input (got ", input.dim(), "D input of sizes ", input.sizes(), ")");
  } else {
    TORCH_CHECK(
        input.dim() == dims || input.dim() == other_dims, "expected ", dims, "D or ", other_dims, "D input (got ",
        input.dim(), "D input of sizes ", input.sizes(), ")");
  }
}

} // namespace detail

void BatchNorm1dImpl::_check_input_dim(const Tensor& input) {
  detail::check_norm_input(input, 2, 3);
}

void BatchNorm2dImpl::_check_input_dim(const Tensor& input) {
  detail::check_norm_input(input, 4, 4);
}

void BatchNorm3dImpl::_check_input_dim(const Tensor& input) {
  detail::check_norm_input(input, 5, 5);
}

} // namespace torch::nn
