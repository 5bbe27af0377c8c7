#include <csrc/functionalize/functionalize.h>

#include <csrc/functionalize/auto_functionalized.h>
#include <csrc/functionalize/functional_form.h>
#include <csrc/functionalize/meta_call.h>
#include <csrc/fx/effects.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <map>
#include <optional>
#include <utility>

namespace torch::functionalize {

namespace {

using c10::IValue;
using fx::Arg;
using fx::Node;
using fx::NodeKind;
using fx::Value;

/// One memory.
struct Memory {
  std::optional<size_t> input; // that it comes with
  size_t root = 0; // alias
  uint32_t version = 0; // counts writes
  bool is_shared = false; // with what is no view of it
  bool has_other_strides = false; // the value of the root, until somebody reads it
};

/// A tensor of the code: a root, or a view of another one.
struct Alias {
  size_t memory = 0;
  std::optional<size_t> parent;
  std::optional<ViewStep> step; // from the parent
  at::Tensor shape; // as in the code, without data
  Value value; // in the new graph, as of
  std::optional<uint32_t> version; // none: not made yet
};

using ValueKey = std::pair<const Node*, uint32_t>;

bool same_strides(const at::Tensor& a, const at::Tensor& b) {
  for (int64_t dim = 0; dim < a.dim(); ++dim) {
    if (a.size(dim) > 1 && a.stride(dim) != b.stride(dim)) {
      return false;
    }
  }
  return true;
}

bool shares_memory(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.has_storage() && b.has_storage() &&
      a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl();
}

/// The argument whose memory a result has by the schema; nothing for results of their own.
std::optional<size_t> viewed_argument(const c10::FunctionSchema& schema, size_t result) {
  const c10::AliasInfo* const alias = schema.returns()[result].alias_info();
  if (!alias) {
    return std::nullopt;
  }
  const auto& sets = alias->containedTypes().empty() ? alias->beforeSets() : alias->containedTypes()[0].beforeSets();
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::AliasInfo* const other = schema.arguments()[i].alias_info();
    if (!other) {
      continue;
    }
    const auto& others =
        other->containedTypes().empty() ? other->beforeSets() : other->containedTypes()[0].beforeSets();
    for (const auto& set : others) {
      if (std::find(sets.begin(), sets.end(), set) != sets.end() || alias->isWildcardAfter()) {
        return i;
      }
    }
  }
  return schema.arguments().empty() ? std::nullopt : std::optional<size_t>(0);
}

class Pass : private ViewInverse {
 public:
  Pass(const fx::Graph& source, c10::Device device, bool grad_mode)
      : source_(source), device_(device), grad_mode_(grad_mode) {
    made_.graph = fx::Graph::create();
  }

  Functional run(const std::vector<at::Tensor>& inputs) {
    add_inputs(inputs);
    for (const Node* node : source_.nodes()) {
      origin_ = node;
      switch (node->kind()) {
        case NodeKind::Placeholder:
          break;
        case NodeKind::GetAttr:
          TORCH_CHECK(false, "the graph has attributes");
        case NodeKind::CallOperator:
          call_operator(*node);
          break;
        case NodeKind::CallFunction:
          call_function(*node);
          break;
        case NodeKind::Output:
          finish(*node);
          break;
      }
    }
    made_.graph->lint();
    return std::move(made_);
  }

 private:
  // ---- tensors of the code

  void add_inputs(const std::vector<at::Tensor>& inputs) {
    const std::vector<Node*> placeholders = source_.placeholders();
    TORCH_CHECK(placeholders.size() == inputs.size(), "the graph takes ", placeholders.size(), " inputs");
    for (size_t i = 0; i < inputs.size(); ++i) {
      Node* const input = made_.graph->placeholder(placeholders[i]->name());
      note_origin(input, nullptr);
      if (!inputs[i].defined()) {
        continue;
      }
      input->set_info(info_of(inputs[i], device_));
      shapes_[{input, 0}] = inputs[i];
      if (!add_shared_input(placeholders[i], inputs, i, input)) {
        add_root(placeholders[i], 0, inputs[i], {input, 0}, i);
      }
    }
  }

  /// An input in the memory of one before it: the same tensor, or else neither may be written to.
  bool add_shared_input(const Node* placeholder, const std::vector<at::Tensor>& inputs, size_t index, Node* input) {
    for (size_t before = 0; before < index; ++before) {
      const at::Tensor &a = inputs[before], &b = inputs[index];
      if (!shares_memory(a, b)) {
        continue;
      }
      const size_t first = alias_of_.at({source_.placeholders()[before], 0});
      if (a.sizes().equals(b.sizes()) && a.strides().equals(b.strides()) && a.scalar_type() == b.scalar_type() &&
          a.storage_offset() == b.storage_offset()) {
        alias_of_[{placeholder, 0}] = first;
        return true;
      }
      memories_[aliases_[first].memory].is_shared = true;
      add_root(placeholder, 0, b, {input, 0}, index);
      memories_.back().is_shared = true;
      return true;
    }
    return false;
  }

  void add_root(
      const Node* node, uint32_t result, const at::Tensor& shape, Value value, std::optional<size_t> input = {}) {
    memories_.push_back({input, aliases_.size(), 0, false});
    alias_of_[{node, result}] = aliases_.size();
    aliases_.push_back({memories_.size() - 1, std::nullopt, std::nullopt, shape, value, uint32_t(0)});
  }

  size_t add_view(size_t parent, ViewStep step, const at::Tensor& shape) {
    if (step.is_strided()) {
      step.offset = shape.storage_offset() - aliases_[parent].shape.storage_offset();
      step.args[3] = Arg();
    }
    aliases_.push_back({aliases_[parent].memory, parent, std::move(step), shape, Value(), std::nullopt});
    return aliases_.size() - 1;
  }

  size_t alias_of(Value value) const {
    const auto found = alias_of_.find({value.node, value.result});
    TORCH_CHECK(found != alias_of_.end(), "a value of %", value.node->name(), " is no tensor");
    return found->second;
  }

  /// What a tensor holds now, in the new graph.
  Value current(size_t index) {
    Memory& memory = memories_[aliases_[index].memory];
    const uint32_t version = memory.version;
    if (index == memory.root && memory.has_other_strides) {
      memory.has_other_strides = false;
      const Value value = with_strides_of(aliases_[index].shape, aliases_[index].value);
      aliases_[index].value = value;
    }
    if (aliases_[index].version == version) {
      return aliases_[index].value;
    }
    const size_t parent = *aliases_[index].parent; // a root is always current
    Value base = current(parent);
    const ViewStep& step = *aliases_[index].step;
    std::vector<Arg> args = step.with(base);
    if (step.is_strided()) {
      check_strided(index, parent);
      if (step.offset != 0) {
        base = call("aten::clone", {base}); // begins where its memory begins
        args[step.self] = base;
        args[3] = step.offset;
      }
    }
    Node* const node = made_.graph->call_operator(step.op, std::move(args));
    note_origin(node, origin_);
    note_shape({node, 0}, aliases_[index].shape);
    aliases_[index].value = {node, 0};
    aliases_[index].version = version;
    return {node, 0};
  }

  /// A view by strides reaches elements of its parent alone, which lie there as they do in the code.
  void check_strided(size_t index, size_t parent) const {
    const at::Tensor &shape = aliases_[index].shape, &of = aliases_[parent].shape;
    const Memory& memory = memories_[aliases_[index].memory];
    const bool is_as_it_came = memory.input && memory.version == 0 && aliases_[index].step->offset == 0;
    int64_t last = aliases_[index].step->offset;
    for (int64_t dim = 0; dim < shape.dim(); ++dim) {
      last += shape.size(dim) > 0 ? (shape.size(dim) - 1) * shape.stride(dim) : 0;
    }
    TORCH_CHECK(
        is_as_it_came ||
            (of.is_non_overlapping_and_dense() && aliases_[index].step->offset >= 0 &&
             (last < of.numel() || shape.numel() == 0)),
        "a view by strides reaches what the tensor that it is of does not hold");
  }

  /// Lets a tensor hold `value`, and so the memory that it is in.
  void write(size_t index, Value value) {
    Memory& memory = memories_[aliases_[index].memory];
    TORCH_CHECK(!memory.is_shared, "a tensor is written to whose memory another one shares that is no view of it");
    const at::Tensor view_shape = aliases_[index].shape;
    size_t at = index;
    Value held = value;
    while (aliases_[at].parent) {
      const size_t parent = *aliases_[at].parent;
      held = undo(*aliases_[at].step, current(parent), aliases_[parent].shape, held, aliases_[at].shape);
      at = parent;
    }
    memory.has_other_strides = true;
    ++memory.version;
    aliases_[at].value = held;
    aliases_[at].version = memory.version;
    if (at != index && same_strides(shapes_.at({value.node, value.result}), view_shape)) {
      aliases_[index].value = value;
      aliases_[index].version = memory.version;
    }
  }

  /// The value with the dtype and strides of a tensor: how kernels walk over it depends on them.
  Value with_strides_of(const at::Tensor& shape, Value value) {
    const at::Tensor& made = shapes_.at({value.node, value.result});
    TORCH_CHECK(
        made.sizes().equals(shape.sizes()), "a tensor of sizes ", shape.sizes(), " is written a value of sizes ",
        made.sizes());
    if (made.scalar_type() == shape.scalar_type() && same_strides(made, shape)) {
      return value;
    }
    const std::vector<int64_t> sizes = shape.sizes().vec(), strides = shape.strides().vec();
    const Value place =
        call("aten::empty_strided", {sizes, strides, static_cast<int64_t>(shape.scalar_type()), Arg(), device_});
    return shape.is_non_overlapping_and_dense()
        ? call("aten::copy", {place, value})
        : call("aten::as_strided_scatter", {place, value, sizes, strides, int64_t(0)});
  }

  // ---- nodes of the new graph

  void note_origin(const Node* node, const Node* origin) {
    made_.origins.resize(std::max<size_t>(made_.origins.size(), node->id() + 1));
    made_.origins[node->id()] = origin;
  }

  void note_shape(Value value, const at::Tensor& shape) {
    shapes_[{value.node, value.result}] = shape;
    value.node->set_info(info_of(shape, device_), value.result);
  }

  Value call(const char* op, std::vector<Arg> args) override {
    Node* const node = made_.graph->call_operator(op, std::move(args));
    note_origin(node, origin_);
    std::vector<IValue> results;
    try {
      results = run_without_data(*node, [&](Value value) { return shapes_.at({value.node, value.result}); });
    } catch (...) {
      made_.graph->erase_node(node);
      throw;
    }
    note_shape({node, 0}, results.at(0).toTensor());
    return {node, 0};
  }

  template <class Shape>
  static torch::jit::Stack run_without_data(const Node& node, const Shape& shape_of) {
    torch::jit::Stack stack = arguments_of(node, [&](Value value) -> IValue { return shape_of(value); });
    use_meta_device(node.schema(), stack);
    const at::AutoDispatchBelowADInplaceOrView below;
    node.operator_handle().callBoxed(&stack);
    return stack;
  }

  Arg new_arg(const Arg& arg) {
    if (arg.is_constant()) {
      const bool is_meta = arg.constant().isDevice() && arg.constant().toDevice().is_meta();
      return is_meta ? Arg(device_) : arg;
    }
    TORCH_CHECK(arg.kind() != Arg::Kind::Size && arg.kind() != Arg::Kind::Graph, "sizes are not known");
    return arg.map_values([&](Value value) -> Arg {
      const auto found = alias_of_.find({value.node, value.result});
      return found == alias_of_.end() ? Arg() : Arg(current(found->second));
    });
  }

  // ---- calls of the code

  void call_operator(const Node& node) {
    const auto written = written_arguments(node);
    if (const auto view = view_form(node.operator_handle())) {
      return change_view(node, *view);
    }
    if (!written.empty()) {
      return write_call(node, written);
    }
    const bool is_view = node.num_results() > 0 && viewed_argument(node.schema(), 0).has_value();
    torch::jit::Stack results = results_without_data(node);
    if (is_view) {
      return view_call(node, results);
    }
    std::vector<Arg> args;
    for (const Arg& arg : node.args()) {
      args.push_back(new_arg(arg));
    }
    Node* const copy = made_.graph->call_operator(node.operator_handle(), std::move(args));
    copy->set_name(node.name());
    copy->set_module_path(node.module_path());
    note_origin(copy, &node);
    for (uint32_t i = 0; i < node.num_results(); ++i) {
      add_result(node, i, {copy, i}, results.at(i));
    }
  }

  /// What a call gives, without data; where no kernel tells, by what is known of the results.
  torch::jit::Stack results_without_data(const Node& node) const {
    try {
      return run_without_data(node, [&](Value value) { return aliases_[alias_of(value)].shape; });
    } catch (const c10::Error&) {
      torch::jit::Stack results;
      for (uint32_t i = 0; i < node.num_results(); ++i) {
        if (!node.info(i) || node.schema().hasAnyAliasInfo()) {
          throw;
        }
        results.emplace_back(meta_of(*node.info(i)));
      }
      return results;
    }
  }

  void add_result(const Node& node, uint32_t index, Value made, const IValue& result) {
    if (result.isTensorList()) {
      const std::vector<at::Tensor> items = result.toTensorVector();
      Node* const unpack = made_.graph->call_function("unpack", {made}, static_cast<uint32_t>(items.size()));
      note_origin(unpack, &node);
      auto& list = lists_[{&node, index}];
      for (uint32_t i = 0; i < items.size(); ++i) {
        note_shape({unpack, i}, items[i]);
        add_root(unpack, i, items[i], {unpack, i});
        list.push_back(alias_of_.at({unpack, i}));
      }
      return;
    }
    if (!result.isTensor() || !result.toTensor().defined()) {
      return;
    }
    const at::Tensor& shape = result.toTensor();
    note_shape(made, shape);
    std::optional<size_t> viewed;
    for (const Arg& arg : node.args()) {
      arg.for_each_value([&](Value value) {
        const auto found = alias_of_.find({value.node, value.result});
        if (found != alias_of_.end() && shares_memory(shape, aliases_[found->second].shape)) {
          viewed = found->second;
        }
      });
    }
    // The base of an _unsafe_view is not used again: autograd too takes it for a tensor of its own.
    if (viewed && !node.is_operator("aten::_unsafe_view")) {
      add_quiet_view(node, index, *viewed, shape, made);
    } else {
      add_root(&node, index, shape, made);
    }
  }

  /// A result that lies in the memory of an argument, though the schema does not say so.
  void add_quiet_view(const Node& node, uint32_t index, size_t parent, const at::Tensor& shape, Value made) {
    auto& dispatcher = c10::Dispatcher::singleton();
    TORCH_CHECK(
        shape.scalar_type() == aliases_[parent].shape.scalar_type(), node.target(),
        " gives a view of another dtype that its schema does not tell of");
    ViewStep step{
        dispatcher.findSchemaOrThrow("aten::as_strided", ""),
        {Arg(), shape.sizes().vec(), shape.strides().vec(), Arg()},
        0,
        0,
        grad_mode_};
    // Autograd does not know it for a view either: what is written to the one is not followed to the other.
    memories_[aliases_[parent].memory].is_shared = true;
    const size_t alias = add_view(parent, std::move(step), shape);
    aliases_[alias].value = made;
    aliases_[alias].version = memories_[aliases_[alias].memory].version;
    alias_of_[{&node, index}] = alias;
  }

  void view_call(const Node& node, const torch::jit::Stack& results) {
    for (uint32_t i = 0; i < node.num_results(); ++i) {
      const auto self = viewed_argument(node.schema(), i);
      TORCH_CHECK(self && node.arg(*self).is_value(), node.target(), " gives views of several tensors");
      const size_t parent = alias_of(node.arg(*self).value());
      if (results.at(i).isTensorList()) {
        const std::vector<at::Tensor> elements = results[i].toTensorVector();
        auto& list = lists_[{&node, i}];
        for (size_t j = 0; j < elements.size(); ++j) {
          list.push_back(add_view(
              parent, view_step(node, node.operator_handle(), *self, j, elements, grad_mode_, device_), elements[j]));
        }
      } else if (results[i].isTensor() && results[i].toTensor().defined()) {
        const at::Tensor& shape = results[i].toTensor();
        if (!shares_memory(shape, aliases_[parent].shape)) {
          copied_view(node, i, shape);
          continue;
        }
        alias_of_[{&node, i}] = add_view(
            parent, view_step(node, node.operator_handle(), *self, std::nullopt, {}, grad_mode_, device_), shape);
      }
    }
  }

  /// What a schema calls a view may be a copy where memory does not allow one.
  void copied_view(const Node& node, uint32_t index, const at::Tensor& shape) {
    std::vector<Arg> args;
    for (const Arg& arg : node.args()) {
      args.push_back(new_arg(arg));
    }
    Node* const copy = made_.graph->call_operator(node.operator_handle(), std::move(args));
    note_origin(copy, &node);
    note_shape({copy, index}, shape);
    add_root(&node, index, shape, {copy, index});
  }

  /// A call such as `transpose_`, which lets a tensor lie otherwise in its memory.
  void change_view(const Node& node, const c10::OperatorHandle& view) {
    const size_t parent = alias_of(node.arg(size_t(0)).value());
    TORCH_CHECK(
        !memories_[aliases_[parent].memory].input || aliases_[parent].parent, node.target(),
        " changes the sizes or strides of an argument");
    ViewStep step = view_step(node, view, 0, std::nullopt, {}, grad_mode_, device_);
    torch::jit::Stack stack;
    for (size_t i = 0; i < step.args.size(); ++i) {
      stack.push_back(i == 0 ? IValue(aliases_[parent].shape) : step.args[i].constant());
    }
    const at::AutoDispatchBelowADInplaceOrView below;
    view.callBoxed(&stack);
    const at::Tensor shape = stack.at(0).toTensor();
    if (is_alone(parent)) {
      // The tensor itself lies otherwise from now on, and no other shares its memory.
      const Value held = current(parent);
      Node* const made = made_.graph->call_operator(view, step.with(held));
      note_origin(made, &node);
      note_shape({made, 0}, shape);
      return add_root(&node, 0, shape, {made, 0});
    }
    alias_of_[{&node, 0}] = add_view(parent, std::move(step), shape);
  }

  /// Whether a tensor is a root without views that the code made itself.
  bool is_alone(size_t alias) const {
    const size_t memory = aliases_[alias].memory;
    return !aliases_[alias].parent && !memories_[memory].input &&
        std::count_if(aliases_.begin(), aliases_.end(), [&](const Alias& other) { return other.memory == memory; }) ==
        1;
  }

  // ---- calls that write

  void write_call(const Node& node, const std::vector<size_t>& written) {
    const auto form = keeps_order(node, written) ? functional_form(node, written) : std::nullopt;
    if (!form) {
      return write_copies(node, written);
    }
    std::vector<Arg> args;
    for (const size_t i : form->args) {
      args.push_back(new_arg(node.arg(i)));
    }
    Node* const copy = made_.graph->call_operator(form->op, std::move(args));
    note_origin(copy, &node);
    const torch::jit::Stack results = run_without_data(*copy, [&](Value value) {
      return shapes_.at({value.node, value.result});
    });
    note_written(node, written, form->fresh, copy, results);
  }

  /// Random numbers go to elements as these lie in memory: whether a tensor has gaps makes a difference.
  bool keeps_order(const Node& node, const std::vector<size_t>& written) const {
    bool is_dense = true;
    for (const size_t argument : written) {
      node.arg(argument).for_each_value([&](Value value) {
        const auto found = alias_of_.find({value.node, value.result});
        is_dense = is_dense && (found == alias_of_.end() || aliases_[found->second].shape.is_contiguous());
      });
    }
    return is_dense || !fx::is_random(node);
  }

  /// Where no operator gives as new tensors what this one writes, it writes to copies.
  void write_copies(const Node& node, const std::vector<size_t>& written) {
    std::vector<Arg> args;
    for (const Arg& arg : node.args()) {
      args.push_back(new_arg(arg));
    }
    Node* const call = call_on_copies(*made_.graph, node, std::move(args), written);
    note_origin(call, &node);
    const auto fresh = fresh_results(node.schema());
    torch::jit::Stack results;
    if (!fresh.empty()) {
      const torch::jit::Stack all = results_without_data(node);
      for (const size_t index : fresh) {
        results.push_back(all.at(index));
      }
    }
    for (const size_t argument : written) {
      results.push_back(shapes_of(node.arg(argument)));
    }
    note_written(node, written, fresh, call, results);
  }

  /// Tensors of the geometry of an argument, each in a memory of its own.
  IValue shapes_of(const Arg& arg) const {
    const auto own = [&](size_t alias) { return meta_of(info_of(aliases_[alias].shape, device_)); };
    if (arg.is_value() && lists_.count({arg.value().node, arg.value().result}) == 0) {
      return own(alias_of(arg.value()));
    }
    std::vector<at::Tensor> shapes;
    if (arg.is_value()) {
      for (const size_t alias : lists_.at({arg.value().node, arg.value().result})) {
        shapes.push_back(own(alias));
      }
    } else {
      for (const Arg& item : arg.list()) {
        shapes.push_back(own(alias_of(item.value())));
      }
    }
    return shapes;
  }

  /// The results of `call`, which stands for `node`: new tensors, and what written arguments hold from now on.
  void note_written(
      const Node& node,
      const std::vector<size_t>& written,
      const std::vector<size_t>& fresh,
      Node* call,
      const torch::jit::Stack& results) {
    uint32_t next = 0;
    for (const size_t index : fresh) {
      add_result(node, static_cast<uint32_t>(index), {call, next}, results.at(next));
      ++next;
    }
    for (const size_t argument : written) {
      write_argument(node.arg(argument), {call, next}, results.at(next));
      ++next;
    }
    for (uint32_t i = 0; i < node.num_results(); ++i) {
      alias_written(node, i, written);
    }
  }

  void write_argument(const Arg& arg, Value made, const IValue& result) {
    if (arg.is_value() && lists_.count({arg.value().node, arg.value().result}) == 0) {
      return write_value(alias_of(arg.value()), made, result.toTensor());
    }
    // Each element of a list is written its own value.
    std::vector<size_t> elements;
    if (arg.is_value()) {
      elements = lists_.at({arg.value().node, arg.value().result});
    } else {
      for (const Arg& item : arg.list()) {
        elements.push_back(alias_of(item.value()));
      }
    }
    const std::vector<at::Tensor> values = result.toTensorVector();
    TORCH_CHECK(values.size() == elements.size(), "a list is written ", values.size(), " values");
    Node* const unpack = made_.graph->call_function("unpack", {made}, static_cast<uint32_t>(values.size()));
    note_origin(unpack, origin_);
    for (uint32_t i = 0; i < values.size(); ++i) {
      write_value(elements[i], {unpack, i}, values[i]);
    }
  }

  /// Whether a result shares memory with an argument of the call that gave it, as it or in a list.
  bool lies_in_argument(const Node& node, const at::Tensor& shape) const {
    bool found = false;
    for (const Arg& arg : node.args()) {
      arg.for_each_value([&](Value value) {
        const auto known = shapes_.find({value.node, value.result});
        found = found ||
            (known == shapes_.end() ? lies_in_argument(*value.node, shape) : shares_memory(shape, known->second));
      });
    }
    return found;
  }

  void write_value(size_t alias, Value value, const at::Tensor& shape) {
    note_shape(value, shape);
    const at::Tensor& held = aliases_[alias].shape;
    TORCH_CHECK(
        shape.sizes().equals(held.sizes()), "a tensor of sizes ", held.sizes(), " is written a value of sizes ",
        shape.sizes());
    if (lies_in_argument(*value.node, shape)) {
      value = call("aten::clone", {value});
    }
    if (shape.scalar_type() != held.scalar_type()) {
      value = call("aten::_to_copy", {value, static_cast<int64_t>(held.scalar_type())});
    }
    write(alias, value);
  }

  /// Results that are the arguments that were written to.
  void alias_written(const Node& node, uint32_t result, const std::vector<size_t>& written) {
    if (alias_of_.count({&node, result}) != 0 || lists_.count({&node, result}) != 0) {
      return;
    }
    const auto argument = viewed_argument(node.schema(), result);
    if (!argument) {
      return;
    }
    const Arg& arg =
        node.arg(std::find(written.begin(), written.end(), *argument) != written.end() ? *argument : written[0]);
    if (arg.is_value()) {
      alias_of_[{&node, result}] = alias_of(arg.value());
    } else if (arg.is_list()) {
      for (const Arg& item : arg.list()) {
        lists_[{&node, result}].push_back(alias_of(item.value()));
      }
    }
  }

  // ---- functions, and the end

  void call_function(const Node& node) {
    if (node.is_function("set_grad_enabled")) {
      grad_mode_ = node.arg(size_t(0)).constant().toBool();
    } else if (node.is_function("unpack") && node.arg(size_t(0)).is_value()) {
      const Value list = node.arg(size_t(0)).value();
      const auto found = lists_.find({list.node, list.result});
      TORCH_CHECK(found != lists_.end() && found->second.size() == node.num_results(), "a list is not known");
      for (uint32_t i = 0; i < node.num_results(); ++i) {
        alias_of_[{&node, i}] = found->second[i];
      }
    } else {
      TORCH_CHECK(false, "the function ", node.target(), " is called");
    }
  }

  void finish(const Node& output) {
    std::vector<Arg> roots;
    std::map<size_t, size_t> root_of_memory;
    for (const Arg& arg : output.args()) {
      ResultSpec spec;
      if (arg.is_value()) {
        size_t at = alias_of(arg.value());
        for (; aliases_[at].parent; at = *aliases_[at].parent) {
          spec.steps.insert(spec.steps.begin(), *aliases_[at].step);
        }
        const Memory& memory = memories_[aliases_[at].memory];
        spec.of = memory.input ? ResultSpec::Of::Input : ResultSpec::Of::Root;
        if (memory.input) {
          spec.index = *memory.input;
        } else {
          const auto [found, is_new] = root_of_memory.emplace(aliases_[at].memory, roots.size());
          spec.index = found->second;
          if (is_new) {
            roots.emplace_back(current(at));
          }
        }
      } else {
        TORCH_CHECK(arg.is_none(), "a result is a constant");
      }
      made_.results.push_back(std::move(spec));
    }
    made_.num_roots = roots.size();
    made_.root_sources.resize(roots.size());
    for (const auto& [memory, number] : root_of_memory) {
      made_.root_sources[number] = source_of(memories_[memory].root);
    }
    for (const Memory& memory : memories_) {
      if (memory.input && memory.version > 0) {
        made_.written.push_back(*memory.input);
        roots.emplace_back(aliases_[memory.root].value);
      }
    }
    note_origin(made_.graph->output(std::move(roots)), &output);
  }

  /// The first value of the source that is this tensor.
  Value source_of(size_t alias) const {
    Value source;
    for (const auto& [key, index] : alias_of_) {
      if (index == alias && &key.first->graph() == &source_ && (!source.node || key.first->id() < source.node->id())) {
        source = {const_cast<Node*>(key.first), key.second};
      }
    }
    TORCH_CHECK(source.node, "a result is no value of the graph");
    return source;
  }

  const fx::Graph& source_;
  const c10::Device device_;
  bool grad_mode_;
  const Node* origin_ = nullptr; // the node at hand
  Functional made_;
  std::vector<Memory> memories_;
  std::vector<Alias> aliases_;
  std::map<ValueKey, size_t> alias_of_; // of tensors of the source
  std::map<ValueKey, std::vector<size_t>> lists_; // of lists of tensors of the source
  std::map<ValueKey, at::Tensor> shapes_; // of values of the new graph
};

} // namespace

Functional functionalize(
    const fx::Graph& graph, const std::vector<at::Tensor>& inputs, c10::Device device, bool grad_mode) {
  const c10::AutoGradMode no_grad(false);
  return Pass(graph, device, grad_mode).run(inputs);
}

} // namespace torch::functionalize
