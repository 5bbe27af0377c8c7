#include <csrc/capture/recorder.h>

#include <csrc/capture/operator_kinds.h>
#include <csrc/fx/effects.h>
#include <csrc/fx/passes.h>
#include <aten/Functions.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <autograd/graph_task.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>
#include <string_view>

namespace torch::capture {

namespace {

using c10::DispatchKey;
using c10::DispatchKeySet;
using c10::IValue;
using fx::Arg;

thread_local int inner_backward_passes = 0;

template <size_t N>
bool is_one_of(const std::string& name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Functions of recorded graphs: one that sets the mode of what follows, and one that stands where an optimizer steps.
void register_functions() {
  static std::once_flag once;
  std::call_once(once, [] {
    fx::register_function({
        "set_grad_enabled",
        [](fx::GraphRunner&, std::vector<fx::Operand>& operands) -> std::vector<IValue> {
          c10::GradMode::set_enabled(operands.at(0).value.toBool());
          return {};
        },
        /*is_pure=*/false,
    });
    fx::register_function({
        "optimizer_step",
        [](fx::GraphRunner&, std::vector<fx::Operand>&) -> std::vector<IValue> {
          TORCH_CHECK(false, "optimizer_step: the graph runs as part of its compiled function alone");
        },
        /*is_pure=*/false,
    });
  });
}

/// Operators that make memory without values: what is in it stays unwritten.
bool makes_unwritten(const std::string& name) {
  return name.compare(0, 11, "aten::empty") == 0 || name.compare(0, 15, "aten::new_empty") == 0;
}

/// Tensors without a storage that could be compared: sparse ones.
bool has_memory(const at::Tensor& tensor) {
  return tensor.defined() && tensor.layout() == c10::kStrided && tensor.has_storage();
}

std::vector<int64_t> sizes_of_tensors(const torch::jit::Stack& stack, size_t first) {
  std::vector<int64_t> sizes;
  const auto add = [&](const IValue& value) {
    if (value.isTensor() && value.toTensor().defined()) {
      const auto own = value.toTensor().sizes();
      sizes.insert(sizes.end(), own.begin(), own.end());
    }
  };
  for (size_t i = first; i < stack.size(); ++i) {
    add(stack[i]);
    if (stack[i].isTensorList()) {
      for (const IValue& item : stack[i].toListRef()) {
        add(item);
      }
    }
  }
  return sizes;
}

bool is_empty(const fx::TensorInfo& info) {
  return std::any_of(
      info.sizes.begin(), info.sizes.end(), [](fx::Dim dim) { return !dim.is_expression() && dim.value() == 0; });
}

} // namespace

Recorder::Recorder(
    const std::vector<at::Tensor>& inputs, const std::vector<std::string>& names, const KnownTensors& known)
    : graph_(fx::Graph::create()),
      inputs_(inputs),
      known_names_(known),
      hooks_at_start_(autograd::impl::default_saved_tensor_hooks()),
      hooks_(hooks_at_start_),
      grad_mode_(c10::GradMode::is_enabled()),
      grad_mode_at_start_(grad_mode_) {
  register_functions();
  for (size_t i = 0; i < inputs.size(); ++i) {
    fx::Node* const node = graph_->placeholder(names[i]);
    inputs_before_.push_back(HistoryBefore::of(inputs[i]));
    add_leaf(inputs[i], inputs_before_.back());
    if (inputs[i].defined()) {
      node->set_info(fx::TensorInfo::of(inputs[i]));
      remember(inputs[i], {node, 0});
    }
  }
}

Recorder::~Recorder() {
  const c10::NoGradGuard no_grad;
  for (auto& [storage, bytes] : written_) {
    bytes.first.copy_(bytes.second);
  }
}

/// Memory that comes from outside: of inputs and of what the code refers to.
void Recorder::keep_written(const fx::Node& node, const torch::jit::Stack& stack, size_t first) {
  const auto keep = [&](const at::Tensor& tensor) {
    if (!has_memory(tensor) || written_.count(tensor.storage().unsafeGetStorageImpl()) != 0) {
      return;
    }
    const c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
    const auto is_of = [&](const at::Tensor& other) {
      return has_memory(other) && other.storage().unsafeGetStorageImpl() == storage;
    };
    const bool is_outside = std::any_of(inputs_.begin(), inputs_.end(), is_of) ||
        std::any_of(references_.begin(), references_.end(), [&](const auto& each) { return is_of(each.second); });
    if (is_outside) {
      at::Tensor bytes = at::empty({0}, at::TensorOptions(c10::kByte).device(tensor.device()));
      bytes.set_(tensor.storage(), 0, {static_cast<int64_t>(tensor.storage().nbytes())}, {1});
      written_.emplace(storage, std::pair(bytes, bytes.clone()));
    }
  };
  const auto keep_part = [&](const Arg& arg, const IValue& value, fx::Value written) {
    if (arg.is_value() && arg.value() == written && value.isTensor()) {
      keep(value.toTensor());
    }
  };
  fx::writes(node, [&](fx::Value written) {
    for (size_t i = 0; i < node.args().size(); ++i) {
      const Arg& arg = node.args()[i];
      const IValue& value = stack[first + i];
      for (size_t item = 0; arg.is_list() && value.isList() && item < arg.list().size(); ++item) {
        keep_part(arg.list()[item], value.toListRef()[item], written);
      }
      keep_part(arg, value, written);
    }
  });
}

void Recorder::refuse(const std::string& why) {
  if (refused_.empty()) {
    refused_ = why;
  }
}

bool Recorder::refuses(const c10::OperatorHandle& op, const torch::jit::Stack& stack, size_t first) {
  const bool runs_backward = autograd::get_current_graph_task_id() >= 0 && inner_backward_passes == 0;
  if (runs_backward && records_training_) {
    training_.has_backward = true;
  } else if (runs_backward && !records_backward_) {
    refuse("backward() runs in it (at " + toString(op.operator_name()) + "): call backward() on its results");
  } else if (const auto why = why_not_recorded(op, kind_of(op.schema()).obstacle, stack, first)) {
    refuse(*why);
  }
  return !refused_.empty();
}

void Recorder::call(const c10::OperatorHandle& op, DispatchKeySet keys, torch::jit::Stack* stack) {
  const c10::FunctionSchema& schema = op.schema();
  const size_t first = stack->size() - schema.arguments().size();
  if (is_in_step_) {
    if (autograd::get_current_graph_task_id() >= 0) {
      refuse("the step of an optimizer computes gradients itself, by a closure");
    }
    op.redispatchBoxed(keys, stack);
    return;
  }
  if (!refused_.empty() || kind_of(schema).is_metadata || refuses(op, *stack, first)) {
    op.redispatchBoxed(keys, stack);
    return;
  }
  follow_grad_mode();
  fx::Node* node = nullptr;
  try {
    follow_unwritten(schema, *stack, first);
    std::vector<Arg> args;
    for (size_t i = first; i < stack->size(); ++i) {
      args.push_back(arg_of((*stack)[i]));
    }
    node = graph_->call_operator(op, std::move(args));
  } catch (const c10::Error& e) {
    refuse(toString(op.operator_name()) + " cannot be recorded: " + e.what_without_backtrace());
  }
  if (node) {
    follow_checkpoints(*node);
  }
  if (undoes_writes_ && node) {
    keep_written(*node, *stack, first);
  }
  std::vector<int64_t> sizes = undoes_writes_ ? sizes_of_tensors(*stack, first) : std::vector<int64_t>();
  try {
    op.redispatchBoxed(keys, stack);
  } catch (...) {
    failed_operator_ = toString(op.operator_name());
    failed_sizes_ = std::move(sizes);
    throw;
  }
  if (node) {
    const size_t results = stack->size() - schema.returns().size();
    for (uint32_t i = 0; i < schema.returns().size(); ++i) {
      remember_results((*stack)[results + i], node, i);
      const IValue& result = (*stack)[results + i];
      if (makes_unwritten(schema.name()) && result.isTensor() && has_memory(result.toTensor())) {
        unwritten_.insert(result.toTensor().storage().unsafeGetStorageImpl());
      }
    }
  }
}

/// Saved-tensor hooks other than those of checkpoints may do anything with what the backward pass gets.
void Recorder::follow_checkpoints(const fx::Node& node) {
  const autograd::SavedVariableHooksFactory* const hooks = autograd::impl::default_saved_tensor_hooks();
  if (hooks == hooks_at_start_ || !c10::GradMode::is_enabled()) {
    hooks_ = hooks;
    return;
  }
  if (hooks != hooks_) {
    hooks_ = hooks;
    ++num_checkpoints_;
  }
  const bool is_checkpoint =
      hooks && std::string_view(hooks->target_type().name()).find("5utils") != std::string_view::npos;
  if (!is_checkpoint) {
    refuse(
        "saved-tensor hooks are set in it (at " + node.target() + "): set them around calls of the compiled function");
  }
  checkpoints_.resize(node.id() + 1);
  checkpoints_[node.id()] = num_checkpoints_;
}

/// The mode that the code is in goes for what follows in the graph.
void Recorder::follow_grad_mode() {
  if (c10::GradMode::is_enabled() != grad_mode_) {
    grad_mode_ = c10::GradMode::is_enabled();
    graph_->call_function("set_grad_enabled", {grad_mode_}, 0);
  }
}

Arg Recorder::arg_of(const IValue& value) {
  if (value.isTensor()) {
    return value_of(value.toTensor());
  }
  if (value.isList() && value.toList().elementType()->str().find("Tensor") != std::string::npos) {
    std::vector<Arg> items;
    for (const IValue& item : value.toListRef()) {
      items.push_back(arg_of(item));
    }
    return items;
  }
  return value;
}

Arg Recorder::value_of(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return Arg();
  }
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number() && tensor.device().is_cpu() && tensor.dim() == 0 &&
      known_.count(tensor.unsafeGetTensorImpl()) == 0) {
    return c10::Scalar(tensor.item()); // a number that was made a tensor on its way
  }
  const auto found = known_.find(tensor.unsafeGetTensorImpl());
  if (found != known_.end()) {
    return found->second.value;
  }
  if (const Memory* memory = find_memory(tensor)) {
    const fx::Value value = memory->value;
    remember(tensor, value);
    return value;
  }
  return add_reference(tensor);
}

const Recorder::Memory* Recorder::find_memory(const at::Tensor& tensor) const {
  if (!has_memory(tensor)) {
    return nullptr;
  }
  const auto found = memory_.find(tensor.storage().unsafeGetStorageImpl());
  if (found == memory_.end()) {
    return nullptr;
  }
  for (auto it = found->second.rbegin(); it != found->second.rend(); ++it) {
    if (it->offset == tensor.storage_offset() && it->dtype == tensor.scalar_type() &&
        tensor.sizes().equals(it->sizes) && tensor.strides().equals(it->strides) && tensor.is_conj() == it->is_conj &&
        tensor.is_neg() == it->is_neg) {
      return &*it;
    }
  }
  return nullptr;
}

void Recorder::remember(const at::Tensor& tensor, fx::Value value) {
  const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
  known_.insert_or_assign(impl, Known{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), value});
  if (has_memory(tensor)) {
    const c10::Storage& storage = tensor.storage();
    memory_[storage.unsafeGetStorageImpl()].push_back(
        {storage.getWeakStorageImpl(), tensor.storage_offset(), tensor.scalar_type(), tensor.sizes().vec(),
         tensor.strides().vec(), value, tensor.is_conj(), tensor.is_neg()});
  }
}

void Recorder::remember_results(const IValue& result, fx::Node* node, uint32_t index) {
  if (result.isTensor()) {
    if (result.toTensor().defined()) {
      if (result.toTensor().layout() == c10::kStrided) {
        node->set_info(fx::TensorInfo::of(result.toTensor()), index);
      }
      remember(result.toTensor(), {node, index});
    }
    return;
  }
  if (result.isTensorList()) {
    const auto items = result.toListRef();
    fx::Node* const unpack =
        graph_->call_function("unpack", {fx::Value{node, index}}, static_cast<uint32_t>(items.size()));
    for (uint32_t i = 0; i < items.size(); ++i) {
      remember(items[i].toTensor(), {unpack, i});
    }
  }
}

fx::Value Recorder::add_reference(const at::Tensor& tensor) {
  const auto named = known_names_.find(tensor.unsafeGetTensorImpl());
  const std::string path =
      named != known_names_.end() ? named->second : "reference_" + std::to_string(references_.size());
  fx::Node* const node = graph_->get_attr(path);
  if (tensor.layout() == c10::kStrided) {
    node->set_info(fx::TensorInfo::of(tensor));
  }
  references_.emplace_back(path, tensor);
  add_leaf(tensor, references_before_.emplace(path, HistoryBefore::of(tensor)).first->second);
  remember(tensor, {node, 0});
  return {node, 0};
}

/// Memory that no operator has written since it was made without values (empty) and that one reads now has values which
/// C++ wrote through a pointer: they are a literal. Views are no reading.
void Recorder::follow_unwritten(const c10::FunctionSchema& schema, const torch::jit::Stack& stack, size_t first) {
  const auto is_unwritten = [&](const at::Tensor& tensor) {
    return has_memory(tensor) && unwritten_.count(tensor.storage().unsafeGetStorageImpl()) != 0;
  };
  const auto follow = [&](const at::Tensor& tensor, const c10::AliasInfo* alias) {
    if (!is_unwritten(tensor)) {
      return;
    }
    if (alias) {
      const auto& inside = alias->containedTypes();
      if (alias->isWrite() || std::any_of(inside.begin(), inside.end(), [](auto& each) { return each.isWrite(); })) {
        unwritten_.erase(tensor.storage().unsafeGetStorageImpl());
      }
      return;
    }
    const c10::NoGradGuard no_grad;
    const std::string path = "reference_" + std::to_string(references_.size());
    fx::Node* const literal = graph_->get_attr(path); // of unwritten memory
    literal->set_info(fx::TensorInfo::of(tensor));
    references_.emplace_back(path, tensor.detach().clone());
    references_before_.emplace(path, HistoryBefore::of(references_.back().second));
    remember(tensor, {literal, 0});
  };
  for (size_t i = 0; !unwritten_.empty() && i < schema.arguments().size(); ++i) {
    const IValue& value = stack[first + i];
    const c10::AliasInfo* const alias = schema.arguments()[i].alias_info();
    if (value.isTensor()) {
      follow(value.toTensor(), alias);
    } else if (value.isTensorList()) {
      for (const IValue& item : value.toListRef()) {
        follow(item.toTensor(), alias);
      }
    }
  }
}

/// A tensor that nobody else holds was made in the code, by values that it wrote itself. Each run takes it as it was.
void Recorder::keep_literals() {
  const fx::AliasSets aliases(*graph_);
  for (auto& [path, tensor] : references_) {
    if (tensor.use_count() > 1 || tensor.storage().use_count() > 1) {
      continue;
    }
    for (fx::Node* node : graph_->nodes()) {
      if (node->kind() == fx::NodeKind::GetAttr && node->target() == path &&
          (aliases.is_written(node) || aliases.is_returned(node))) {
        const auto here = graph_->inserting_after(node);
        node->replace_all_uses_with(graph_->call_operator("aten::clone", {node}));
      }
    }
  }
}

Recorder* Recorder::active() {
  return dynamic_cast<Recorder*>(DispatchMode::current());
}

Recorder::InnerBackward::InnerBackward() {
  ++inner_backward_passes;
}
Recorder::InnerBackward::~InnerBackward() {
  --inner_backward_passes;
}

void Recorder::add_alias(const at::Tensor& alias, const at::Tensor& tensor) {
  remember(alias, value_of(tensor).value());
}

/// Memory without values that is read before an operator wrote to it was written to by a pointer.
void Recorder::check_written() {
  constexpr std::string_view empties[] = {
      "aten::empty", "aten::empty_like", "aten::empty_strided", "aten::new_empty", "aten::new_empty_strided",
  };
  // They take sizes alone from their first argument, or write all of it.
  constexpr std::string_view no_readers[] = {
      "aten::empty_like",
      "aten::zeros_like",
      "aten::ones_like",
      "aten::full_like",
      "aten::rand_like",
      "aten::randn_like",
      "aten::randint_like",
      "aten::new_empty",
      "aten::new_empty_strided",
      "aten::new_zeros",
      "aten::new_ones",
      "aten::new_full",
      "aten::copy",
      "aten::fill",
      "aten::zero",
      "aten::as_strided_scatter",
  };
  const fx::AliasSets aliases(*graph_);
  std::vector<const fx::Node*> unwritten;
  for (const fx::Node* node : graph_->nodes()) {
    for (size_t i = 0; i < unwritten.size(); ++i) {
      const auto shares = [&](const fx::Node* other) { return aliases.may_alias(other, unwritten[i]); };
      const std::vector<fx::Node*> inputs = node->all_input_nodes();
      if (std::none_of(inputs.begin(), inputs.end(), shares)) {
        continue;
      }
      bool is_written = false;
      fx::writes(*node, [&](fx::Value value) { is_written = is_written || shares(value.node); });
      const bool is_view = shares(node) && node->kind() != fx::NodeKind::Output;
      if (!is_written && !is_view && !(node->is_operator() && is_one_of(node->schema().name(), no_readers))) {
        refuse(
            (node->is_operator() ? node->target() : "the result") +
            " takes memory that no operator has written to: values written by a pointer are not recorded");
      }
      if (is_written) {
        unwritten.erase(unwritten.begin() + static_cast<std::ptrdiff_t>(i--));
      }
    }
    if (node->is_operator() && is_one_of(node->schema().name(), empties) && node->info() && !is_empty(*node->info())) {
      unwritten.push_back(node);
    }
  }
}

Recording Recorder::finish(const std::vector<at::Tensor>& results) {
  if (!refused_.empty()) {
    return {nullptr, {}, refused_, {}, {}};
  }
  std::vector<Arg> values;
  for (const at::Tensor& result : results) {
    values.push_back(value_of(result));
  }
  set_grad_mode_of_start();
  finish_training(values);
  graph_->output(std::move(values));
  check_training();
  check_written();
  if (!refused_.empty()) {
    return {nullptr, {}, refused_, {}, {}};
  }
  keep_literals();
  graph_->eliminate_dead_code();
  graph_->lint();
  Recording recording{
      std::make_shared<fx::GraphModule>(graph_, "Captured"), references_, "", checkpoints_, std::move(training_)};
  for (const auto& [path, tensor] : references_) {
    recording.module->set_attr(path, tensor);
  }
  const std::string difference = records_backward_ || recording.training.has_backward
      ? ""
      : difference_of_gradients(*recording.module, inputs_, inputs_before_, references_before_, results);
  if (!difference.empty()) {
    return {nullptr, {}, difference, {}, {}};
  }
  return recording;
}

} // namespace torch::capture
