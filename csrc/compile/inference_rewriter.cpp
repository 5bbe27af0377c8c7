#include <csrc/compile/inference_rewriter.h>

#include <csrc/compile/inference_norms.h>
#include <csrc/functionalize/meta_call.h>

#include <aten/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

namespace torch::fused {

using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::TensorInfo;
using fx::Value;

std::shared_ptr<fx::Graph> Rewriter::run() {
  bool gains = !chains_.is_empty();
  for (const Node* node : from_.nodes()) {
    gains = gains || is_norm_by_batch(*node) || is_norm_by_batch_backward(*node);
  }
  if (!gains) {
    return nullptr;
  }
  bool is_at_writes = false;
  for (Node* node : from_.nodes()) {
    // Behind what is written to inputs stands nothing else: copies of results go before.
    if (!is_at_writes && node->kind() == NodeKind::CallOperator && node->schema().is_mutable()) {
      is_at_writes = true;
      copy_results(node);
    }
    if (!chains_.is_absorbed(*node)) {
      write(*node);
    }
    origins_.resize(to_->num_ids(), node->id());
  }
  to_->eliminate_dead_code();
  to_->lint();
  return to_;
}

Arg Rewriter::mapped(const Arg& arg) const {
  return arg.is_value() ? Arg(made_[arg.value().node->id()].at(arg.value().result)) : arg;
}

Node* Rewriter::infer(Node* node) {
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

Arg Rewriter::call(const char* op, std::vector<Arg> args) {
  return Value{infer(to_->call_operator(op, std::move(args))), 0};
}

Value Rewriter::with_format(Value value, c10::MemoryFormat format) {
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

Value Rewriter::as_in_code(Value old) {
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

bool Rewriter::has_other_strides(const Arg& arg) const {
  if (arg.is_list()) {
    return std::any_of(arg.list().begin(), arg.list().end(), [&](const Arg& item) { return has_other_strides(item); });
  }
  if (!arg.is_value()) {
    return false;
  }
  const Value made = made_[arg.value().node->id()].at(arg.value().result);
  const TensorInfo *const was = arg.value().node->info(arg.value().result), *const is = made.node->info(made.result);
  return was && is && was->strides != is->strides;
}

void Rewriter::copy_results(const Node* node) {
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

void Rewriter::write(Node& node) {
  if (node.kind() == NodeKind::Placeholder) {
    Node* const input = to_->placeholder(node.name());
    input->set_info(node.info() ? std::optional<TensorInfo>(*node.info()) : std::nullopt);
    made_[node.id()] = {Value{input, 0}};
    return;
  }
  if (const Chain* const chain = chains_.ending_at(node)) {
    const Value last =
        chain->first->is_operator("aten::convolution") ? write_convolution(*chain) : write_product(*chain);
    made_[node.id()] = {last};
    made_[node.id()].resize(node.num_results(), last); // of others nobody takes anything
    return;
  }
  if ((is_norm_by_batch(node) && write_norm(node)) || (is_norm_by_batch_backward(node) && write_norm_backward(node))) {
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

Value Rewriter::beside_others(const Node& node, Value value) {
  const Value made = mapped(Arg(value)).value();
  const TensorInfo* const info = made.node->info(made.result);
  const bool is_changed = std::any_of(node.args().begin(), node.args().end(), [&](const Arg& arg) {
    return info && arg.is_value() && has_other_strides(arg) &&
        arg.value().node->info(arg.value().result)->sizes == info->sizes;
  });
  return is_changed && info->sizes.size() == 4 ? with_format(made, c10::MemoryFormat::ChannelsLast) : made;
}

Value Rewriter::write_convolution(const Chain& chain) {
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

std::pair<Arg, Arg> Rewriter::fold_norm(const Node& norm, const Arg& weight, const Arg& bias) {
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

Value Rewriter::write_product(const Chain& chain) {
  const Node& node = *chain.first;
  const bool has_bias = node.is_operator("aten::addmm");
  const size_t first = has_bias ? 1 : 0;
  const Value x = as_in_code(node.args()[first].value());
  const int64_t rows = node.info()->sizes[0].value(), columns = node.info()->sizes[1].value();
  const Arg& right = node.args()[first + 1];
  const bool is_transposed = !chains_.is_frozen(right);
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

} // namespace torch::fused
