#include <csrc/compile/lower.h>

#include <csrc/compile/group_builder.h>
#include <csrc/compile/probe.h>
#include <csrc/compile/row_rules.h>
#include <csrc/fx/effects.h>

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace torch::fused {

namespace {

using c10::IValue;

/// What stands for a result of a node.
using Known = std::variant<std::monostate, View, uint32_t, std::vector<View>>;

bool is_whole(const Buffer& buffer, const Layout& layout) {
  return layout == Layout{buffer.sizes, buffer.strides, 0};
}

/// Whether several indices are one element.
bool overlaps(const Layout& layout) {
  for (size_t d = 0; d < layout.sizes.size(); ++d) {
    if (layout.sizes[d] > 1 && layout.strides[d] == 0) {
      return true;
    }
  }
  return false;
}

std::vector<int64_t> numbers(const std::vector<fx::Dim>& dims, const fx::Node& node) {
  std::vector<int64_t> values;
  for (const fx::Dim dim : dims) {
    TORCH_CHECK(!dim.is_expression(), "a size of %", node.name(), " is a symbol");
    values.push_back(dim.value());
  }
  return values;
}

bool is_lowered_dtype(c10::ScalarType dtype) {
  return !c10::isComplexType(dtype) && !c10::isQIntType(dtype) && !c10::isBitsType(dtype) && !c10::isFloat8Type(dtype);
}

/// Whether the result of a node is a dense CPU tensor that loops can give, and in which order of dimensions.
struct Target {
  c10::ScalarType dtype;
  std::vector<int64_t> sizes, strides;
  std::vector<size_t> order;
};

std::optional<Target> target_of(const fx::Node& node, uint32_t result = 0) {
  const fx::TensorInfo* const info = node.info(result);
  if (!info || !info->device.is_cpu() || info->layout != c10::kStrided || info->strides.size() != info->sizes.size() ||
      !is_lowered_dtype(info->dtype)) {
    return std::nullopt;
  }
  Target target{info->dtype, numbers(info->sizes, node), numbers(info->strides, node), {}};
  const auto order = dense_order(target.sizes, target.strides);
  if (!order || Layout{target.sizes, {}, 0}.numel() == 0) {
    return std::nullopt;
  }
  target.order = *order;
  return target;
}

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

class Lowering {
 public:
  explicit Lowering(const std::shared_ptr<const fx::Graph>& graph) : graph_(*graph), builder_(program_) {
    program_.graph = graph;
    known_.resize(graph->num_ids());
  }

  Program run();

 private:
  void add_input(const fx::Node& node);
  void add_node(const fx::Node& node);
  void add_function(const fx::Node& node);
  void add_outputs();
  Output output_of(const fx::Arg& arg);
  Output copy_of(const View& view, const fx::Node& node, uint32_t result);

  bool add_view(const fx::Node& node);
  bool add_constant(const fx::Node& node);
  bool add_copy(const fx::Node& node);
  bool add_pointwise(const fx::Node& node);
  bool add_rows(const fx::Node& node);
  void add_call(const fx::Node& node);

  const Known& known(fx::Value value) const {
    return known_[value.node->id()].at(value.result);
  }
  const View* view_of(const fx::Arg& arg) const {
    return arg.is_value() ? std::get_if<View>(&known(arg.value())) : nullptr;
  }
  const Buffer& buffer_of(const View& view) const {
    return program_.buffers[view.buffer];
  }
  uint32_t new_slots(uint32_t count) {
    return std::exchange(program_.num_slots, program_.num_slots + count);
  }
  View whole(uint32_t buffer) const {
    return {buffer, {program_.buffers[buffer].sizes, program_.buffers[buffer].strides, 0}};
  }
  CallArg call_arg(const fx::Arg& arg, const c10::TypePtr& type) const;
  Call call_of(const fx::Node& node, uint32_t first_slot) const;
  uint32_t result_buffer(const fx::Node& node, const Target& target, uint32_t slot, uint32_t result = 0);
  Operand operand_of(const View& view, const Target& target, c10::ScalarType dtype) const;

  const fx::Graph& graph_;
  Program program_;
  GroupBuilder builder_;
  std::vector<std::vector<Known>> known_; // by node, by result
  std::vector<bool> is_returned_; // by buffer
  bool has_outputs_ = false;
};

void Lowering::add_input(const fx::Node& node) {
  const uint32_t slot = new_slots(1);
  program_.input_names.push_back(node.name());
  const fx::TensorInfo* const info = node.info();
  if (!info || !info->device.is_cpu() || info->layout != c10::kStrided || info->strides.size() != info->sizes.size()) {
    program_.inputs.push_back(-1);
    known_[node.id()] = {slot};
    return;
  }
  const uint32_t buffer =
      builder_.add_buffer(node.name(), info->dtype, numbers(info->sizes, node), numbers(info->strides, node));
  program_.buffers[buffer].home = Buffer::Home::Slot;
  program_.buffers[buffer].slot = slot;
  program_.inputs.push_back(buffer);
  known_[node.id()] = {whole(buffer)};
}

CallArg Lowering::call_arg(const fx::Arg& arg, const c10::TypePtr& type) const {
  CallArg made;
  fx::Conversion element = fx::Conversion::None;
  made.conversion = type ? fx::conversion_to(*type, &element) : fx::Conversion::None;
  switch (arg.kind()) {
    case fx::Arg::Kind::Constant:
      made.what = fx::convert(arg.constant(), made.conversion);
      return made;
    case fx::Arg::Kind::Value:
      std::visit(
          Overloaded{
              [](std::monostate) { TORCH_CHECK(false, "a result is not known"); },
              [&](const View& view) { made.what = view; }, [&](uint32_t slot) { made.what = slot; },
              [&](const std::vector<View>& views) {
                std::vector<CallArg> items(views.size());
                for (size_t i = 0; i < views.size(); ++i) {
                  items[i].what = views[i];
                }
                made.what = std::move(items);
                made.list_type = type;
              }},
          known(arg.value()));
      return made;
    case fx::Arg::Kind::List: {
      std::vector<CallArg> items;
      for (const fx::Arg& item : arg.list()) {
        items.push_back(call_arg(item, nullptr));
        items.back().conversion = element;
      }
      made.what = std::move(items);
      made.list_type = type;
      return made;
    }
    default:
      TORCH_CHECK(false, "a size or a graph among the arguments");
  }
}

Call Lowering::call_of(const fx::Node& node, uint32_t first_slot) const {
  Call call{node.name(), node.operator_handle(), {}, first_slot, node.num_results(), {}};
  for (size_t i = 0; i < node.args().size(); ++i) {
    call.args.push_back(call_arg(node.args()[i], node.schema().arguments()[i].type()));
  }
  return call;
}

uint32_t Lowering::result_buffer(const fx::Node& node, const Target& target, uint32_t slot, uint32_t result) {
  const std::string name = "%" + node.name() + (result == 0 ? "" : "." + std::to_string(result));
  const uint32_t buffer = builder_.add_buffer(name, target.dtype, target.sizes, target.strides);
  program_.buffers[buffer].slot = slot;
  return buffer;
}

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
  if (!node.is_operator("aten::_to_copy") && !node.is_operator("aten::clone") &&
      !node.is_operator("aten::lift_fresh_copy")) {
    return false;
  }
  const View* const from = view_of(node.args()[0]);
  const auto target = target_of(node);
  if (!from || !target || !is_lowered_dtype(buffer_of(*from).dtype) || from->layout.sizes != target->sizes) {
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
      operand = operand_of(*views[from.tensor], *target, from.dtype);
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

std::vector<size_t> all_dims(const View& view) {
  std::vector<size_t> dims(view.layout.sizes.size());
  std::iota(dims.begin(), dims.end(), size_t{0});
  return dims;
}

/// Reductions of the last dimensions, softmax and normalizations, behind a group that makes what they read.
bool Lowering::add_rows(const fx::Node& node) {
  const RowRule* const rule = find_row_rule(node);
  const View* const first = rule ? view_of(node.args()[0]) : nullptr;
  if (!first) {
    return false;
  }
  const auto plan = plan_rows(*rule, node, first->layout.sizes);
  if (!plan) {
    return false;
  }
  RowCall row_call{plan->op, plan->stack, {}, {}, {}, rule->keeps_dim};
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

void Lowering::add_call(const fx::Node& node) {
  const uint32_t slot = new_slots(node.num_results());
  Call call = call_of(node, slot);
  for (const CallArg& arg : call.args) {
    builder_.mark_read(arg);
  }
  auto& made = known_[node.id()];
  const auto& returns = node.schema().returns();
  for (uint32_t r = 0; r < node.num_results(); ++r) {
    const fx::TensorInfo* const info = node.info(r);
    const bool is_tensor = r < returns.size() && returns[r].type()->kind() == c10::TypeKind::TensorType;
    if (!is_tensor || !info || !info->device.is_cpu() || info->layout != c10::kStrided ||
        info->strides.size() != info->sizes.size()) {
      made.emplace_back(slot + r);
      continue;
    }
    const Target target{info->dtype, numbers(info->sizes, node), numbers(info->strides, node), {}};
    const uint32_t buffer = result_buffer(node, target, slot + r, r);
    program_.buffers[buffer].home = Buffer::Home::Slot;
    call.buffers.push_back(buffer);
    made.emplace_back(whole(buffer));
  }
  const std::vector<uint32_t> buffers = call.buffers;
  builder_.add_step({std::move(call), {}}, buffers);
}

/// Lists are taken apart.
void Lowering::add_function(const fx::Node& node) {
  const bool is_getitem = node.is_function("getitem");
  TORCH_CHECK(
      (is_getitem || node.is_function("unpack")) && node.args()[0].is_value(), "the function ", node.target(),
      " is not compiled");
  const Known& list = known(node.args()[0].value());
  const int64_t first = is_getitem ? node.args()[1].constant().toInt() : 0;
  auto& made = known_[node.id()];
  if (const auto* const views = std::get_if<std::vector<View>>(&list)) {
    for (int64_t i = 0; i < static_cast<int64_t>(node.num_results()); ++i) {
      made.emplace_back(views->at(first < 0 ? views->size() + first : first + i));
    }
    return;
  }
  const auto* const slot = std::get_if<uint32_t>(&list);
  TORCH_CHECK(slot, "%", node.name(), " takes a list apart that is none");
  for (uint32_t i = 0; i < node.num_results(); ++i) {
    const uint32_t to = new_slots(1);
    Unpack unpack{*slot, first + i, to, {}};
    const fx::TensorInfo* const info = node.info(i);
    if (info && info->device.is_cpu() && info->layout == c10::kStrided && info->strides.size() == info->sizes.size()) {
      const Target target{info->dtype, numbers(info->sizes, node), numbers(info->strides, node), {}};
      const uint32_t buffer = result_buffer(node, target, to, i);
      program_.buffers[buffer].home = Buffer::Home::Slot;
      unpack.buffers.push_back(buffer);
      made.emplace_back(whole(buffer));
    } else {
      made.emplace_back(to);
    }
    const std::vector<uint32_t> buffers = unpack.buffers;
    builder_.add_step({std::move(unpack), {}}, buffers);
  }
}

/// A tensor of its own for a result that is a part of another, or given twice.
Output Lowering::copy_of(const View& view, const fx::Node& node, uint32_t result) {
  const auto target = target_of(node, result);
  if (target && is_lowered_dtype(buffer_of(view).dtype) && target->sizes == view.layout.sizes) {
    const uint32_t slot = new_slots(1), buffer = result_buffer(node, *target, slot);
    program_.buffers[buffer].home = Buffer::Home::Own;
    builder_.mark_read(buffer);
    Inst copy;
    copy.kind = InstKind::Convert;
    copy.dtype = target->dtype;
    copy.name = "copy";
    builder_.add_pointwise(copy, {operand_of(view, *target, target->dtype)}, buffer, std::nullopt);
    return slot;
  }
  // Of strides that leave gaps, or of nothing.
  builder_.mark_read(view.buffer);
  const fx::TensorInfo* const info = node.info(result);
  const Layout like{view.layout.sizes, info ? numbers(info->strides, node) : view.layout.strides, 0};
  const auto find = [](const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); };
  const auto argument = [](auto what) {
    CallArg arg;
    arg.what = std::move(what);
    return arg;
  };
  const uint32_t slot = new_slots(1);
  if (overlaps(like)) {
    Call clone{node.name() + "_copy", find("aten::clone"), {}, slot, 1, {}};
    clone.args = {argument(view), argument(IValue(static_cast<int64_t>(c10::MemoryFormat::Contiguous)))};
    builder_.add_step({std::move(clone), {}}, {});
    return slot;
  }
  const uint32_t ignored = new_slots(1);
  Call make{node.name() + "_copy", find("aten::new_empty_strided"), {}, slot, 1, {}};
  make.args = {argument(view),     argument(IValue(like.sizes)), argument(IValue(like.strides)),
               argument(IValue()), argument(IValue()),           argument(IValue()),
               argument(IValue())};
  builder_.add_step({std::move(make), {}}, {});
  Call copy{node.name() + "_copied", find("aten::copy_"), {}, ignored, 1, {}};
  copy.args = {argument(slot), argument(view), argument(IValue(false))};
  builder_.add_step({std::move(copy), {}}, {});
  return slot;
}

Output Lowering::output_of(const fx::Arg& arg) {
  if (!arg.is_value()) {
    TORCH_CHECK(arg.is_none(), "a result of the graph is no tensor");
    return std::nullopt;
  }
  const fx::Value value = arg.value();
  if (const auto* const slot = std::get_if<uint32_t>(&known(value))) {
    return *slot;
  }
  const View* const view = view_of(arg);
  TORCH_CHECK(view, "a result of the graph is no tensor");
  Buffer& buffer = program_.buffers[view->buffer];
  is_returned_.resize(program_.buffers.size());
  const bool is_input = buffer.home == Buffer::Home::Slot && buffer.slot < program_.inputs.size();
  if (is_input || is_returned_[view->buffer] || !is_whole(buffer, view->layout)) {
    return copy_of(*view, *value.node, value.result);
  }
  is_returned_[view->buffer] = true;
  builder_.mark_read(view->buffer);
  buffer.home = buffer.home == Buffer::Home::Nowhere ? Buffer::Home::Own : buffer.home;
  return buffer.slot;
}

void Lowering::add_outputs() {
  if (std::exchange(has_outputs_, true)) {
    return;
  }
  // Whole buffers first, so that it is their parts that are copied.
  const auto& results = graph_.output_node()->args();
  program_.outputs.resize(results.size());
  for (const bool are_whole : {true, false}) {
    for (size_t i = 0; i < results.size(); ++i) {
      const View* const view = view_of(results[i]);
      if ((!view || is_whole(program_.buffers[view->buffer], view->layout)) == are_whole) {
        program_.outputs[i] = output_of(results[i]);
      }
    }
  }
}

void Lowering::add_node(const fx::Node& node) {
  switch (node.kind()) {
    case fx::NodeKind::Placeholder:
      return add_input(node);
    case fx::NodeKind::CallFunction:
      return add_function(node);
    case fx::NodeKind::Output:
      return add_outputs();
    case fx::NodeKind::GetAttr:
      TORCH_CHECK(false, "an attribute in a functional graph");
    case fx::NodeKind::CallOperator:
      break;
  }
  if (node.schema().is_mutable()) {
    add_outputs(); // what is written to is read no more
  } else if (add_view(node) || add_constant(node) || add_copy(node) || add_rows(node) || add_pointwise(node)) {
    return;
  }
  add_call(node);
}

Program Lowering::run() {
  for (const fx::Node* node : graph_.nodes()) {
    add_node(*node);
  }
  TORCH_CHECK(has_outputs_, "the graph has no output");
  builder_.finish();
  plan_memory(program_);
  program_.lint();
  return std::move(program_);
}

} // namespace

Program lower(const std::shared_ptr<const fx::Graph>& graph) {
  return Lowering(graph).run();
}

} // namespace torch::fused
