// Nodes that become instructions, and views.
#include <csrc/compile/lowering.h>

#include <csrc/compile/probe.h>
#include <csrc/compile/row_rules.h>
#include <csrc/fx/effects.h>

#include <aten/Functions.h>
#include <aten/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace torch::fused {

namespace {

using c10::IValue;

bool broadcasts_to(const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
  if (from.size() > to.size()) {
    return false;
  }
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1 && from[d] != to[to.size() - from.size() + d]) {
      return false;
    }
  }
  return true;
}

std::vector<size_t> all_dims(const View& view) {
  std::vector<size_t> dims(view.layout.sizes.size());
  std::iota(dims.begin(), dims.end(), size_t{0});
  return dims;
}

} // namespace

Operand Lowering::operand_of(const View& view, const Target& target, c10::ScalarType dtype) const {
  Operand operand;
  operand.buffer = view.buffer;
  operand.dtype = dtype;
  operand.access =
      Access::of(target.sizes, broadcast_strides(view.layout, target.sizes), target.order, view.layout.offset);
  return operand;
}

/// Views are worked out without data: the operator runs on a tensor that has the layout alone.
bool Lowering::add_view(const fx::Node& node) {
  const auto& schema = node.schema();
  if (!schema.hasAnyAliasInfo() || schema.is_mutable() || node.num_results() != 1 || node.args().empty() ||
      node.is_operator("aten::as_strided")) {
    return false;
  }
  const View* const from = view_of(node.args()[0]);
  if (!from) {
    return false;
  }
  const at::Tensor base = at::empty_strided(
      from->layout.sizes, from->layout.strides,
      at::TensorOptions(c10::kMeta).dtype(program_.buffers[from->buffer].dtype));
  torch::jit::Stack stack{base};
  for (size_t i = 1; i < node.args().size(); ++i) {
    if (!node.args()[i].is_constant()) {
      return false;
    }
    stack.push_back(fx::convert(node.args()[i].constant(), fx::conversion_to(*schema.arguments()[i].type())));
  }
  node.operator_handle().callBoxed(&stack);
  const auto view = [&](const at::Tensor& tensor) -> std::optional<View> {
    if (!tensor.is_meta() || tensor.scalar_type() != base.scalar_type() ||
        tensor.storage().unsafeGetStorageImpl() != base.storage().unsafeGetStorageImpl() || tensor.is_conj() ||
        tensor.is_neg()) {
      return std::nullopt;
    }
    return View{
        from->buffer, {tensor.sizes().vec(), tensor.strides().vec(), from->layout.offset + tensor.storage_offset()}};
  };
  if (stack.size() == 1 && stack[0].isTensor()) {
    auto made = view(stack[0].toTensor());
    if (made) {
      known_[node.id()] = {std::move(*made)};
    }
    return made.has_value();
  }
  if (stack.size() != 1 || !stack[0].isTensorList()) {
    return false;
  }
  std::vector<View> views;
  for (const at::Tensor& tensor : stack[0].toTensorVector()) {
    auto made = view(tensor);
    if (!made) {
      return false;
    }
    views.push_back(std::move(*made));
  }
  known_[node.id()] = {std::move(views)};
  return true;
}

/// Tensors of one value.
bool Lowering::add_constant(const fx::Node& node) {
  static constexpr std::string_view kZero[] = {"aten::zeros", "aten::zeros_like", "aten::new_zeros"};
  static constexpr std::string_view kOne[] = {"aten::ones", "aten::ones_like", "aten::new_ones"};
  const auto is_of = [&](const auto& names) {
    return std::any_of(
        std::begin(names), std::end(names), [&](std::string_view name) { return node.is_operator(name); });
  };
  c10::Scalar value;
  if (is_of(kOne)) {
    value = 1;
  } else if (node.is_operator("aten::full") || node.is_operator("aten::full_like")) {
    const fx::Arg& fill = node.arg("fill_value");
    if (!fill.is_constant() || !fill.constant().isScalar()) {
      return false;
    }
    value = fill.constant().toScalar();
  } else if (is_of(kZero)) {
    value = 0;
  } else {
    return false;
  }
  const auto target = target_of(node);
  if (!target) {
    return false;
  }
  const at::Tensor one = at::full({1}, value, at::TensorOptions(target->dtype));
  Operand operand;
  operand.dtype = target->dtype;
  std::memcpy(operand.value.data(), one.const_data_ptr(), one.element_size());
  const uint32_t slot = new_slots(1), buffer = result_buffer(node, *target, slot);
  Inst copy;
  copy.kind = InstKind::Convert;
  copy.dtype = target->dtype;
  copy.name = node.target();
  builder_.add_pointwise(copy, {operand}, buffer, call_of(node, slot));
  known_[node.id()] = {whole(buffer)};
  return true;
}

/// Casts and copies.
bool Lowering::add_copy(const fx::Node& node) {
  const bool is_copy = node.is_operator("aten::copy"); // of its second argument, as what the first is
  if (!is_copy && !node.is_operator("aten::_to_copy") && !node.is_operator("aten::clone") &&
      !node.is_operator("aten::lift_fresh_copy")) {
    return false;
  }
  const View* const from = view_of(node.args()[is_copy ? 1 : 0]);
  const auto target = target_of(node);
  if (!from || !target || !is_lowered_dtype(buffer_of(*from).dtype) ||
      !broadcasts_to(from->layout.sizes, target->sizes) || (!is_copy && from->layout.sizes != target->sizes)) {
    return false;
  }
  const uint32_t slot = new_slots(1), buffer = result_buffer(node, *target, slot);
  Inst copy;
  copy.kind = InstKind::Convert;
  copy.dtype = target->dtype;
  copy.name = node.target();
  builder_.add_pointwise(copy, {operand_of(*from, *target, buffer_of(*from).dtype)}, buffer, call_of(node, slot));
  known_[node.id()] = {whole(buffer)};
  return true;
}

bool Lowering::add_pointwise(const fx::Node& node) {
  const auto& schema = node.schema();
  const auto target = target_of(node);
  if (!target || schema.returns().size() != 1 || schema.hasAnyAliasInfo() || fx::is_impure(node) ||
      node.operator_handle().operator_name().name.rfind("aten::", 0) != 0) {
    return false;
  }
  std::vector<IValue> stack;
  std::vector<ProbeTensor> tensors;
  std::vector<const View*> views;
  for (size_t i = 0; i < node.args().size(); ++i) {
    const fx::Arg& arg = node.args()[i];
    if (arg.is_constant()) {
      stack.push_back(fx::convert(arg.constant(), fx::conversion_to(*schema.arguments()[i].type())));
      continue;
    }
    const View* const view = view_of(arg);
    if (!view || !is_lowered_dtype(buffer_of(*view).dtype) || !broadcasts_to(view->layout.sizes, target->sizes)) {
      return false;
    }
    tensors.push_back({i, buffer_of(*view).dtype, view->layout.sizes});
    views.push_back(view);
    stack.emplace_back();
  }
  if (tensors.empty()) {
    return false;
  }
  const auto learned = learn_kernel(node.operator_handle(), stack, tensors, target->dtype, target->sizes);
  if (!learned) {
    return false;
  }
  std::vector<Operand> operands;
  for (const LearnedKernel::Operand& from : learned->operands) {
    Operand operand;
    if (from.tensor >= 0) {
      const View& view = *views[from.tensor];
      const auto copy = turned_input(view, *target);
      operand = operand_of(copy ? whole(*copy) : view, *target, from.dtype);
    } else {
      operand.dtype = from.dtype;
      operand.value = from.value;
    }
    operands.push_back(std::move(operand));
  }
  const uint32_t slot = new_slots(1), buffer = result_buffer(node, *target, slot);
  Inst inst;
  inst.kind = InstKind::Kernel;
  inst.dtype = learned->written;
  inst.kernel = learned->kernel;
  std::copy(learned->functor.begin(), learned->functor.end(), inst.functor.begin());
  inst.wide_inputs = learned->wide_inputs;
  inst.name = node.target();
  builder_.add_pointwise(std::move(inst), operands, buffer, call_of(node, slot));
  known_[node.id()] = {whole(buffer)};
  return true;
}

/// The derivative of dropout, whose kernel is a loop of its own: grad * (mask * scale), in floats.
bool Lowering::add_dropout_backward(const fx::Node& node) {
  const View* const grad = node.is_operator("aten::native_dropout_backward") ? view_of(node.args()[0]) : nullptr;
  const View* const mask = grad ? view_of(node.args()[1]) : nullptr;
  const auto target = target_of(node);
  constexpr c10::ScalarType kFloat = c10::ScalarType::Float;
  if (!mask || !target || target->dtype != kFloat || buffer_of(*grad).dtype != kFloat ||
      buffer_of(*mask).dtype != c10::ScalarType::Bool || grad->layout.sizes != target->sizes ||
      mask->layout.sizes != target->sizes || !node.args()[2].is_constant()) {
    return false;
  }
  const auto mul = c10::Dispatcher::singleton().findSchemaOrThrow("aten::mul", "Tensor");
  const auto learned = learn_kernel(
      mul, {IValue(), IValue()}, {{0, kFloat, target->sizes}, {1, kFloat, target->sizes}}, kFloat, target->sizes);
  if (!learned || learned->operands.size() != 2) {
    return false;
  }
  const auto add = [&](Inst inst, const std::vector<Operand>& operands) {
    const uint32_t buffer = result_buffer(node, *target, new_slots(1));
    inst.dtype = kFloat;
    builder_.add_pointwise(std::move(inst), operands, buffer, std::nullopt);
    return whole(buffer);
  };
  Inst cast, product;
  cast.kind = InstKind::Convert;
  cast.name = "convert";
  product.kind = InstKind::Kernel;
  product.name = "aten::mul.Tensor";
  product.kernel = learned->kernel;
  std::copy(learned->functor.begin(), learned->functor.end(), product.functor.begin());
  Operand scale;
  const auto value = static_cast<float>(node.args()[2].constant().toDouble());
  std::memcpy(scale.value.data(), &value, sizeof(value));
  const View kept = add(cast, {operand_of(*mask, *target, c10::ScalarType::Bool)});
  const View factor = add(product, {operand_of(kept, *target, kFloat), scale});
  known_[node.id()] = {add(product, {operand_of(*grad, *target, kFloat), operand_of(factor, *target, kFloat)})};
  return true;
}

/// Reductions of the last dimensions, softmax and normalizations, behind a group that makes what they read.
bool Lowering::add_rows(const fx::Node& node) {
  const RowRule* const rule = find_row_rule(node);
  const View* const first = rule ? view_of(node.args()[0]) : nullptr;
  if (!first) {
    return false;
  }
  const auto plan = plan_rows(*rule, node, first->layout.sizes, buffer_of(*first).dtype);
  if (!plan) {
    return false;
  }
  RowCall row_call{plan->op, plan->stack, {}, {}, {}, rule->keeps_dim, plan->kernel};
  row_call.eps = plan->eps;
  row_call.first_tensor = rule->kind == RowKind::Norm ? 2 : 0; // weight and bias
  const Target rows{c10::ScalarType::Float, first->layout.sizes, {}, all_dims(*first)};
  std::vector<Operand> operands;
  for (const size_t place : plan->row_args) {
    const View* const view = view_of(node.args()[place]);
    if (!view || view->layout.sizes != rows.sizes) {
      return false;
    }
    operands.push_back(operand_of(*view, rows, buffer_of(*view).dtype));
    row_call.places.push_back(place);
  }
  for (const size_t place : plan->whole_args) {
    const View* const view = view_of(node.args()[place]);
    const Access access = view ? operand_of(*view, {{}, view->layout.sizes, {}, all_dims(*view)}, {}).access : Access{};
    if (!view || !builder_.is_input(view->buffer) || !access.is_linear()) {
      return false;
    }
    row_call.tensors.emplace_back(place, View{view->buffer, {{plan->row}, {1}, view->layout.offset}});
  }
  std::vector<Target> targets;
  for (uint32_t r = 0; r < node.num_results(); ++r) {
    const auto target = target_of(node, r);
    // Results in the order of the loop.
    if (!target || !std::is_sorted(target->order.begin(), target->order.end())) {
      return false;
    }
    const int64_t n = Layout{target->sizes, {}, 0}.numel(), all = first->layout.numel();
    if (n != (rule->is_row[r] ? all / plan->row : all)) {
      return false;
    }
    row_call.is_row.push_back(rule->is_row[r]);
    targets.push_back(*target);
  }
  const uint32_t slot = new_slots(node.num_results());
  std::vector<uint32_t> results;
  for (uint32_t r = 0; r < node.num_results(); ++r) {
    results.push_back(result_buffer(node, targets[r], slot + r, r));
  }
  Inst inst;
  inst.kind = InstKind::RowCall;
  inst.name = node.target();
  const auto shared = std::make_shared<const RowCall>(std::move(row_call));
  inst.row_call = shared;
  if (!builder_.add_rows(std::move(inst), operands, plan->row, results, call_of(node, slot))) {
    return false;
  }
  for (const auto& [place, view] : shared->tensors) {
    builder_.mark_read(view.buffer);
  }
  auto& made = known_[node.id()];
  for (const uint32_t buffer : results) {
    made.emplace_back(whole(buffer));
  }
  return true;
}

} // namespace torch::fused
