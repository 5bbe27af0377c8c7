#include <csrc/compile/inference_chains.h>

#include <csrc/compile/fused_ops.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace torch::fused {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::TensorInfo;
using fx::Value;

namespace {

bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return node.is_operator(name); });
}

bool is_norm_by_running_statistics(const Node& node) {
  return node.is_operator("aten::native_batch_norm") && node.arg("training").is_constant() &&
      !node.arg("training").constant().toBool();
}

std::optional<std::vector<int64_t>> constants(const std::vector<fx::Dim>& dims) {
  std::vector<int64_t> values;
  for (const fx::Dim dim : dims) {
    if (dim.is_expression()) {
      return std::nullopt;
    }
    values.push_back(dim.value());
  }
  return values;
}

/// Sizes of a dense tensor of floats; nothing where it is none.
std::optional<std::vector<int64_t>> float_sizes(const TensorInfo* info) {
  if (!info || info->dtype != c10::ScalarType::Float || !info->device.is_cpu() || info->layout != c10::kStrided ||
      info->strides.size() != info->sizes.size() || !constants(info->strides)) {
    return std::nullopt;
  }
  return constants(info->sizes);
}

/// The operator that takes a result of one and nobody else, its first; nullptr where there is none.
Node* only_user(const Node& node) {
  const std::vector<Node*> users = node.users();
  if (users.size() != 1 || users[0]->kind() != NodeKind::CallOperator) {
    return nullptr;
  }
  size_t count = 0;
  for (const Arg& arg : users[0]->args()) {
    if (arg.is_value() && arg.value().node == &node) {
      count += arg.value().result == 0 ? 1 : 2;
    } else if (arg.is_list()) {
      return nullptr; // it may stand in there
    }
  }
  return count == 1 ? users[0] : nullptr;
}

std::string activation_of(const Node* node) {
  return node && node->is_operator("aten::relu") ? "relu" : node && node->is_operator("aten::silu") ? "silu" : "";
}

/// Whether a convolution of such images has faster kernels for channels-last ones.
bool gains_channels_last(const Node& node, const Arg& image, const Arg& kernel, const Arg& result) {
  const auto sizes_of = [](const Arg& arg) {
    return arg.is_value() ? float_sizes(arg.value().node->info(arg.value().result)) : std::nullopt;
  };
  const auto in = sizes_of(image), weight = sizes_of(kernel), out = sizes_of(result);
  if (!in || !weight || !out || in->size() != 4 || out->size() != 4 || !node.arg("transposed").is_constant() ||
      node.arg("transposed").constant().toBool() || !node.arg("groups").is_constant()) {
    return false;
  }
  // Channels that fill vectors, or are those of pictures; of groups single channels.
  constexpr int64_t kBlock = 16, kOfPictures = 4, kLeastWork = int64_t{1} << 19;
  const int64_t groups = node.arg("groups").constant().toInt(), ins = (*in)[1], outs = (*out)[1];
  const bool is_depthwise = groups == ins && groups == outs && ins % kBlock == 0;
  const bool is_whole = groups == 1 && outs % kBlock == 0 && (ins % kBlock == 0 || ins <= kOfPictures) && ins > 1;
  int64_t work = (*weight)[1] * (*weight)[2] * (*weight)[3];
  for (const int64_t size : *out) {
    work *= size;
  }
  return (is_depthwise || is_whole) && work >= kLeastWork && (*out)[2] * (*out)[3] > 1 && (*in)[2] * (*in)[3] > 1;
}

/// Whether a normalization has what it needs to become part of the weight in front of it.
bool is_norm_of(const Node& norm, const Node& conv) {
  const auto is_vector = [&](const char* name, bool may_lack) {
    const Arg& arg = norm.arg(name);
    return arg.is_value() ? float_sizes(arg.value().node->info(arg.value().result)).has_value()
                          : may_lack && arg.is_none();
  };
  const Arg& input = norm.args()[0];
  return input.is_value() && input.value().node == &conv && is_vector("weight", true) && is_vector("bias", true) &&
      is_vector("running_mean", false) && is_vector("running_var", false) && norm.arg("eps").is_constant();
}

bool is_chain_convolution(const Node& node) {
  return node.kind() == NodeKind::CallOperator && node.is_operator("aten::convolution") &&
      gains_channels_last(node, node.args()[0], node.args()[1], Arg(Value{const_cast<Node*>(&node), 0}));
}

} // namespace

bool takes_any_layout(const Node& node) {
  return is_norm_by_running_statistics(node) ||
      is_one_of(
             node,
             {"aten::abs",
              "aten::add",
              "aten::avg_pool2d",
              "aten::cat",
              "aten::clamp",
              "aten::clamp_max",
              "aten::clamp_min",
              "aten::constant_pad_nd",
              "aten::div",
              "aten::elu",
              "aten::exp",
              "aten::gelu",
              "aten::gelu_backward",
              "aten::hardsigmoid",
              "aten::hardswish",
              "aten::hardswish_backward",
              "aten::hardtanh",
              "aten::hardtanh_backward",
              "aten::leaky_relu",
              "aten::leaky_relu_backward",
              "aten::max_pool2d_with_indices",
              "aten::max_pool2d_with_indices_backward",
              "aten::mean",
              "aten::mul",
              "aten::native_batch_norm_backward",
              "aten::_native_batch_norm_legit_functional",
              "aten::neg",
              "aten::relu",
              "aten::sigmoid",
              "aten::sigmoid_backward",
              "aten::silu",
              "aten::silu_backward",
              "aten::softplus",
              "aten::sqrt",
              "aten::sub",
              "aten::tanh",
              "aten::tanh_backward",
              "aten::threshold_backward",
              "aten::upsample_bilinear2d",
              "aten::upsample_nearest2d",
              "aten::_adaptive_avg_pool2d"});
}

std::vector<fx::Dim> channels_last_strides(const std::vector<fx::Dim>& sizes) {
  const int64_t c = sizes[1].value(), h = sizes[2].value(), w = sizes[3].value();
  return {fx::Dim(h * w * c), fx::Dim(1), fx::Dim(w * c), fx::Dim(c)};
}

bool is_chain_backward(const Node& node) {
  return node.kind() == NodeKind::CallOperator && node.is_operator("aten::convolution_backward") &&
      gains_channels_last(node, node.args()[1], node.args()[2], node.args()[0]);
}

ChainFinder::ChainFinder(const fx::Graph& graph, const std::vector<bool>& is_frozen) : absorbed_(graph.num_ids()) {
  const auto inputs = graph.placeholders();
  for (size_t i = 0; i < inputs.size(); ++i) {
    frozen_.emplace(inputs[i], i < is_frozen.size() && is_frozen[i]);
  }
  for (Node* node : graph.nodes()) {
    plan(*node);
  }
}

void ChainFinder::plan(Node& node) {
  if (is_chain_convolution(node)) {
    plan_convolution(node);
  } else if (is_packed_product(node)) {
    Chain chain{&node, nullptr, std::nullopt, "none"};
    Node* last = &node;
    take_activation(chain, last);
    note(std::move(chain), {&node, last});
  }
}

void ChainFinder::note(Chain chain, std::initializer_list<Node*> nodes) {
  const Node* const last = *(nodes.end() - 1);
  for (const Node* node : nodes) {
    if (node && node != last) {
      absorbed_[node->id()] = true;
    }
  }
  chains_.emplace(last, std::move(chain));
}

bool ChainFinder::take_activation(Chain& chain, Node*& last) {
  Node* const user = only_user(*last);
  const std::string activation = activation_of(user);
  if (activation.empty()) {
    return false;
  }
  chain.activation = activation;
  last = user;
  return true;
}

void ChainFinder::plan_convolution(Node& node) {
  Chain chain{&node, nullptr, std::nullopt, "none"};
  Node* last = &node;
  Node* const user = only_user(*last);
  if (user && is_norm_by_running_statistics(*user) && is_norm_of(*user, node)) {
    chain.norm = last = user;
  }
  Node* sum = nullptr;
  if (!take_activation(chain, last)) {
    sum = residual(chain, *last);
    if (sum) {
      Node* const before = last;
      last = sum;
      take_activation(chain, last);
      return note(std::move(chain), {&node, chain.norm, before, sum, last});
    }
  }
  note(std::move(chain), {&node, chain.norm, last});
}

Node* ChainFinder::residual(Chain& chain, const Node& last) const {
  Node* const user = only_user(last);
  if (!user || !user->is_operator("aten::add.Tensor") || !user->arg("alpha").is_constant() ||
      !user->arg("alpha").constant().isScalar() || user->arg("alpha").constant().toScalar().toDouble() != 1 ||
      !user->args()[0].is_value() || !user->args()[1].is_value() || absorbed_[user->id()] || ending_at(*user)) {
    return nullptr; // of two convolutions the sum is the first one's
  }
  const Value other = user->args()[0].value().node == &last ? user->args()[1].value() : user->args()[0].value();
  const auto sizes = float_sizes(other.node->info(other.result));
  if (!sizes || sizes != float_sizes(last.info())) {
    return nullptr;
  }
  chain.other = other;
  return user;
}

bool ChainFinder::is_frozen(const Arg& arg) const {
  const auto found = arg.is_value() ? frozen_.find(arg.value().node) : frozen_.end();
  return found != frozen_.end() && found->second;
}

bool ChainFinder::is_packed_product(const Node& node) const {
  const bool has_bias = node.kind() == NodeKind::CallOperator && node.is_operator("aten::addmm");
  if (!has_bias && !(node.kind() == NodeKind::CallOperator && node.is_operator("aten::mm"))) {
    return false;
  }
  const size_t first = has_bias ? 1 : 0;
  if (!node.args()[first].is_value() || !node.args()[first + 1].is_value()) {
    return false;
  }
  const Value x = node.args()[first].value(), w = node.args()[first + 1].value();
  const auto in = float_sizes(x.node->info(x.result)), weight = float_sizes(w.node->info(w.result));
  const bool is_turned =
      w.node->kind() == NodeKind::CallOperator && w.node->is_operator("aten::t") && is_frozen(w.node->args()[0]);
  if (!in || !weight || !float_sizes(node.info()) || !(is_turned || is_frozen(node.args()[first + 1]))) {
    return false;
  }
  if (has_bias) {
    const auto is_one = [&](const char* name) {
      const Arg& factor = node.arg(name);
      return factor.is_constant() && factor.constant().isScalar() && factor.constant().toScalar().toDouble() == 1;
    };
    const Arg& bias = node.args()[0];
    const auto sizes = bias.is_value() ? float_sizes(bias.value().node->info(bias.value().result)) : std::nullopt;
    if (!sizes || *sizes != std::vector<int64_t>{(*weight)[1]} || !is_one("beta") || !is_one("alpha")) {
      return false;
    }
  }
  return can_pack((*in)[0], (*weight)[1], (*weight)[0], has_bias);
}

} // namespace torch::fused
