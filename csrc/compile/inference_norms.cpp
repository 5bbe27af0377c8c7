#include <csrc/compile/inference_norms.h>

#include <csrc/compile/inference_rewriter.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace torch::fused {

using fx::Arg;
using fx::Node;
using fx::TensorInfo;
using fx::Value;

namespace {

const TensorInfo* info_of(const Arg& arg) {
  return arg.is_value() ? arg.value().node->info(arg.value().result) : nullptr;
}

bool is_true(const Arg& arg) {
  return arg.is_constant() && arg.constant().isBool() && arg.constant().toBool();
}

bool has_numbers(const TensorInfo& info) {
  const auto are_numbers = [](const std::vector<fx::Dim>& dims) {
    return std::none_of(dims.begin(), dims.end(), [](fx::Dim dim) { return dim.is_expression(); });
  };
  return info.strides.size() == info.sizes.size() && are_numbers(info.sizes) && are_numbers(info.strides);
}

/// Whether an image and vectors that may be absent are of floats or of doubles.
bool are_of_one_dtype(const Node& node, const Arg& image, std::initializer_list<std::string_view> names) {
  const TensorInfo* const info = info_of(image);
  if (!info || !info->device.is_cpu() || info->layout != c10::kStrided || info->sizes.size() < 2 ||
      !has_numbers(*info) || (info->dtype != c10::ScalarType::Float && info->dtype != c10::ScalarType::Double)) {
    return false;
  }
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    const Arg& arg = node.arg(name);
    const TensorInfo* const other = info_of(arg);
    return arg.is_none() || (other && other->dtype == info->dtype && other->sizes.size() == 1);
  });
}

std::vector<fx::Dim> contiguous_strides(const std::vector<fx::Dim>& sizes) {
  std::vector<fx::Dim> strides(sizes.size(), fx::Dim(1));
  for (size_t d = sizes.size(); d-- > 1;) {
    strides[d - 1] = fx::Dim(strides[d].value() * std::max<int64_t>(1, sizes[d].value()));
  }
  return strides;
}

/// The format of an image whose normalization lies as it does; nothing for others.
std::optional<c10::MemoryFormat> format_of(const TensorInfo& image) {
  if (image.strides == contiguous_strides(image.sizes)) {
    return c10::MemoryFormat::Contiguous;
  }
  if (image.sizes.size() == 4 && image.strides == channels_last_strides(image.sizes)) {
    return c10::MemoryFormat::ChannelsLast;
  }
  return std::nullopt;
}

TensorInfo channels_of(TensorInfo image) {
  image.sizes = {image.sizes[1]};
  image.strides = {fx::Dim(1)};
  return image;
}

std::vector<bool> mask_of(const Node& node) {
  return node.arg("output_mask").constant().toBoolList().vec();
}

/// The backward pass of an activation that a normalization's backward pass alone takes: its gradient, and which it is.
struct ActivationBefore {
  Arg grad;
  std::string activation;
};
std::optional<ActivationBefore> activation_before(const Node& backward) {
  const Arg& taken = backward.arg("grad_out");
  const Node& step = *taken.value().node;
  const Node* const norm = backward.arg("save_mean").value().node;
  const auto is_result_of_norm = [&](const Arg& arg) {
    return arg.is_value() && arg.value().node == norm && arg.value().result == 0;
  };
  if (!is_norm_by_batch(*norm) || !(norm->args()[0] == backward.arg("input")) || !mask_of(backward)[0] ||
      info_of(backward.arg("input"))->dtype != c10::ScalarType::Float || !step.is_operator() || step.num_users() != 1) {
    return std::nullopt;
  }
  if (step.is_operator("aten::silu_backward") && is_result_of_norm(step.args()[1])) {
    return ActivationBefore{step.args()[0], "silu"};
  }
  const bool is_relu = step.is_operator("aten::threshold_backward") && step.args()[1].is_value() &&
      step.args()[1].value().node->is_operator("aten::relu") &&
      is_result_of_norm(step.args()[1].value().node->args()[0]) && step.args()[2].is_constant() &&
      step.args()[2].constant().toScalar().toDouble() == 0;
  return is_relu ? std::optional(ActivationBefore{step.args()[0], "relu"}) : std::nullopt;
}

/// Whether operators by element take the gradient of the input, which would be stored for nothing else.
bool goes_on_by_elements(const Node& node) {
  static constexpr std::string_view kNames[] = {
      "aten::add",           "aten::elu_backward",        "aten::gelu_backward",    "aten::hardswish_backward",
      "aten::mul",           "aten::leaky_relu_backward", "aten::sigmoid_backward", "aten::silu_backward",
      "aten::tanh_backward", "aten::threshold_backward"};
  const std::vector<Node*> users = node.users();
  return std::any_of(users.begin(), users.end(), [&](const Node* user) {
    return std::any_of(user->args().begin(), user->args().end(), [&](const Arg& arg) {
      return arg == Arg(Value{const_cast<Node*>(&node), 0}) &&
          std::any_of(
                 std::begin(kNames), std::end(kNames), [&](std::string_view name) { return user->is_operator(name); });
    });
  });
}

} // namespace

bool is_norm_by_batch(const Node& node) {
  if (node.is_operator("aten::_native_batch_norm_legit_functional")) {
    return is_true(node.arg("training")) &&
        are_of_one_dtype(node, node.args()[0], {"weight", "bias", "running_mean", "running_var"});
  }
  return node.is_operator("aten::native_batch_norm") && is_true(node.arg("training")) &&
      node.arg("running_mean").is_none() && node.arg("running_var").is_none() &&
      are_of_one_dtype(node, node.args()[0], {"weight", "bias"});
}

bool is_norm_by_batch_backward(const Node& node) {
  return node.is_operator("aten::native_batch_norm_backward") && is_true(node.arg("train")) &&
      are_of_one_dtype(node, node.arg("input"), {"weight", "save_mean", "save_invstd"}) &&
      node.arg("save_mean").is_value() && node.arg("save_invstd").is_value() && node.arg("output_mask").is_constant();
}

Arg Rewriter::by_channel(const Arg& vector, const TensorInfo& image) {
  if (image.sizes.size() == 2) {
    return vector;
  }
  std::vector<int64_t> sizes(image.sizes.size() - 1, 1);
  sizes[0] = image.sizes[1].value();
  return call("aten::view", {vector, Arg(c10::IValue(std::move(sizes)))});
}

Arg Rewriter::like_image(const char* op, std::vector<Arg> args, const TensorInfo& image) {
  Node* const made = to_->call_operator(op, std::move(args));
  made->set_info(image);
  return Value{made, 0};
}

bool Rewriter::write_norm(const Node& node) {
  const Value x = mapped(node.args()[0]).value();
  const TensorInfo image = *x.node->info(x.result);
  if (!format_of(image)) {
    return false;
  }
  const auto argument = [&](const char* name) { return mapped(node.arg(name)); };
  const bool has_running = node.num_results() == 5;
  Node* const statistics = to_->call_operator(
      "fused::batch_norm_statistics",
      {Arg(x), argument("weight"), argument("running_mean"), argument("running_var"), node.arg("momentum"),
       node.arg("eps")});
  for (uint32_t r = 0; r < (has_running ? 5 : 3); ++r) {
    statistics->set_info(channels_of(image), r);
  }
  const Arg mean = by_channel(Value{statistics, 0}, image), scale = by_channel(Value{statistics, 2}, image);
  const Arg centered = like_image("aten::sub.Tensor", {Arg(x), mean}, image);
  const Arg bias = argument("bias");
  const Arg result = bias.is_none() ? like_image("aten::mul.Tensor", {centered, scale}, image)
                                    : like_image("aten::addcmul", {by_channel(bias, image), centered, scale}, image);
  auto& made = made_[node.id()];
  made = {result.value(), {statistics, 0}, {statistics, 1}};
  if (has_running) {
    made.insert(made.end(), {{statistics, 3}, {statistics, 4}});
  }
  return true;
}

Value Rewriter::like(const Arg& old, const TensorInfo& image) {
  const Value made = mapped(old).value();
  return made.node->info(made.result)->strides == image.strides ? made : with_format(made, *format_of(image));
}

bool Rewriter::write_norm_activation_backward(const Node& node) {
  const auto found = activation_before(node);
  const Value x = mapped(node.arg("input")).value();
  const TensorInfo image = *x.node->info(x.result);
  const Value mean = mapped(node.arg("save_mean")).value();
  if (!found || !format_of(image) || !mean.node->is_operator("fused::batch_norm_statistics")) {
    return false;
  }
  const std::vector<bool> mask = mask_of(node);
  const Arg bias = mapped(node.arg("save_mean").value().node->arg("bias"));
  Node* const made = to_->call_operator(
      "fused::batch_norm_activation_backward",
      {Arg(like(found->grad, image)), Arg(x), mapped(node.arg("weight")), bias, Arg(mean),
       mapped(node.arg("save_invstd")), Value{mean.node, 2}, Arg(c10::IValue(std::vector<bool>{mask[1], mask[2]})),
       Arg(c10::IValue(found->activation))});
  made->set_info(image);
  for (uint32_t r = 1; r < 3; ++r) {
    if (mask[r]) {
      made->set_info(channels_of(image), r);
    }
  }
  made_[node.id()] = {{made, 0}, {made, 1}, {made, 2}};
  return true;
}

bool Rewriter::write_norm_backward(const Node& node) {
  if (write_norm_activation_backward(node)) {
    return true;
  }
  const Value x = mapped(node.arg("input")).value();
  const TensorInfo image = *x.node->info(x.result);
  if (!format_of(image) || !goes_on_by_elements(node)) {
    return false;
  }
  const Value grad = like(node.arg("grad_out"), image);
  const auto argument = [&](const char* name) { return mapped(node.arg(name)); };
  const std::vector<bool> mask = mask_of(node);
  Node* const gradients = to_->call_operator(
      "fused::batch_norm_gradients",
      {Arg(grad), Arg(x), argument("weight"), argument("save_mean"), argument("save_invstd"),
       Arg(c10::IValue(std::vector<bool>{mask[1], mask[2]}))});
  for (uint32_t r = 0; r < 5; ++r) {
    if (r < 3 || mask[r - 2]) {
      gradients->set_info(channels_of(image), r);
    }
  }
  const auto term = [&](uint32_t r) { return by_channel(Value{gradients, r}, image); };
  const Arg centered = like_image("aten::sub.Tensor", {Arg(x), by_channel(argument("save_mean"), image)}, image);
  const Arg sloped = like_image("aten::addcmul", {term(2), centered, term(1)}, image);
  const Arg result = like_image("aten::addcmul", {sloped, Arg(grad), term(0)}, image);
  made_[node.id()] = {result.value(), {gradients, 3}, {gradients, 4}};
  return true;
}

} // namespace torch::fused
