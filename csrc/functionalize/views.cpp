#include <csrc/functionalize/views.h>

#include <csrc/fx/coerce.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>

namespace torch::functionalize {

namespace {

using c10::IValue;
using fx::Arg;

constexpr std::string_view kReshapes[] = {
    "aten::_reshape_alias", "aten::_unsafe_view", "aten::expand",    "aten::flatten",
    "aten::reshape",        "aten::squeeze",      "aten::unflatten", "aten::unsafe_squeeze",
    "aten::unsqueeze",      "aten::view",         "aten::view_as",
};
constexpr std::string_view kIdentities[] = {"aten::alias", "aten::detach", "aten::lift_fresh", "aten::lift"};

template <size_t N>
bool is_among(const std::string& name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

c10::OperatorHandle find(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

/// Which dimension a call takes apart, and where element `index` begins.
ViewStep element_step(
    const fx::Node& node, size_t self, size_t index, const std::vector<at::Tensor>& elements, bool grad_mode) {
  const auto place = node.schema().argumentIndexWithName("dim");
  TORCH_CHECK(place, "the views that ", node.target(), " makes cannot be made one by one");
  const Arg dim = node.arg(static_cast<size_t>(*place));
  if (node.is_operator("aten::unbind")) {
    return {find("aten::select", "int"), {Arg(), dim, static_cast<int64_t>(index)}, 0, 0, grad_mode};
  }
  TORCH_CHECK(self == 0 && dim.is_constant(), "the views that ", node.target(), " makes cannot be made one by one");
  int64_t axis = dim.constant().toInt();
  axis += axis < 0 ? elements[index].dim() : 0;
  int64_t start = 0;
  for (size_t i = 0; i < index; ++i) {
    start += elements[i].size(axis);
  }
  const int64_t end = start + elements[index].size(axis);
  return {find("aten::slice", "Tensor"), {Arg(), axis, start, end, int64_t(1)}, 0, 0, grad_mode};
}

bool is_dense(const at::Tensor& shape) {
  return shape.is_non_overlapping_and_dense();
}

} // namespace

bool is_view_node(const fx::Node& node) {
  return node.is_operator()
      ? !node.schema().is_mutable() && (node.schema().hasAnyAliasInfo() || node.is_operator("aten::_unsafe_view"))
      : node.is_function("unpack") || node.is_function("getitem");
}

std::vector<Arg> ViewStep::with(const Arg& base) const {
  std::vector<Arg> all = args;
  all[self] = base;
  return all;
}

at::Tensor ViewStep::run(const at::Tensor& base) const {
  const c10::AutoGradMode mode(grad_mode && c10::GradMode::is_enabled());
  torch::jit::Stack stack;
  for (size_t i = 0; i < args.size(); ++i) {
    stack.push_back(i == self ? IValue(base) : args[i].constant());
  }
  if (is_strided()) {
    stack.at(3) = base.storage_offset() + offset;
  }
  op.callBoxed(&stack);
  return stack.at(0).toTensor();
}

ViewStep view_step(
    const fx::Node& node,
    const c10::OperatorHandle& op,
    size_t self,
    std::optional<size_t> index,
    const std::vector<at::Tensor>& elements,
    bool grad_mode,
    c10::Device device) {
  if (index) {
    return element_step(node, self, *index, elements, grad_mode);
  }
  ViewStep step{op, {}, self, 0, grad_mode};
  for (size_t i = 0; i < node.args().size(); ++i) {
    TORCH_CHECK(i == self || node.arg(i).is_constant(), "a view (", node.target(), ") depends on another tensor");
    const bool is_meta = i != self && node.arg(i).constant().isDevice() && node.arg(i).constant().toDevice().is_meta();
    step.args.push_back(i == self ? Arg() : is_meta ? Arg(device) : node.arg(i));
  }
  return step;
}

fx::Value ViewInverse::reshape(fx::Value value, const at::Tensor& like) {
  try {
    return call("aten::view", {value, like.sizes().vec()});
  } catch (const c10::Error&) {
    // Its strides do not allow it.
    const fx::Value dense = call("aten::clone", {value, static_cast<int64_t>(c10::MemoryFormat::Contiguous)});
    return call("aten::view", {dense, like.sizes().vec()});
  }
}

fx::Value ViewInverse::undo(
    const ViewStep& step,
    fx::Value parent,
    const at::Tensor& parent_shape,
    fx::Value value,
    const at::Tensor& view_shape) {
  const std::string& name = step.op.schema().name();
  if (is_among(name, kIdentities)) {
    return value;
  }
  const bool is_dtype = name == "aten::view" && step.op.schema().overload_name() == "dtype";
  if (is_dtype) {
    const fx::Value same = call("aten::view.dtype", {value, static_cast<int64_t>(parent_shape.scalar_type())});
    return reshape(same, parent_shape);
  }
  if (is_among(name, kReshapes)) {
    TORCH_CHECK(
        view_shape.numel() == parent_shape.numel(),
        "an expanded tensor, whose elements are several of it, is written to");
    return reshape(value, parent_shape);
  }
  if (name == "aten::transpose" || name == "aten::swapaxes" || name == "aten::swapdims") {
    return call("aten::transpose.int", {value, step.args[1], step.args[2]});
  }
  if (name == "aten::t") {
    return call("aten::t", {value});
  }
  if (name == "aten::permute") {
    const std::vector<int64_t> dims = step.args[1].constant().toIntVector();
    std::vector<int64_t> back(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto from = static_cast<size_t>(dims[i] + (dims[i] < 0 ? static_cast<int64_t>(dims.size()) : 0));
      back[from] = static_cast<int64_t>(i);
    }
    return call("aten::permute", {value, back});
  }
  if (name == "aten::select") {
    return call("aten::select_scatter", {parent, value, step.args[1], step.args[2]});
  }
  if (name == "aten::slice") {
    return call("aten::slice_scatter", {parent, value, step.args[1], step.args[2], step.args[3], step.args[4]});
  }
  if (name == "aten::diagonal") {
    return call("aten::diagonal_scatter", {parent, value, step.args[1], step.args[2], step.args[3]});
  }
  if (name == "aten::unfold") {
    const fx::Value own = call("aten::clone", {parent, static_cast<int64_t>(c10::MemoryFormat::Contiguous)});
    const fx::Value windows = call("aten::unfold", step.with(own));
    std::vector<int64_t> strides;
    for (const fx::Dim& stride : windows.node->info()->strides) {
      strides.push_back(stride.value());
    }
    return call("aten::as_strided_scatter", {own, value, view_shape.sizes().vec(), strides, int64_t(0)});
  }
  if (name == "aten::as_strided") {
    TORCH_CHECK(is_dense(parent_shape), "a view by strides of a tensor with gaps is written to");
    const int64_t offset = view_shape.storage_offset() - parent_shape.storage_offset();
    const fx::Value own = call("aten::clone", {parent}); // begins where its memory begins
    return call("aten::as_strided_scatter", {own, value, view_shape.sizes().vec(), view_shape.strides().vec(), offset});
  }
  if (name == "aten::view_as_real") {
    return call("aten::view_as_complex", {value});
  }
  if (name == "aten::view_as_complex") {
    return call("aten::view_as_real", {value});
  }
  if (name == "aten::_conj") {
    return call("aten::conj_physical", {value});
  }
  if (name == "aten::_neg_view") {
    return call("aten::neg", {value});
  }
  TORCH_CHECK(false, "a tensor is written to through ", toString(step.op.operator_name()));
}

} // namespace torch::functionalize
