// Layers with constant weights take in what follows them.
#include <csrc/jit/ir/constants.h>
#include <csrc/jit/passes/fold_conv_bn.h>
#include <csrc/jit/passes/fold_linear_bn.h>
#include <csrc/jit/passes/frozen_conv_folding.h>
#include <csrc/jit/passes/frozen_linear_folding.h>

#include <aten/ops/full.h>
#include <aten/ops/zeros_like.h>

#include <algorithm>
#include <functional>

namespace torch::jit {

namespace {

std::optional<at::Tensor> tensor_of(const Value* value) {
  std::optional<IValue> known = toIValue(value);
  if (known && known->isNone()) {
    return at::Tensor();
  }
  return known && known->isTensor() ? std::optional<at::Tensor>(known->toTensor()) : std::nullopt;
}

// Convolutions that are not transposed: those have their channels elsewhere.
bool is_convolution(const Node* node) {
  static const Symbol kGeneral[] = {Symbol::aten("convolution"), Symbol::aten("_convolution")};
  if (node->kind() == aten::conv1d || node->kind() == aten::conv2d || node->kind() == aten::conv3d) {
    return node->inputs().size() >= 3;
  }
  if ((node->kind() != kGeneral[0] && node->kind() != kGeneral[1]) || node->inputs().size() < 7) {
    return false;
  }
  const std::optional<IValue> transposed = toIValue(node->input(6));
  return transposed && transposed->isBool() && !transposed->toBool();
}

bool is_linear(const Node* node) {
  return node->kind() == aten::linear && node->inputs().size() == 3;
}

/// A layer whose result only `user` takes.
struct Layer {
  Node* node;
  at::Tensor weight;
  at::Tensor bias; // undefined if it has none
};

std::optional<Layer> layer_before(Node* user, bool (*is_layer)(const Node*)) {
  if (user->inputs().empty()) {
    return std::nullopt;
  }
  Node* node = user->input(0)->node();
  if (!is_layer(node) || node->output()->uses().size() != 1 || node->owningBlock() != user->owningBlock()) {
    return std::nullopt;
  }
  const std::optional<at::Tensor> weight = tensor_of(node->input(1));
  const std::optional<at::Tensor> bias = tensor_of(node->input(2));
  if (!weight || !weight->defined() || !bias || !at::isFloatingType(weight->scalar_type()) || weight->dim() < 2) {
    return std::nullopt;
  }
  return Layer{node, *weight, *bias};
}

void replace(const Layer& layer, Node* user, const at::Tensor& weight, const at::Tensor& bias) {
  const at::NoGradGuard no_grad;
  Graph& graph = *user->owningGraph();
  const WithInsertPoint guard(layer.node);
  Value* new_weight = graph.insertConstant(weight.detach());
  Value* new_bias = graph.insertConstant(bias.detach());
  new_weight->setDebugName(layer.node->input(1)->debugNameBase() + "_fused");
  layer.node->replaceInput(1, new_weight);
  layer.node->replaceInput(2, new_bias);
  user->output()->replaceAllUsesWith(layer.node->output());
}

bool for_each_node(Block* block, const std::function<bool(Node*)>& apply) {
  bool changed = false;
  for (auto it = block->nodes().begin(); it != block->nodes().end(); ++it) {
    for (Block* inner : (*it)->blocks()) {
      changed |= for_each_node(inner, apply);
    }
    if (apply(*it)) {
      it.destroyCurrent();
      changed = true;
    }
  }
  return changed;
}

// ---- batch norm -----------------------------------------------------------------------------------------------------

struct Norm {
  at::Tensor weight, bias, mean, variance;
  double eps;
};

std::optional<Norm> inference_norm(const Node* node) {
  if (node->kind() != Symbol::aten("batch_norm") || node->inputs().size() < 8) {
    return std::nullopt;
  }
  std::optional<at::Tensor> tensors[4];
  for (size_t i = 0; i < 4; ++i) {
    tensors[i] = tensor_of(node->input(i + 1));
    if (!tensors[i]) {
      return std::nullopt;
    }
  }
  const std::optional<IValue> training = toIValue(node->input(5));
  const std::optional<IValue> eps = toIValue(node->input(7));
  if (!training || !training->isBool() || training->toBool() || !eps || !eps->isDouble() || !tensors[2]->defined() ||
      !tensors[3]->defined()) {
    return std::nullopt;
  }
  return Norm{*tensors[0], *tensors[1], *tensors[2], *tensors[3], eps->toDouble()};
}

bool fold_norm(Node* node, bool (*is_layer)(const Node*)) {
  const std::optional<Norm> norm = inference_norm(node);
  const std::optional<Layer> layer = norm ? layer_before(node, is_layer) : std::nullopt;
  if (!layer || norm->mean.numel() != layer->weight.size(0) || norm->mean.device() != layer->weight.device()) {
    return false;
  }
  // A linear layer with more than two dimensions has its channels last, where batch norm does not look.
  if (is_linear(layer->node)) {
    const auto type = layer->node->output()->type()->cast<TensorType>();
    if (!type || type->dim() != size_t{2}) {
      return false;
    }
  }
  const at::NoGradGuard no_grad;
  const auto [weight, bias] = computeUpdatedConvWeightAndBias(
      {layer->weight, layer->bias, norm->mean, norm->variance, norm->eps, norm->weight, norm->bias});
  replace(*layer, node, weight, bias);
  return true;
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

// One value for each channel of the result, or one for all: as a vector; nullopt if the operand is another.
std::optional<at::Tensor> channel_values(const Node* node, const Layer& layer) {
  const std::optional<IValue> operand = toIValue(node->input(1));
  const int64_t channels = layer.weight.size(0);
  const at::TensorOptions options = layer.weight.options();
  if (!operand) {
    return std::nullopt;
  }
  if (operand->isDouble() || operand->isInt()) {
    return at::full({channels}, operand->toScalar(), options);
  }
  if (!operand->isTensor() || !operand->toTensor().defined()) {
    return std::nullopt;
  }
  const at::Tensor& tensor = operand->toTensor();
  if (tensor.device() != layer.weight.device() || !at::isFloatingType(tensor.scalar_type())) {
    return std::nullopt;
  }
  if (tensor.dim() == 0) {
    return at::full({channels}, tensor.item(), options);
  }
  // 1 x C x 1 x 1, or what has these dimensions from the end.
  const int64_t spatial = layer.weight.dim() - 2;
  if (tensor.scalar_type() != layer.weight.scalar_type() || tensor.dim() > spatial + 2) {
    return std::nullopt;
  }
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    const bool is_channel = tensor.dim() - i == spatial + 1;
    if (tensor.size(i) != 1 && !(is_channel && tensor.size(i) == channels)) {
      return std::nullopt;
    }
  }
  return tensor.reshape({-1}).expand({channels}).contiguous();
}

bool takes_once(const Node* node) {
  if (node->inputs().size() < 3) {
    return true;
  }
  const std::optional<IValue> alpha = toIValue(node->input(2));
  return alpha && alpha->isInt() && alpha->toInt() == 1;
}

bool is_plain_division(const Node* node) {
  return node->inputs().size() == 2;
}

bool fold_arithmetic(Node* node, bool sums) {
  const bool first = node->kind() == (sums ? aten::add : aten::mul);
  const bool second = node->kind() == (sums ? aten::sub : aten::div);
  if ((!first && !second) || node->inputs().size() < 2 || (sums ? !takes_once(node) : !is_plain_division(node))) {
    return false;
  }
  const std::optional<Layer> layer = layer_before(node, is_convolution);
  const at::NoGradGuard no_grad;
  const std::optional<at::Tensor> values = layer ? channel_values(node, *layer) : std::nullopt;
  if (!values) {
    return false;
  }
  const at::Tensor bias = layer->bias.defined() ? layer->bias : at::zeros_like(*values);
  if (sums) {
    replace(*layer, node, layer->weight, first ? bias + *values : bias - *values);
    return true;
  }
  std::vector<int64_t> sizes(static_cast<size_t>(layer->weight.dim()), 1);
  sizes[0] = -1;
  const at::Tensor factor = values->reshape(sizes);
  replace(
      *layer, node, first ? layer->weight * factor : layer->weight / factor, first ? bias * *values : bias / *values);
  return true;
}

} // namespace

bool FoldFrozenConvBatchnorm(std::shared_ptr<Graph>& graph) {
  return for_each_node(graph->block(), [](Node* node) { return fold_norm(node, is_convolution); });
}

bool FoldFrozenConvAddOrSub(std::shared_ptr<Graph>& graph) {
  return for_each_node(graph->block(), [](Node* node) { return fold_arithmetic(node, true); });
}

bool FoldFrozenConvMulOrDiv(std::shared_ptr<Graph>& graph) {
  return for_each_node(graph->block(), [](Node* node) { return fold_arithmetic(node, false); });
}

bool FoldFrozenLinearBatchnorm(std::shared_ptr<Graph>& graph) {
  return for_each_node(graph->block(), [](Node* node) { return fold_norm(node, is_linear); });
}

} // namespace torch::jit
