#include <autograd/custom_function.h>

#include <aten/Functions.h>
#include <aten/core/VariableHooksInterface.h>
#include <aten/functorch/BatchedTensorImpl.h>
#include <autograd/VariableTypeUtils.h>
#include <autograd/forward/custom_call.h>
#include <autograd/forward/levels.h>
#include <autograd/function_batch.h>
#include <autograd/functions/accumulate_grad.h>
#include <c10/util/StringUtil.h>

#include <algorithm>

template class c10::Indirect<std::vector<std::optional<torch::autograd::VariableInfo>>>;

namespace torch::autograd {

namespace detail {

void extract_variables(VariableFlags& is_variable, variable_list& list, const at::Tensor& x) {
  is_variable.push_back(1);
  list.push_back(x);
}

void extract_variables(VariableFlags& is_variable, variable_list& list, const std::optional<at::Tensor>& x) {
  const bool present = x.has_value() && x->defined();
  is_variable.push_back(present ? 1 : 0);
  if (present) {
    list.push_back(*x);
  }
}

void extract_variables(VariableFlags& is_variable, variable_list& list, at::ArrayRef<at::Tensor> xs) {
  for (const at::Tensor& x : xs) {
    extract_variables(is_variable, list, x);
  }
}

variable_list to_list(Variable&& output) {
  variable_list list;
  list.push_back(std::move(output));
  return list;
}

struct VmapCall::Level {
  explicit Level(at::functorch::VmapLevelPtr vmap_) : vmap(std::move(vmap_)) {}
  at::functorch::VmapLevelPtr vmap;
  std::optional<at::functorch::LevelsBelowGuard> outside;
};

VmapCall::VmapCall() = default;
VmapCall::~VmapCall() = default;

void VmapCall::look_at(const at::Tensor& x) {
  const at::functorch::BatchedTensorImpl* const batched = at::functorch::maybeGetBatchedImpl(x);
  if (batched != nullptr && (!level_ || batched->level() > level_->vmap->number)) {
    at::functorch::check_not_escaped(*batched, "autograd::Function");
    level_ = std::make_unique<Level>(batched->vmap_level());
  }
}

void VmapCall::look_at(const std::optional<at::Tensor>& x) {
  look_at(x.value_or(at::Tensor()));
}

void VmapCall::look_at(at::ArrayRef<at::Tensor> xs) {
  for (const at::Tensor& x : xs) {
    look_at(x);
  }
}

bool VmapCall::is_batched() const {
  return static_cast<bool>(level_);
}

at::Tensor VmapCall::below(const at::Tensor& x) {
  auto [value, dim] = at::functorch::unwrapTensorAtLevel(x, level_->vmap->number);
  in_dims_.push_back(dim);
  return value;
}

std::optional<at::Tensor> VmapCall::below(const std::optional<at::Tensor>& x) {
  if (x.has_value()) {
    return below(*x);
  }
  in_dims_.emplace_back();
  return std::nullopt;
}

variable_list VmapCall::below(at::ArrayRef<at::Tensor> xs) {
  variable_list values;
  for (const at::Tensor& x : xs) {
    values.push_back(below(x));
  }
  return values;
}

VmapInfo VmapCall::enter() {
  level_->outside.emplace(*level_->vmap);
  return {level_->vmap->batch_size, level_->vmap->randomness};
}

variable_list VmapCall::outputs(variable_list&& outputs, const VmapDims& dims) const {
  const at::functorch::VmapLevelPtr& level = level_->vmap;
  TORCH_CHECK(
      dims.size() == outputs.size(), "vmap of a custom function returned ", dims.size(),
      " dimensions of batches, but there are ", outputs.size(),
      " outputs: return one for each, std::nullopt where all samples share the output");
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (dims[i].has_value()) {
      TORCH_CHECK(
          outputs[i].defined() && outputs[i].size(*dims[i]) == level->batch_size, "vmap of a custom function returned ",
          outputs[i].defined() ? "a tensor of sizes " : "an undefined tensor",
          outputs[i].defined() ? outputs[i].sizes() : at::IntArrayRef(), " as output ", i, " with its batch of ",
          level->batch_size, " in dimension ", *dims[i]);
      outputs[i] = at::functorch::makeBatched(outputs[i], *dims[i], level);
    }
  }
  return std::move(outputs);
}

} // namespace detail

VariableInfo::VariableInfo(const Variable& var)
    : options(var.options()), size(var.sizes().vec()), requires_grad(var.requires_grad()) {}

Variable VariableInfo::zeros() const {
  return at::zeros(size, options);
}

struct AutogradContext::Marks {
  std::unordered_set<c10::TensorImpl*> non_differentiable;
  std::unordered_set<c10::TensorImpl*> dirty_inputs;
};

AutogradContext::AutogradContext() = default;
AutogradContext::~AutogradContext() = default;

AutogradContext::Marks& AutogradContext::marks() {
  if (marks_ == nullptr) {
    marks_.reset(new Marks());
  }
  return *marks_;
}

void AutogradContext::save_for_backward(variable_list to_save) {
  to_save_ = std::move(to_save);
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  marks().dirty_inputs.clear();
  for (const Variable& var : inputs) {
    marks_->dirty_inputs.insert(var.unsafeGetTensorImpl());
  }
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  marks().non_differentiable.clear();
  for (const Variable& var : outputs) {
    marks_->non_differentiable.insert(var.unsafeGetTensorImpl());
  }
}

void AutogradContext::set_materialize_grads(bool value) {
  materialize_grads_ = value;
}

variable_list AutogradContext::get_saved_variables() const {
  TORCH_CHECK(!has_freed_buffers_, ERR_BACKWARD_TWICE);
  const std::shared_ptr<Node> node = grad_fn_.lock();
  TORCH_INTERNAL_ASSERT(node, "saved variables were asked for without their node");
  variable_list saved;
  saved.reserve(saved_variables_->size());
  for (const SavedVariable& variable : *saved_variables_) {
    Variable value = variable.unpack(node);
    saved.push_back(batch_ == nullptr ? std::move(value) : batch_->restored(value, saved.size()));
  }
  return saved;
}

bool AutogradContext::needs_input_grad(size_t output_edge_index) const {
  const std::shared_ptr<Node> node = grad_fn_.lock();
  TORCH_INTERNAL_ASSERT(node, "needs_input_grad was asked without a node");
  return node->task_should_compute_output(output_edge_index);
}

bool AutogradContext::needs_input_grad(std::initializer_list<IndexRange> idxs) const {
  const std::shared_ptr<Node> node = grad_fn_.lock();
  TORCH_INTERNAL_ASSERT(node, "needs_input_grad was asked without a node");
  return node->task_should_compute_output(idxs);
}

const std::unordered_set<c10::TensorImpl*>& AutogradContext::get_and_bump_dirty() const {
  for (c10::TensorImpl* tensor : dirty_inputs()) {
    tensor->bump_version();
  }
  return dirty_inputs();
}

const std::unordered_set<c10::TensorImpl*>& AutogradContext::dirty_inputs() const {
  static const std::unordered_set<c10::TensorImpl*> none;
  return marks_ == nullptr ? none : marks_->dirty_inputs;
}

const std::unordered_set<c10::TensorImpl*>& AutogradContext::get_non_differentiable() const {
  static const std::unordered_set<c10::TensorImpl*> none;
  return marks_ == nullptr ? none : marks_->non_differentiable;
}

void AutogradContext::take_values(const Values& value_of, const variable_list& inputs) {
  if (marks_ != nullptr) {
    for (auto* const marked : {&marks_->non_differentiable, &marks_->dirty_inputs}) {
      std::unordered_set<c10::TensorImpl*> values;
      for (c10::TensorImpl* const tensor : *marked) {
        const auto found = value_of.find(tensor);
        values.insert(found == value_of.end() ? tensor : found->second.unsafeGetTensorImpl());
      }
      *marked = std::move(values);
    }
  }
  for (Variable& var : to_save_) {
    const bool is_input =
        std::any_of(inputs.begin(), inputs.end(), [&](const Variable& input) { return input.is_same(var); });
    const auto found = value_of.find(var.unsafeGetTensorImpl());
    const bool is_output = !is_input && found != value_of.end() && var.defined();
    var = batch_->saved_value(is_output ? found->second : var, is_output);
  }
}

void AutogradContext::save_variables() {
  saved_variables_->clear();
  const std::shared_ptr<Node> node = grad_fn_.lock();
  for (const Variable& var : to_save_) {
    const bool is_output = var.defined() && node && var.grad_fn() == node;
    saved_variables_->emplace_back(var, is_output);
  }
  to_save_.clear();
}

variable_list CustomNode::apply(variable_list&& inputs) {
  // A pass over the same graph on another thread may free the saved variables.
  const std::lock_guard<std::mutex> lock(mutex_);
  variable_list grads;
  grads.reserve(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool fill = !inputs[i].defined() && ctx_.materialize_grads_ && (*output_info_)[i].has_value();
    grads.push_back(fill ? (*output_info_)[i]->zeros() : std::move(inputs[i]));
  }
  std::optional<FunctionBatch::Scope> batch_scope;
  std::optional<FunctionBatch::DataScope> saved_data; // ends before the levels do
  if (ctx_.batch_ != nullptr) {
    batch_scope.emplace(*ctx_.batch_);
    grads = ctx_.batch_->above(grads);
    saved_data.emplace(*ctx_.batch_, ctx_.saved_data);
  }
  variable_list results = call_backward(std::move(grads));

  const size_t expected = is_variable_input_.size();
  const bool rest_is_undefined = results.size() > expected &&
      std::none_of(results.begin() + static_cast<std::ptrdiff_t>(expected), results.end(),
                   [](const Variable& v) { return v.defined(); });
  if (rest_is_undefined) {
    results.resize(expected);
  }
  TORCH_CHECK(
      results.size() == expected, "function ", name(), " returned an incorrect number of gradients (expected ",
      expected, ", got ", results.size(), ")");

  variable_list outputs;
  outputs.reserve(num_outputs());
  for (size_t i = 0; i < expected; ++i) {
    if (is_variable_input_[i] != 0) {
      outputs.push_back(
          ctx_.batch_ == nullptr ? std::move(results[i]) : ctx_.batch_->gradient_value(results[i], outputs.size()));
    } else {
      TORCH_CHECK(
          !results[i].defined(), "function ", name(), " returned a gradient different that is defined at position ",
          i + 1, ", but the corresponding forward input was not a Variable");
    }
  }
  return outputs;
}

void CustomNode::release_variables() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ctx_.saved_variables_->clear();
  ctx_.has_freed_buffers_ = true;
}

bool CustomNode::begin(const variable_list& inputs, VariableFlags&& is_variable_input) {
  is_variable_input_ = std::move(is_variable_input);
  ctx_.grad_fn_ = weak_from_this();
  const bool recorded = GradMode::is_enabled() && any_variable_requires_grad(inputs);
  // The edges of batched inputs come with finish().
  if (recorded && std::none_of(inputs.begin(), inputs.end(), at::functorch::isBatchedTensor)) {
    set_next_edges(collect_next_edges(inputs));
  }
  return recorded;
}

namespace {

using TensorSet = std::unordered_set<c10::TensorImpl*>;

// A batched tensor is told what its value has become.
void refresh_metadata(const Variable& tensor) {
  if (at::functorch::BatchedTensorImpl* const batched = at::functorch::maybeGetBatchedImpl(tensor)) {
    refresh_metadata(batched->value());
    batched->refresh_metadata();
  }
}

// How the outputs of one call of a custom function become part of the graph.
class OutputWrapper {
 public:
  OutputWrapper(
      const variable_list& inputs,
      size_t num_outputs,
      const TensorSet& non_differentiable,
      const TensorSet& dirty,
      std::shared_ptr<Node> node)
      : num_outputs_(num_outputs), non_differentiable_(non_differentiable), dirty_(dirty), node_(std::move(node)) {
    for (const Variable& input : inputs) {
      inputs_.insert(input.unsafeGetTensorImpl());
    }
    for (c10::TensorImpl* tensor : dirty_) {
      if (inputs_.count(tensor) == 0) {
        TORCH_WARN(
            "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need to "
            "pass it to mark_dirty().");
      }
    }
  }

  Variable wrap(Variable var) {
    if (!var.defined()) {
      if (node_) {
        node_->add_input_metadata(Node::undefined_input());
      }
      return var;
    }
    c10::TensorImpl* const tensor = var.unsafeGetTensorImpl();
    const bool is_input = inputs_.count(tensor) != 0;
    const bool is_modified = dirty_.count(tensor) != 0;
    const bool is_differentiable =
        node_ && non_differentiable_.count(tensor) == 0 && isDifferentiableType(var.scalar_type());
    returned_.insert(tensor);

    if (!is_differentiable) {
      if (node_) {
        node_->add_input_metadata(Node::undefined_input());
      }
      var = without_history(std::move(var), is_input, is_modified);
    } else if (is_input && is_modified) {
      rebase(var);
    } else {
      if (is_input) {
        // The caller's tensor keeps its own history, the output is another tensor over the same memory.
        const AutoGradMode no_grad(false);
        var = var.view_as(var);
      }
      const uint32_t output_nr = node_->add_input_metadata(var);
      impl::set_gradient_edge(var, {node_, output_nr});
    }
    differentiable_ += is_differentiable ? 1 : 0;
    if (!(is_input && is_modified)) {
      mark_view(var, CreationMeta::IN_CUSTOM_FUNCTION);
    }
    return var;
  }

  void finish(const variable_list& outputs) const {
    // Views from one of several outputs cannot be followed when they are changed in place.
    if (differentiable_ > 1) {
      for (const Variable& var : outputs) {
        mark_view(var, CreationMeta::MULTI_OUTPUT_NODE);
      }
    }
    for (c10::TensorImpl* tensor : dirty_) {
      TORCH_CHECK(
          inputs_.count(tensor) == 0 || returned_.count(tensor) != 0,
          "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
          "modified inplace must all be outputs of the Function.");
    }
  }

 private:
  static void mark_view(const Variable& var, CreationMeta creation_meta) {
    if (!var.defined()) {
      return;
    }
    if (DifferentiableViewMeta* meta = impl::get_view_autograd_meta(var)) {
      meta->set_creation_meta(creation_meta);
    }
  }

  Variable without_history(Variable var, bool is_input, bool is_modified) const {
    if (!var.requires_grad()) {
      if (is_input && !is_modified) {
        const AutoGradMode no_grad(false);
        return var.view_as(var);
      }
      return var;
    }
    if (is_input) {
      return var.detach();
    }
    // A view of an input, as from a view operator without recording, keeps its history.
    if (!var.is_view()) {
      at::impl::GetVariableHooks()->detach_(var);
    }
    return var;
  }

  void rebase(const Variable& var) const {
    TORCH_CHECK(
        !(var.is_leaf() && var.requires_grad()),
        "a leaf Variable that requires grad has been used in an in-place operation.");
    check_inplace(var, /*requires_grad=*/true);
    TORCH_CHECK(
        num_outputs_ == 1 || !var.is_view(),
        "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
        "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input "
        "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially "
        "splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that "
        "does the other operations).");
    // The tensor ceases to be the leaf that its old accumulator works for.
    impl::clear_hooks(var);
    if (const std::shared_ptr<Node> accumulator = impl::try_get_grad_accumulator(var)) {
      static_cast<AccumulateGrad&>(*accumulator).variable.reset();
    }
    const uint32_t output_nr = node_->add_input_metadata(var);
    impl::rebase_history(var, {node_, output_nr});
  }

  size_t num_outputs_;
  const TensorSet& non_differentiable_;
  const TensorSet& dirty_;
  const std::shared_ptr<Node> node_;
  TensorSet inputs_;
  TensorSet returned_;
  size_t differentiable_ = 0;
};

} // namespace

variable_list CustomNode::finish(const variable_list& inputs, variable_list&& outputs, bool recorded) {
  at::functorch::VmapLevels levels;
  if (recorded || forward_ad::any_level()) {
    for (const variable_list* const tensors : {&inputs, &std::as_const(outputs), &std::as_const(ctx_.to_save_)}) {
      for (const Variable& tensor : *tensors) {
        at::functorch::add_levels_of(tensor, levels);
      }
    }
  }
  if (levels.empty()) {
    return finish_values(inputs, std::move(outputs), recorded);
  }
  ctx_.batch_.reset(new FunctionBatch(std::move(levels)));
  return finish_batched(inputs, outputs, recorded);
}

// See Note [Custom functions inside of vmap].
variable_list CustomNode::finish_batched(const variable_list& inputs, const variable_list& outputs, bool recorded) {
  FunctionBatch& batch = *ctx_.batch_;
  const variable_list input_values = batch.input_values(inputs);
  if (recorded) {
    set_next_edges(collect_next_edges(input_values));
  }
  const TensorSet written = ctx_.dirty_inputs();
  AutogradContext::Values value_of;
  for (size_t i = 0; i < inputs.size(); ++i) {
    value_of[inputs[i].unsafeGetTensorImpl()] = input_values[i];
    if (written.count(inputs[i].unsafeGetTensorImpl()) != 0) {
      batch.check_written(inputs[i], name().c_str());
    }
  }
  variable_list output_values;
  for (const Variable& output : outputs) {
    Variable& value = value_of[output.unsafeGetTensorImpl()];
    if (output.defined() && !value.defined()) {
      value = batch.output_value(output);
    }
    output_values.push_back(value);
  }
  ctx_.take_values(value_of, inputs);
  batch.take_values_of(ctx_.saved_data);
  variable_list results = batch.above(finish_values(input_values, std::move(output_values), recorded));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (written.count(outputs[i].unsafeGetTensorImpl()) != 0) {
      refresh_metadata(outputs[i]);
      results[i] = outputs[i];
    }
  }
  return results;
}

variable_list CustomNode::finish_values(const variable_list& inputs, variable_list&& outputs, bool recorded) {
  OutputWrapper wrapper(
      inputs, outputs.size(), ctx_.get_non_differentiable(), ctx_.get_and_bump_dirty(), recorded ? getptr() : nullptr);
  for (Variable& output : outputs) {
    output = wrapper.wrap(std::move(output));
  }
  wrapper.finish(outputs);
  if (recorded) {
    output_info_->reserve(outputs.size());
    for (const Variable& output : outputs) {
      output_info_->push_back(output.defined() ? std::make_optional<VariableInfo>(output) : std::nullopt);
    }
    const forward_ad::DualCall outputs_get_tangents(forward_ad::any_level());
    ctx_.save_variables();
  }
  if (C10_UNLIKELY(forward_ad::any_level())) {
    set_tangents(inputs, outputs, recorded);
  }
  return std::move(outputs);
}

bool CustomNode::call_batched_jvp(variable_list& tangents) {
  if (ctx_.batch_ == nullptr) {
    return call_jvp(tangents);
  }
  tangents = ctx_.batch_->above(tangents);
  const FunctionBatch::DataScope saved_data(*ctx_.batch_, ctx_.saved_data);
  const bool has_rule = call_jvp(tangents);
  if (has_rule) {
    tangents = ctx_.batch_->below(tangents);
  }
  return has_rule;
}

void CustomNode::set_tangents(const variable_list& inputs, const variable_list& outputs, bool recorded) {
  forward_ad::CustomCall call(inputs, outputs, ctx_.get_non_differentiable(), ctx_.dirty_inputs());
  if (!call.is_dual()) {
    return;
  }
  if (!recorded) {
    ctx_.save_variables();
  }
  const bool has_rule =
      call.run(ctx_.materialize_grads_, [this](variable_list& tangents) { return call_batched_jvp(tangents); });
  if (!recorded) {
    ctx_.saved_variables_->clear();
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      has_rule || forward_ad::DualCall::is_running(),
      "You must implement the jvp function for custom autograd.Function to use it with forward mode AD. ", name(),
      " has no static member variable_list jvp(AutogradContext*, variable_list tangents)");
}

} // namespace torch::autograd
