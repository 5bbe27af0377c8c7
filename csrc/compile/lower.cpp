#include <csrc/compile/lowering.h>

#include <aten/core/Tensor.h>

#include <algorithm>

namespace torch::fused {

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

std::optional<Target> target_of(const fx::Node& node, uint32_t result) {
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

namespace {

using c10::IValue;

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

CallArg argument(std::variant<IValue, View, uint32_t, std::vector<CallArg>> what) {
  CallArg arg;
  arg.what = std::move(what);
  return arg;
}

} // namespace

void Lowering::add_input(const fx::Node& node) {
  const uint32_t slot = new_slots(1);
  program_.input_names.push_back(node.name());
  const fx::TensorInfo* const info = node.info();
  if (!info || !info->device.is_cpu() || info->layout != c10::kStrided || info->strides.size() != info->sizes.size() ||
      c10::isComplexType(info->dtype)) {
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
  Call call{node.name(), node.operator_handle(), {}, {}, first_slot, node.num_results(), {}};
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

/// What is known of a result that a step puts into a slot: a buffer, which is added to `buffers`, or the slot alone.
Known Lowering::given_in_slot(const fx::Node& node, uint32_t result, uint32_t slot, std::vector<uint32_t>& buffers) {
  const fx::TensorInfo* const info = node.info(result);
  // Of complex numbers the memory may hold the conjugates.
  if (!info || !info->device.is_cpu() || info->layout != c10::kStrided || info->strides.size() != info->sizes.size() ||
      c10::isComplexType(info->dtype)) {
    return slot;
  }
  const Target target{info->dtype, numbers(info->sizes, node), numbers(info->strides, node), {}};
  const uint32_t buffer = result_buffer(node, target, slot, result);
  program_.buffers[buffer].home = Buffer::Home::Slot;
  buffers.push_back(buffer);
  return whole(buffer);
}

void Lowering::add_call(const fx::Node& node) {
  const uint32_t slot = new_slots(node.num_results());
  Call call = call_of(node, slot);
  // An offset into a tensor's storage is one into a tensor of its own, views keep memory, and of other libraries
  // nothing is known.
  const auto& schema = node.schema();
  const bool is_view = schema.hasAnyAliasInfo() && !schema.is_mutable();
  const bool is_known = schema.name().rfind("aten::", 0) == 0 || schema.name().rfind("fused::", 0) == 0;
  const bool sees_storage = is_view || !is_known;
  for (const CallArg& arg : call.args) {
    builder_.mark_read(arg);
    const View* const view = std::get_if<View>(&arg.what);
    if (sees_storage && view && buffer_of(*view).home == Buffer::Home::Nowhere) {
      program_.buffers[view->buffer].home = Buffer::Home::Own;
    }
  }
  auto& made = known_[node.id()];
  const auto& returns = schema.returns();
  std::vector<uint32_t> buffers;
  for (uint32_t r = 0; r < node.num_results(); ++r) {
    const bool is_tensor = r < returns.size() && returns[r].type()->kind() == c10::TypeKind::TensorType;
    made.push_back(is_tensor && !is_view ? given_in_slot(node, r, slot + r, buffers) : slot + r);
  }
  call.buffers = buffers;
  builder_.add_step({std::move(call), {}}, buffers);
}

/// Whether a group may store to it.
bool Lowering::may_be_written(const fx::Arg& arg) const {
  const View* const view = view_of(arg);
  return view && builder_.is_input(view->buffer) && buffer_of(*view).slot < is_alone_.size() &&
      is_alone_[buffer_of(*view).slot];
}

/// An operator that runs on copies of what it writes to.
void Lowering::add_call_on_copies(const fx::Node& node) {
  const auto name = c10::OperatorNameView::parse(node.args()[0].constant().toStringRef());
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(
      std::string(name.name).c_str(), std::string(name.overload_name).c_str());
  const auto& formals = op.schema().arguments();
  TORCH_CHECK(node.args().size() == formals.size() + 2, "%", node.name(), " has another number of arguments");
  const uint32_t slot = new_slots(node.num_results());
  Call call{node.name(), op, {}, node.args()[1].constant().toIntVector(), slot, node.num_results(), {}};
  for (size_t i = 0; i < formals.size(); ++i) {
    call.args.push_back(call_arg(node.args()[i + 2], formals[i].type()));
    builder_.mark_read(call.args.back());
    const View* const view = std::get_if<View>(&call.args.back().what);
    if (view && buffer_of(*view).home == Buffer::Home::Nowhere) {
      program_.buffers[view->buffer].home = Buffer::Home::Own;
    }
  }
  auto& made = known_[node.id()];
  std::vector<uint32_t> buffers;
  for (uint32_t r = 0; r < node.num_results(); ++r) {
    made.push_back(given_in_slot(node, r, slot + r, buffers));
  }
  call.buffers = buffers;
  builder_.add_step({std::move(call), {}}, buffers);
}

/// Lists are taken apart.
void Lowering::add_function(const fx::Node& node) {
  if (node.is_function("auto_functionalized")) {
    return add_call_on_copies(node);
  }
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
    made.push_back(given_in_slot(node, i, to, unpack.buffers));
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
  const uint32_t slot = new_slots(1);
  for (Call& call : strided_copy(view, like, node.name(), slot)) {
    builder_.add_step({std::move(call), {}}, {});
  }
  return slot;
}

/// Calls that give a copy of other strides in a slot, or a contiguous one where these are of no tensor of its own.
std::vector<Call> Lowering::strided_copy(const View& view, const Layout& like, const std::string& name, uint32_t slot) {
  const auto find = [](const char* op) { return c10::Dispatcher::singleton().findSchemaOrThrow(op, ""); };
  std::vector<Call> calls;
  if (overlaps(like)) {
    calls.push_back({name + "_copy", find("aten::clone"), {}, {}, slot, 1, {}});
    calls[0].args = {argument(view), argument(IValue(static_cast<int64_t>(c10::MemoryFormat::Contiguous)))};
    return calls;
  }
  calls.push_back({name + "_copy", find("aten::new_empty_strided"), {}, {}, slot, 1, {}});
  calls[0].args = {argument(view),     argument(IValue(like.sizes)), argument(IValue(like.strides)),
                   argument(IValue()), argument(IValue()),           argument(IValue()),
                   argument(IValue())};
  calls.push_back({name + "_copied", find("aten::copy_"), {}, {}, new_slots(1), 1, {}});
  calls[1].args = {argument(slot), argument(view), argument(IValue(false))};
  return calls;
}

/// A copy of an input in the order of a loop, where the loop would take one element of each cache line of it.
std::optional<uint32_t> Lowering::turned_input(const View& view, const Target& target) {
  constexpr int64_t kLeastElements = 4096, kLeastRun = 16;
  if (!builder_.is_input(view.buffer) || view.layout.sizes != target.sizes || view.layout.numel() < kLeastElements) {
    return std::nullopt;
  }
  const Access access = Access::of(target.sizes, view.layout.strides, target.order, view.layout.offset);
  const bool is_turned = !access.ranges.empty() && access.ranges.back().stride > 1 &&
      access.ranges.back().size >= kLeastRun &&
      std::any_of(access.ranges.begin(), access.ranges.end(), [](const Range& range) {
        return range.stride == 1 && range.size >= kLeastRun;
      });
  if (!is_turned) {
    return std::nullopt;
  }
  Layout like{target.sizes, std::vector<int64_t>(target.sizes.size(), 1), 0};
  int64_t stride = 1;
  for (auto d = target.order.rbegin(); d != target.order.rend(); ++d) {
    like.strides[*d] = stride;
    stride *= target.sizes[*d];
  }
  for (const auto& [from, copy] : turned_) {
    if (from.buffer == view.buffer && from.layout == view.layout && program_.buffers[copy].strides == like.strides) {
      return copy;
    }
  }
  const uint32_t slot = new_slots(1);
  const std::string name = buffer_of(view).name;
  const uint32_t copy = builder_.add_buffer("%" + name + "_copy", buffer_of(view).dtype, like.sizes, like.strides);
  program_.buffers[copy].home = Buffer::Home::Slot;
  program_.buffers[copy].slot = slot;
  std::vector<Call> calls = strided_copy(view, like, name, slot);
  calls[0].buffers = {copy};
  for (Call& call : calls) {
    builder_.add_first(std::move(call), copy);
  }
  turned_.emplace_back(view, copy);
  return copy;
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
    const View* const written = node.is_operator("aten::copy_") ? view_of(node.args()[1]) : nullptr;
    if (written && may_be_written(node.args()[0])) {
      builder_.keep_group(written->buffer);
    }
  } else if (
      add_view(node) || add_constant(node) || add_copy(node) || add_rows(node) || add_dropout_backward(node) ||
      add_pointwise(node)) {
    return;
  }
  add_call(node);
}

Program Lowering::run(bool saves_memory) {
  for (const fx::Node* node : graph_.nodes()) {
    add_node(*node);
  }
  TORCH_CHECK(has_outputs_, "the graph has no output");
  builder_.finish(saves_memory);
  repeat_values(program_);
  write_in_place(program_, is_alone_);
  plan_memory(program_, saves_memory);
  program_.lint();
  return std::move(program_);
}

Program lower(const std::shared_ptr<const fx::Graph>& graph, const std::vector<bool>& is_alone, bool saves_memory) {
  return Lowering(graph, is_alone).run(saves_memory);
}

} // namespace torch::fused
