#include <csrc/nn/modules/adaptive.h>

#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <cmath>
#include <ostream>

namespace torch::nn {

ASMoutput::ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
    : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
    : options(std::move(options_)) {
  AdaptiveLogSoftmaxWithLossImpl::reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  cutoffs = options.cutoffs();
  bool valid = !cutoffs.empty() && cutoffs.front() > 0 && cutoffs.back() <= options.n_classes() - 1;
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    valid = valid && cutoffs[i] < cutoffs[i + 1];
  }
  TORCH_CHECK(
      valid,
      "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
      "between 1 and n_classes-1; they are ",
      at::IntArrayRef(cutoffs), ", n_classes is ", options.n_classes());
  TORCH_CHECK(options.div_value() > 0, "AdaptiveLogSoftmaxWithLoss: div_value must be positive");
  cutoffs.push_back(options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;
  head = register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (int64_t i = 0; i < n_clusters; ++i) {
    const auto hidden =
        static_cast<int64_t>(static_cast<double>(options.in_features()) / std::pow(options.div_value(), i + 1));
    const int64_t classes = cutoffs[i + 1] - cutoffs[i];
    tail->push_back(Sequential(
        Linear(LinearOptions(options.in_features(), hidden).bias(false)),
        Linear(LinearOptions(hidden, classes).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (size_t i = 0; i < tail->size(); ++i) {
    auto& cluster = tail->at<SequentialImpl>(i);
    cluster.at<LinearImpl>(0).reset_parameters();
    cluster.at<LinearImpl>(1).reset_parameters();
  }
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input_, const Tensor& target_) {
  const int64_t dims = target_.dim();
  TORCH_CHECK(
      dims == 0 || dims == 1, "0D or 1D target tensor expected, multi-target not supported; target has ", dims, "D");
  TORCH_CHECK(
      input_.dim() == dims + 1,
      dims == 1 ? "1D target tensor expects 2D input tensors, but found inputs with sizes "
                : "0D target tensor expects 1D input tensors, but found inputs with sizes ",
      input_.sizes(), ".");
  const Tensor input = dims == 1 ? input_ : input_.unsqueeze(0);
  const Tensor target = dims == 1 ? target_ : target_.unsqueeze(0);
  TORCH_CHECK(
      input.size(0) == target.size(0),
      "Input and target should have the same size in the batch dimension: ", input.size(0), " and ", target.size(0));

  const int64_t batch = target.size(0);
  Tensor output = at::zeros({batch}, input.options().requires_grad(false));
  Tensor columns = at::zeros({batch}, target.options());
  int64_t used = 0;
  for (int64_t i = 0; i <= n_clusters; ++i) {
    const int64_t low = i == 0 ? 0 : cutoffs[i - 1];
    const int64_t high = cutoffs[i];
    const Tensor rows = target.ge(low).logical_and(target.lt(high)).nonzero().squeeze(1);
    if (rows.numel() == 0) {
      continue;
    }
    used += rows.numel();
    const Tensor relative = target.index_select(0, rows) - low;
    if (i == 0) {
      columns = columns.index_copy(0, rows, relative);
      continue;
    }
    auto& cluster = tail->at<SequentialImpl>(static_cast<size_t>(i - 1));
    const Tensor log_prob = at::log_softmax(cluster.forward(input.index_select(0, rows)), 1);
    output = output.index_copy(0, rows, log_prob.gather(1, relative.unsqueeze(1)).squeeze(1));
    columns = columns.index_fill(0, rows, shortlist_size + i - 1);
  }
  TORCH_CHECK(
      used == batch, "Target values should be in [0, ", options.n_classes() - 1, "], but values in range [",
      target.min().item<int64_t>(), ", ", target.max().item<int64_t>(), "] were found. ");
  const Tensor head_log_prob = at::log_softmax(head(input), 1);
  output = output + head_log_prob.gather(1, columns.unsqueeze(1)).squeeze(1);
  const double loss = (-output).mean().item<double>();
  return ASMoutput(dims == 1 ? output : output.squeeze(0), loss);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input, const Tensor& head_output) {
  const Tensor head_log_prob = at::log_softmax(head_output, 1);
  std::vector<Tensor> parts = {head_log_prob.narrow(1, 0, shortlist_size)};
  for (int64_t i = 0; i < n_clusters; ++i) {
    auto& cluster = tail->at<SequentialImpl>(static_cast<size_t>(i));
    parts.push_back(at::log_softmax(cluster.forward(input), 1) + head_log_prob.narrow(1, shortlist_size + i, 1));
  }
  return at::cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  return _get_full_log_prob(input, head(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor scores = head(input);
  Tensor best = scores.argmax(1);
  // Only where a cluster wins is there more to compute.
  const Tensor rows = best.ge(shortlist_size).nonzero().squeeze(1);
  if (rows.numel() > 0) {
    const Tensor full = _get_full_log_prob(input.index_select(0, rows), scores.index_select(0, rows));
    best = best.index_copy(0, rows, full.argmax(1));
  }
  return best;
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

} // namespace torch::nn
