// Batch normalization by the statistics of the batches of all ranks.
#include <csrc/distributed/ddp/sync_batch_norm.h>

#include <aten/Functions.h>
#include <autograd/custom_function.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/modules/batch_norm_override.h>

#include <ostream>

namespace torch::nn {

namespace {

using autograd::AutogradContext;
using autograd::variable_list;
using torch::distributed::GroupPtr;

// [N, C, ...] as [C, N * ...], in the dtype of the statistics.
at::Tensor by_channel(const at::Tensor& x, at::ScalarType dtype) {
  return x.transpose(0, 1).reshape({x.size(1), -1}).to(dtype);
}

at::Tensor like_input(const at::Tensor& rows, const at::Tensor& x) {
  auto sizes = x.sizes().vec();
  std::swap(sizes[0], sizes[1]);
  return rows.to(x.scalar_type()).view(sizes).transpose(0, 1);
}

// Sums of squares around each rank's own mean lose no digits to a large mean; they are put together in rank order.
struct Statistics {
  at::Tensor mean, square_sum;
  double count;
};

Statistics gathered_statistics(const at::Tensor& rows, c10d::ProcessGroup& group) {
  const int64_t channels = rows.size(0);
  const int64_t count = rows.size(1);
  auto mine = at::zeros({2 * channels + 1}, rows.options());
  if (count > 0) {
    const auto mean = rows.mean({1});
    mine.narrow(0, 0, channels).copy_(mean);
    mine.narrow(0, channels, channels).copy_((rows - mean.unsqueeze(1)).square().sum({1}));
  }
  mine[2 * channels].fill_(count);
  auto all = at::empty({group.getSize(), 2 * channels + 1}, rows.options());
  group.all_gather_single(all, mine)->wait();
  const auto means = all.narrow(1, 0, channels);
  const auto counts = all.narrow(1, 2 * channels, 1);
  const double total = counts.sum().item<double>();
  const auto mean = (means * counts).sum({0}) / total;
  const auto square_sum = all.narrow(1, channels, channels).sum({0}) + ((means - mean).square() * counts).sum({0});
  return {mean, square_sum, total};
}

struct SyncBatchNormFunction : autograd::Function<SyncBatchNormFunction> {
  static at::Tensor forward(
      AutogradContext* ctx,
      const at::Tensor& input,
      const at::Tensor& weight,
      const at::Tensor& bias,
      const at::Tensor& running_mean,
      const at::Tensor& running_var,
      double momentum,
      double eps,
      const GroupPtr& group) {
    const auto dtype = input.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const auto rows = by_channel(input, dtype);
    const auto statistics = gathered_statistics(rows, *group);
    TORCH_CHECK_VALUE(
        statistics.count > 1, "Expected more than 1 value per channel when training, got ", statistics.count,
        " over all ranks");
    const auto inverse = (statistics.square_sum / statistics.count + eps).rsqrt();
    if (running_mean.defined()) {
      running_mean.mul_(1 - momentum).add_(statistics.mean.to(running_mean.scalar_type()), momentum);
      running_var.mul_(1 - momentum)
          .add_((statistics.square_sum / (statistics.count - 1)).to(running_var.scalar_type()), momentum);
    }
    ctx->save_for_backward({input, weight, statistics.mean, inverse});
    ctx->saved_data["count"] = statistics.count;
    ctx->saved_data["group"] = c10::IValue::make_capsule(group);
    auto output = (rows - statistics.mean.unsqueeze(1)) * inverse.unsqueeze(1);
    if (weight.defined()) {
      output.mul_(weight.to(dtype).unsqueeze(1)).add_(bias.to(dtype).unsqueeze(1));
    }
    return like_input(output, input);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto& input = saved[0];
    const auto& weight = saved[1];
    const auto& inverse = saved[3];
    const double count = ctx->saved_data.at("count").toDouble();
    const auto group = c10::static_intrusive_pointer_cast<c10d::ProcessGroup>(ctx->saved_data.at("group").toCapsule());
    const auto dtype = inverse.scalar_type();
    const int64_t channels = input.size(1);
    const auto grad = by_channel(grads[0], dtype);
    const auto centered = by_channel(input, dtype) - saved[2].unsqueeze(1);
    auto sums = at::cat({grad.sum({1}), (grad * centered).sum({1})});
    at::Tensor grad_weight, grad_bias;
    if (weight.defined()) {
      grad_weight = (sums.narrow(0, channels, channels) * inverse).to(weight.scalar_type());
      grad_bias = sums.narrow(0, 0, channels).to(weight.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    }
    std::vector<at::Tensor> tensors{sums};
    group->allreduce(tensors)->wait();
    const auto of_mean = (sums.narrow(0, 0, channels) / count).unsqueeze(1);
    const auto of_variance = (sums.narrow(0, channels, channels) * inverse.square() / count).unsqueeze(1);
    auto scale = inverse.unsqueeze(1);
    if (weight.defined()) {
      scale = scale * weight.to(dtype).unsqueeze(1);
    }
    const auto grad_input = (grad - of_mean - centered * of_variance) * scale;
    return {like_input(grad_input, input), grad_weight, grad_bias, {}, {}, {}, {}, {}};
  }
};

detail::BatchNormFunction synchronized_by(GroupPtr group) {
  return
      [group = std::move(group)](const at::Tensor& input, double momentum, double eps, const detail::NormState& state) {
        const GroupPtr held = group ? group : torch::distributed::default_group();
        return SyncBatchNormFunction::apply(
            input, state.weight, state.bias, state.running_mean, state.running_var, momentum, eps, held);
      };
}

// The options of a BatchNorm; null for other modules.
const BatchNormOptions* batch_norm_options(Module& module) {
  if (auto* norm = module.as<BatchNorm1dImpl>()) {
    return &norm->options;
  }
  if (auto* norm = module.as<BatchNorm2dImpl>()) {
    return &norm->options;
  }
  if (auto* norm = module.as<BatchNorm3dImpl>()) {
    return &norm->options;
  }
  return nullptr;
}

} // namespace

SyncBatchNormImpl::SyncBatchNormImpl(const BatchNormOptions& options, GroupPtr process_group)
    : NormImplBase(options), process_group_(std::move(process_group)) {}

Tensor SyncBatchNormImpl::forward(const Tensor& input) {
  _check_input_dim(input);
  detail::override_next_batch_norm(options, synchronized_by(process_group_));
  return detail::batch_norm_forward(input, options, is_training(), state());
}

void SyncBatchNormImpl::_check_input_dim(const Tensor& input) {
  TORCH_CHECK_VALUE(input.dim() >= 2, "expected at least 2D input (got ", input.dim(), "D input)");
  TORCH_CHECK_VALUE(input.size(1) > 0, "SyncBatchNorm number of input channels should be non-zero");
}

void SyncBatchNormImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::SyncBatchNorm(" << options.num_features() << ", eps=" << options.eps() << ")";
}

} // namespace torch::nn

namespace torch::distributed {

int64_t convert_sync_batchnorm(nn::Module& module, GroupPtr process_group) {
  int64_t count = 0;
  const auto function = nn::synchronized_by(std::move(process_group));
  const auto convert = [&](nn::Module& one) {
    if (nn::batch_norm_options(one) == nullptr) {
      return;
    }
    ++count;
    one.register_forward_pre_hook([function](nn::Module& norm, std::vector<at::Tensor>&) {
      nn::detail::override_next_batch_norm(*nn::batch_norm_options(norm), function);
    });
  };
  module.apply(convert);
  return count;
}

} // namespace torch::distributed
