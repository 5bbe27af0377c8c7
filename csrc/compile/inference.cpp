#include <csrc/compile/inference.h>

#include <csrc/compile/fused_ops.h>
#include <csrc/functionalize/meta_call.h>
#include <csrc/fx/effects.h>

#include <aten/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace torch::fused {

namespace {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::TensorInfo;
using fx::Value;

bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return node.is_operator(name); });
}

bool is_norm_by_running_statistics(const Node& node) {
  return node.is_operator("aten::native_batch_norm") && node.arg("training").is_constant() &&
      !node.arg("training").constant().toBool();
}

/// Operators that give the same elements whatever the strides of their arguments are.
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

std::vector<fx::Dim> channels_last_strides(const std::vector<fx::Dim>& sizes) {
  const int64_t c = sizes[1].value(), h = sizes[2].value(), w = sizes[3].value();
  return {fx::Dim(h * w * c), fx::Dim(1), fx::Dim(w * c), fx::Dim(c)};
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

/// Writes one graph into another.
class Rewriter {
 public:
  Rewriter(const fx::Graph& from, const std::vector<bool>& is_frozen)
      : from_(from), to_(fx::Graph::create()), made_(from.num_ids()), absorbed_(from.num_ids()) {
    const auto inputs = from.placeholders();
    for (size_t i = 0; i < inputs.size(); ++i) {
      frozen_.emplace(inputs[i], i < is_frozen.size() && is_frozen[i]);
    }
  }

  /// Null where nothing was gained.
  std::shared_ptr<fx::Graph> run() {
    for (Node* node : from_.nodes()) {
      plan(*node);
    }
    if (chains_.empty()) {
      return nullptr;
    }
    bool is_at_writes = false;
    for (Node* node : from_.nodes()) {
      // Behind what is written to inputs stands nothing else: copies of results go before.
      if (!is_at_writes && node->kind() == NodeKind::CallOperator && node->schema().is_mutable()) {
        is_at_writes = true;
        copy_results(node);
      }
      if (!absorbed_[node->id()]) {
        write(*node);
      }
      origins_.resize(to_->num_ids(), node->id());
    }
    to_->eliminate_dead_code();
    to_->lint();
    return to_;
  }

  /// By id of a node that was made: the id of the node that it was made for.
  std::vector<uint32_t>& origins() {
    return origins_;
  }

 private:
  /// A convolution or product and what becomes part of it; it is written where the last of them stands.
  struct Chain {
    Node* first = nullptr;
    Node* norm = nullptr;
    std::optional<Value> other;
    std::string activation = "none";
  };

  // --- what becomes of what

  void plan(Node& node) {
    if (is_chain_convolution(node)) {
      plan_convolution(node);
    } else if (is_packed_product(node)) {
      Chain chain{&node, nullptr, std::nullopt, "none"};
      Node* last = &node;
      take_activation(chain, last);
      note(std::move(chain), {&node, last});
    }
  }

  void note(Chain chain, std::initializer_list<Node*> nodes) {
    const Node* const last = *(nodes.end() - 1);
    for (const Node* node : nodes) {
      if (node && node != last) {
        absorbed_[node->id()] = true;
      }
    }
    chains_.emplace(last, std::move(chain));
  }

  bool take_activation(Chain& chain, Node*& last) {
    Node* const user = only_user(*last);
    const std::string activation = activation_of(user);
    if (activation.empty()) {
      return false;
    }
    chain.activation = activation;
    last = user;
    return true;
  }

  void plan_convolution(Node& node) {
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

  /// Whether a normalization has what it needs to become part of the weight in front of it.
  static bool is_norm_of(const Node& norm, const Node& conv) {
    const auto is_vector = [&](const char* name, bool may_lack) {
      const Arg& arg = norm.arg(name);
      return arg.is_value() ? float_sizes(arg.value().node->info(arg.value().result)).has_value()
                            : may_lack && arg.is_none();
    };
    const Arg& input = norm.args()[0];
    return input.is_value() && input.value().node == &conv && is_vector("weight", true) && is_vector("bias", true) &&
        is_vector("running_mean", false) && is_vector("running_var", false) && norm.arg("eps").is_constant();
  }

  /// The sum of a chain so far and a tensor of its sizes.
  Node* residual(Chain& chain, const Node& last) const {
    Node* const user = only_user(last);
    if (!user || !user->is_operator("aten::add.Tensor") || !user->arg("alpha").is_constant() ||
        !user->arg("alpha").constant().isScalar() || user->arg("alpha").constant().toScalar().toDouble() != 1 ||
        !user->args()[0].is_value() || !user->args()[1].is_value()) {
      return nullptr;
    }
    const Value other = user->args()[0].value().node == &last ? user->args()[1].value() : user->args()[0].value();
    const auto sizes = float_sizes(other.node->info(other.result));
    if (!sizes || sizes != float_sizes(last.info())) {
      return nullptr;
    }
    chain.other = other;
    return user;
  }

  static bool is_chain_convolution(const Node& node) {
    return node.kind() == NodeKind::CallOperator && node.is_operator("aten::convolution") &&
        gains_channels_last(node, node.args()[0], node.args()[1], Arg(Value{const_cast<Node*>(&node), 0}));
  }
  static bool is_chain_backward(const Node& node) {
    return node.kind() == NodeKind::CallOperator && node.is_operator("aten::convolution_backward") &&
        gains_channels_last(node, node.args()[1], node.args()[2], node.args()[0]);
  }

  /// Whether a convolution of such images has faster kernels for channels-last ones.
  static bool gains_channels_last(const Node& node, const Arg& image, const Arg& kernel, const Arg& result) {
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

  bool is_frozen(const Arg& arg) const {
    const auto found = arg.is_value() ? frozen_.find(arg.value().node) : frozen_.end();
    return found != frozen_.end() && found->second;
  }

  /// x times a frozen matrix, or its transpose, with a frozen bias or none.
  bool is_packed_product(const Node& node) const {
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

  // --- writing

  Arg mapped(const Arg& arg) const {
    return arg.is_value() ? Arg(made_[arg.value().node->id()].at(arg.value().result)) : arg;
  }

  /// Runs a new node on tensors without data to learn what its results are like.
  Node* infer(Node* node) {
    auto stack = functionalize::arguments_of(*node, [](Value value) -> c10::IValue {
      const TensorInfo* const info = value.node->info(value.result);
      TORCH_CHECK(info, "nothing is known of %", value.node->name());
      return functionalize::meta_of(*info);
    });
    functionalize::use_meta_device(node->schema(), stack);
    node->operator_handle().callBoxed(&stack);
    TORCH_CHECK(stack.size() == node->num_results(), "%", node->name(), " gives another number of results");
    for (uint32_t r = 0; r < node->num_results(); ++r) {
      TORCH_CHECK(stack[r].isTensor(), "%", node->name(), " gives no tensors");
      const at::Tensor& meta = stack[r].toTensor();
      node->set_info(
          meta.defined() ? std::optional<TensorInfo>(functionalize::info_of(meta, c10::kCPU)) : std::nullopt, r);
    }
    return node;
  }
  Arg call(const char* op, std::vector<Arg> args) {
    return Value{infer(to_->call_operator(op, std::move(args))), 0};
  }

  /// A value in a layout: itself, or a copy.
  Value with_format(Value value, c10::MemoryFormat format) {
    const TensorInfo info = *value.node->info(value.result);
    const bool is_last = format == c10::MemoryFormat::ChannelsLast;
    if (is_last && info.strides == channels_last_strides(info.sizes)) {
      return value;
    }
    const auto known = copies_.find({value.node, value.result});
    const size_t place = is_last ? 0 : 1;
    if (known != copies_.end() && known->second[place]) {
      return {known->second[place], 0};
    }
    Node* const copy = infer(to_->call_operator(
        "aten::clone", {Value(value)}, {{"memory_format", Arg(c10::IValue(static_cast<int64_t>(format)))}}));
    copies_[{value.node, value.result}][place] = copy;
    return {copy, 0};
  }

  /// A value with the strides that it has in the code.
  Value as_in_code(Value old) {
    const Value made = made_[old.node->id()].at(old.result);
    const TensorInfo *const was = old.node->info(old.result), *const is = made.node->info(made.result);
    if (!was || !is || was->strides == is->strides) {
      return made;
    }
    const Value plain = with_format(made, c10::MemoryFormat::Contiguous);
    TORCH_CHECK(
        plain.node->info(plain.result)->strides == was->strides, "%", old.node->name(), " has strides of its own");
    return plain;
  }

  bool has_other_strides(const Arg& arg) const {
    if (arg.is_list()) {
      return std::any_of(
          arg.list().begin(), arg.list().end(), [&](const Arg& item) { return has_other_strides(item); });
    }
    if (!arg.is_value()) {
      return false;
    }
    const Value made = made_[arg.value().node->id()].at(arg.value().result);
    const TensorInfo *const was = arg.value().node->info(arg.value().result), *const is = made.node->info(made.result);
    return was && is && was->strides != is->strides;
  }

  /// Makes what the nodes from this one on take.
  void copy_results(const Node* node) {
    for (; node; node = node->next()) {
      for (const Arg& arg : node->args()) {
        arg.for_each_value([&](Value value) {
          if (!made_[value.node->id()].empty()) {
            as_in_code(value);
          }
        });
      }
    }
  }

  void write(Node& node) {
    if (node.kind() == NodeKind::Placeholder) {
      Node* const input = to_->placeholder(node.name());
      input->set_info(node.info() ? std::optional<TensorInfo>(*node.info()) : std::nullopt);
      made_[node.id()] = {Value{input, 0}};
      return;
    }
    const auto chain = chains_.find(&node);
    if (chain != chains_.end()) {
      const Value last = chain->second.first->is_operator("aten::convolution") ? write_convolution(chain->second)
                                                                               : write_product(chain->second);
      made_[node.id()] = {last};
      made_[node.id()].resize(node.num_results(), last); // of others nobody takes anything
      return;
    }
    const bool changes =
        std::any_of(node.args().begin(), node.args().end(), [&](const Arg& arg) { return has_other_strides(arg); });
    const bool follows = changes && node.kind() == NodeKind::CallOperator && takes_any_layout(node);
    const bool is_backward = is_chain_backward(node);
    Node* const copy = to_->node_copy(&node, [&](Value value) {
      const bool is_image = is_backward && (node.args()[0] == Arg(value) || node.args()[1] == Arg(value));
      return Arg(
          is_image      ? with_format(mapped(Arg(value)).value(), c10::MemoryFormat::ChannelsLast)
              : follows ? beside_others(node, value)
                        : as_in_code(value));
    });
    for (uint32_t r = 0; r < node.num_results(); ++r) {
      if (const TensorInfo* const info = node.info(r)) {
        copy->set_info(*info, r);
      }
      made_[node.id()].push_back(Value{copy, r});
    }
    if (follows || is_backward) {
      infer(copy);
    }
  }

  /// An argument of an operator that takes any layout: channels-last where others of its sizes are.
  Value beside_others(const Node& node, Value value) {
    const Value made = mapped(Arg(value)).value();
    const TensorInfo* const info = made.node->info(made.result);
    const bool is_changed = std::any_of(node.args().begin(), node.args().end(), [&](const Arg& arg) {
      return info && arg.is_value() && has_other_strides(arg) &&
          arg.value().node->info(arg.value().result)->sizes == info->sizes;
    });
    return is_changed && info->sizes.size() == 4 ? with_format(made, c10::MemoryFormat::ChannelsLast) : made;
  }

  Value write_convolution(const Chain& chain) {
    const Node& conv = *chain.first;
    const Value x = with_format(mapped(conv.args()[0]).value(), c10::MemoryFormat::ChannelsLast);
    Arg weight = mapped(conv.args()[1]), bias = mapped(conv.args()[2]);
    if (chain.norm) {
      std::tie(weight, bias) = fold_norm(*chain.norm, weight, bias);
    }
    const Arg other =
        chain.other ? Arg(with_format(mapped(Arg(*chain.other)).value(), c10::MemoryFormat::ChannelsLast)) : Arg();
    Node* const made = to_->call_operator(
        "fused::convolution",
        {Arg(x), weight, bias, conv.arg("stride"), conv.arg("padding"), conv.arg("dilation"), conv.arg("groups"), other,
         Arg(c10::IValue(chain.activation))});
    TensorInfo info = *conv.info();
    info.strides = channels_last_strides(info.sizes);
    made->set_info(info);
    return {made, 0};
  }

  /// The weight and bias of a convolution that gives what a normalization behind it gives.
  std::pair<Arg, Arg> fold_norm(const Node& norm, const Arg& weight, const Arg& bias) {
    const Arg gamma = mapped(norm.arg("weight")), beta = mapped(norm.arg("bias")),
              mean = mapped(norm.arg("running_mean")), variance = mapped(norm.arg("running_var"));
    const Arg shifted = call("aten::add.Scalar", {variance, norm.arg("eps")});
    Arg scale = call("aten::rsqrt", {shifted});
    if (!gamma.is_none()) {
      scale = call("aten::mul.Tensor", {scale, gamma});
    }
    const Arg column = call("aten::view", {scale, Arg(c10::IValue(std::vector<int64_t>{-1, 1, 1, 1}))});
    const Arg start = bias.is_none() ? call("aten::neg", {mean}) : call("aten::sub.Tensor", {bias, mean});
    Arg moved = call("aten::mul.Tensor", {start, scale});
    if (!beta.is_none()) {
      moved = call("aten::add.Tensor", {moved, beta});
    }
    return {call("aten::mul.Tensor", {weight, column}), moved};
  }

  Value write_product(const Chain& chain) {
    const Node& node = *chain.first;
    const bool has_bias = node.is_operator("aten::addmm");
    const size_t first = has_bias ? 1 : 0;
    const Value x = as_in_code(node.args()[first].value());
    const int64_t rows = node.info()->sizes[0].value(), columns = node.info()->sizes[1].value();
    const Arg& right = node.args()[first + 1];
    const bool is_transposed = !is_frozen(right);
    Node* const packed = to_->call_operator(
        "fused::pack_weight",
        {mapped(is_transposed ? right.value().node->args()[0] : right), Arg(c10::IValue(is_transposed)),
         Arg(c10::IValue(rows))});
    Node* const made = to_->call_operator(
        "fused::linear",
        {Arg(x), Value{packed, 0}, has_bias ? mapped(node.args()[0]) : Arg(), Arg(c10::IValue(columns)),
         Arg(c10::IValue(chain.activation))});
    made->set_info(*node.info());
    return {made, 0};
  }

  const fx::Graph& from_;
  std::shared_ptr<fx::Graph> to_;
  std::vector<std::vector<Value>> made_; // by node, by result
  std::vector<bool> absorbed_; // by node
  std::vector<uint32_t> origins_;
  std::unordered_map<const Node*, Chain> chains_; // by the last of them
  std::unordered_map<const Node*, bool> frozen_; // inputs
  std::map<std::pair<const Node*, uint32_t>, std::array<Node*, 2>> copies_; // channels-last, contiguous
};

/// Cuts off what depends on frozen inputs alone.
class Splitter {
 public:
  Splitter(std::shared_ptr<fx::Graph> graph, const std::vector<bool>& is_frozen)
      : main_(std::move(graph)), ahead_(fx::Graph::create()) {
    const auto inputs = main_->placeholders();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i < is_frozen.size() && is_frozen[i]) {
        frozen_.emplace(inputs[i], i);
      }
    }
  }

  InferenceGraphs run() {
    std::vector<Node*> found;
    for (Node* node : main_->nodes()) {
      if (depends_on_frozen(*node)) {
        depends_.emplace(node, true);
        found.push_back(node);
      }
    }
    std::vector<Arg> results;
    for (Node* node : found) {
      // Views are made where they are taken.
      const std::vector<Node*> users = node->users();
      const bool is_taken = !node->schema().hasAnyAliasInfo() &&
          std::any_of(users.begin(), users.end(), [&](const Node* user) { return depends_.count(user) == 0; });
      if (is_taken) {
        results.push_back(copy(Value{node, 0}));
        Node* const input = main_->placeholder(node->name() + "_ahead");
        input->set_info(node->info() ? std::optional<TensorInfo>(*node->info()) : std::nullopt);
        replaced_.emplace_back(node, input);
      }
    }
    if (results.empty()) {
      return {main_, nullptr, {}};
    }
    for (auto& [node, input] : replaced_) {
      node->replace_all_uses_with(input);
    }
    main_->eliminate_dead_code();
    ahead_->output(std::move(results));
    return {main_, ahead_, std::move(inputs_)};
  }

 private:
  bool depends_on_frozen(const Node& node) const {
    if (node.kind() != NodeKind::CallOperator || node.num_results() != 1 || node.schema().is_mutable() ||
        fx::is_impure(node)) {
      return false;
    }
    size_t tensors = 0;
    for (const Arg& arg : node.args()) {
      if (arg.is_value()) {
        const Node* const from = arg.value().node;
        if (frozen_.count(from) == 0 && depends_.count(from) == 0) {
          return false;
        }
        ++tensors;
      } else if (!arg.is_constant() && !arg.is_none()) {
        return false;
      }
    }
    return tensors > 0;
  }

  Arg copy(Value value) {
    const auto known = copies_.find(value.node);
    if (known != copies_.end()) {
      return Value{known->second, value.result};
    }
    Node* made = nullptr;
    const auto input = frozen_.find(value.node);
    if (input != frozen_.end()) {
      made = ahead_->placeholder(value.node->name());
      inputs_.push_back(input->second);
    } else {
      made = ahead_->node_copy(value.node, [&](Value from) { return copy(from); });
    }
    made->set_info(value.node->info() ? std::optional<TensorInfo>(*value.node->info()) : std::nullopt);
    copies_.emplace(value.node, made);
    return Value{made, value.result};
  }

  std::shared_ptr<fx::Graph> main_, ahead_;
  std::unordered_map<const Node*, size_t> frozen_;
  std::unordered_map<const Node*, bool> depends_;
  std::unordered_map<const Node*, Node*> copies_;
  std::vector<std::pair<Node*, Node*>> replaced_;
  std::vector<size_t> inputs_;
};

} // namespace

InferenceGraphs prepare_inference(const capture::BackendInput& input) {
  if (input.kind != capture::GraphKind::Inference) {
    return {input.graph, nullptr, {}};
  }
  register_fused_ops();
  try {
    if (auto rewritten = Rewriter(*input.graph, input.is_frozen).run()) {
      return Splitter(std::move(rewritten), input.is_frozen).run();
    }
  } catch (const c10::Error&) {
    // Something about it is not known: it runs as it is.
  }
  return {input.graph, nullptr, {}};
}

std::shared_ptr<fx::Graph> prepare_joint(const fx::Graph& graph, std::vector<uint32_t>& origins) {
  register_fused_ops();
  try {
    Rewriter rewriter(graph, {});
    auto rewritten = rewriter.run();
    origins = std::move(rewriter.origins());
    return rewritten;
  } catch (const c10::Error&) {
    return nullptr; // something about it is not known: it is cut as it is
  }
}

} // namespace torch::fused
