// The kernel of dispatch key ForwardAD, for all operators.
#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/TensorOperators.h>
#include <aten/core/dispatch/Dispatcher.h>
#include <aten/core/ivalue.h>
#include <aten/library/library.h>
#include <autograd/forward/call_tensors.h>
#include <autograd/forward/levels.h>
#include <autograd/forward/recorded_call.h>
#include <autograd/forward/rules.h>
#include <autograd/grad_mode.h>
#include <autograd/variable.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <c10/util/flat_hash_map.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

// Note [Operators on dual tensors]
// Tensors with a tangent have the dispatch key ForwardAD, above those of autograd, so their calls come here. A
// composite operator goes on as it is: the operators that it is made of come here again. For others the call goes on
// below this key with the same tensors, so that autograd records and saves them with their tangents, and forward mode
// over reverse mode needs nothing more. Then the results get tangents, at the highest level that an argument has one
// at. Rules for them compute with the level hidden (HiddenLevel): the arguments count as their values there, and
// tangents of lower levels and the history for backward go on through the operators that a rule calls.
//
// What kernels below autograd compute with dual tensors is part of their operator: it has no tangents of its own.
namespace torch::autograd::forward_ad {

namespace {

using torch::jit::Stack;

void forward_ad_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack);

constexpr c10::DispatchKeySet kForwardAD(c10::DispatchKey::ForwardAD);

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// The values of one call.
class Call {
 public:
  Call(
      const c10::OperatorHandle& op,
      const Rule& rule,
      c10::DispatchKeySet keys,
      Stack* stack,
      TensorPlaces& places,
      uint64_t level,
      OtherLevels others)
      : op_(op),
        schema_(op.schema()),
        keys_(keys),
        stack_(stack),
        count_(schema_.arguments().size()),
        places_(places),
        rule_(rule),
        level_(level),
        arguments_(stack->end() - static_cast<std::ptrdiff_t>(count_), stack->end()),
        others_(others),
        recorded_(GradMode::is_enabled() && any_requires_grad()) {}

  void run() {
    const auto written = std::find_if(schema_.arguments().begin(), schema_.arguments().end(), is_written);
    if (rule_.kind == RuleKind::kNone || (schema_.returns().empty() && written == schema_.arguments().end())) {
      return call_below(*stack_);
    }
    if (written == schema_.arguments().end()) {
      return run_functional();
    }
    TORCH_CHECK_NOT_IMPLEMENTED(
        !written->kwarg_only() || !writes_differentiable(), "Trying to use forward AD with ", short_name(),
        "_out that does not support it because it is an out= function. Call it without out= and copy the result");
    if (written->kwarg_only()) {
      call_below(*stack_);
    } else if (rule_.kind == RuleKind::kGeometry) {
      run_geometry();
    } else if (rule_.kind == RuleKind::kLinear) {
      run_linear_in_place();
    } else if (has_formula()) {
      run_formula_in_place();
    } else {
      run_in_place();
    }
  }

 private:
  void run_functional() {
    if (rule_.kind == RuleKind::kLinear) {
      return run_linear();
    }
    if (rule_.kind == RuleKind::kProducts) {
      return run_products();
    }
    if (!has_formula()) {
      return run_recorded();
    }
    call_below(*stack_);
    set_tangents(results(), run_formula(arguments_, results_on_stack()));
  }

  // Of operators that work element by element, the gradient's formula is that of the tangent as well if numbers are
  // real.
  bool has_formula() const {
    return rule_.formula != nullptr && (rule_.kind == RuleKind::kFormula || !has_complex_arguments());
  }

  // While it lives, operators count the arguments as their values. Where there are no tangents at other levels, they
  // need not look for them.
  struct Below {
    explicit Below(const Call& call) : hidden(call.level_) {
      if (!call.others_.of_tensors && !call.others_.of_tangents && !watches_all_tensors()) {
        without_key.emplace(kForwardAD);
      }
    }

    const HiddenLevel hidden;
    std::optional<c10::impl::ExcludeDispatchKeyGuard> without_key;
  };

  std::string short_name() const {
    const std::string& name = op_.operator_name().name;
    return name.substr(name.rfind(':') + 1);
  }

  bool any_requires_grad() const {
    return std::any_of(
        places_.begin(), places_.end(), [](const TensorPlace& place) { return place.tensor.requires_grad(); });
  }

  bool any_tangent_requires_grad() const {
    return std::any_of(
        places_.begin(), places_.end(), [](const TensorPlace& place) { return place.tangent.requires_grad(); });
  }

  bool writes_differentiable() const {
    return std::any_of(places_.begin(), places_.end(), [this](const TensorPlace& place) {
      return is_written(schema_.arguments()[place.value]) && isDifferentiableType(place.tensor.scalar_type());
    });
  }

  // The call on the stack without tangents at this level; the results get those at the others.
  void call_below(Stack& stack) const {
    if (others_.of_tensors) {
      const HiddenLevel hidden(level_);
      forward_ad_fallback(op_, keys_, &stack);
      return;
    }
    const DualCall running(true);
    op_.redispatchBoxed(keys_ - kForwardAD, &stack);
  }

  static variable_list tensors_of(const TensorPlaces& places) {
    variable_list tensors;
    tensors.reserve(places.size());
    for (const TensorPlace& place : places) {
      tensors.push_back(place.tensor);
    }
    return tensors;
  }

  // A tangent of the sizes of the result, and not the memory of an argument's tangent: either may be changed in place.
  at::Tensor own(at::Tensor tangent, const at::Tensor& result) const {
    const HiddenLevel hidden(level_);
    if (tangent.sizes() != result.sizes()) {
      tangent = tangent.expand(result.sizes());
    }
    const bool is_alone = tangent.has_storage() && tangent.storage().use_count() == 1;
    const bool shared = std::any_of(places_.begin(), places_.end(), [&](const TensorPlace& place) {
      return place.tangent.defined() &&
          (tangent.is_same(place.tangent) || (!is_alone && shares_memory(tangent, place.tangent)));
    });
    return shared ? tangent.clone() : tangent;
  }

  static bool shares_memory(const at::Tensor& a, const at::Tensor& b) {
    return a.has_storage() && b.has_storage() && a.storage().is_alias_of(b.storage());
  }

  void set_tangents(const TensorPlaces& results, const variable_list& tangents) const {
    for (size_t i = 0; i < results.size(); ++i) {
      const at::Tensor& result = results[i].tensor;
      if (tangents[i].defined() && result.defined() && isDifferentiableType(result.scalar_type()) &&
          !result._fw_grad(level_).defined()) {
        const bool is_view = rule_.kind == RuleKind::kLinear && result.is_view();
        result._set_fw_grad(is_view ? tangents[i] : own(tangents[i], result), level_, /*is_inplace_op=*/false);
      }
    }
  }

  TensorPlaces results() const {
    return tensor_places(*stack_, schema_.returns().size());
  }

  c10::ArrayRef<c10::IValue> results_on_stack() const {
    const size_t count = schema_.returns().size();
    return c10::ArrayRef<c10::IValue>(stack_->data() + stack_->size() - count, count);
  }

  // A tangent that is a batch (jacfwd), if there is one.
  at::Tensor batched_tangent() const {
    for (const TensorPlace& place : places_) {
      if (place.tangent.defined() && !place.tangent.has_storage()) {
        return place.tangent;
      }
    }
    return {};
  }

  // Zeros that a batch can be written into, if one of the tangents is one.
  at::Tensor zero_tangent(const at::Tensor& self) const {
    const at::Tensor batched = batched_tangent();
    const HiddenLevel hidden(level_);
    return batched.defined() ? batched.new_zeros(self.sizes(), self.options()) : at::zeros_like(self);
  }

  // The arguments with tangents in the place of those that the rule speaks of; zeros for those without.
  TensorPlaces tangents_in_place() const {
    TensorPlaces places = places_;
    for (TensorPlace& place : places) {
      if (((rule_.arguments >> place.value) & 1) != 0 && place.tensor.defined()) {
        place.tensor = place.tangent.defined() ? place.tangent : zero_tangent(place.tensor);
      }
    }
    return places;
  }

  // The tensors that the operator gives with other ones in the places of its own.
  variable_list called_with(const TensorPlaces& places) const {
    Stack values(arguments_.begin(), arguments_.end());
    put_tensors(values, count_, places);
    const Below below(*this);
    op_.callBoxed(values);
    return tensors_of(tensor_places(values, schema_.returns().size()));
  }

  void run_linear() {
    call_below(*stack_);
    set_tangents(results(), called_with(tangents_in_place()));
  }

  void run_products() {
    call_below(*stack_);
    variable_list sums(schema_.returns().size());
    for (size_t i = 0; i < places_.size(); ++i) {
      if (((rule_.arguments >> places_[i].value) & 1) == 0 || !places_[i].tangent.defined()) {
        continue;
      }
      TensorPlaces places = places_;
      places[i].tensor = places_[i].tangent;
      const variable_list parts = called_with(places);
      const Below below(*this);
      for (size_t k = 0; k < sums.size(); ++k) {
        sums[k] = sums[k].defined() ? sums[k] + parts[k] : parts[k];
      }
    }
    set_tangents(results(), sums);
  }

  variable_list run_formula(c10::ArrayRef<c10::IValue> values, c10::ArrayRef<c10::IValue> results) const {
    const AutoGradMode record(GradMode::is_enabled() && (recorded_ || any_tangent_requires_grad()));
    const Below below(*this);
    return rule_.formula(FormulaCall(values, results, places_));
  }

  // The tangent of what is written, made where it has none.
  void run_linear_in_place() {
    if (!writes_differentiable()) {
      return call_below(*stack_);
    }
    const TensorPlaces tangents = tangents_in_place();
    call_below(*stack_);
    called_with(tangents);
    for (const size_t i : written_places()) {
      const at::Tensor& self = places_[i].tensor;
      if (isDifferentiableType(self.scalar_type()) && !places_[i].tangent.defined()) {
        self._set_fw_grad(tangents[i].tensor, level_, /*is_inplace_op=*/true);
      }
    }
  }

  void run_formula_in_place() {
    Stack values(arguments_.begin(), arguments_.end());
    const size_t target = written_places()[0];
    for (size_t i = 0; i < places_.size(); ++i) {
      const TensorPlace& place = places_[i];
      const bool is_other = i != target && values[place.value].isTensor() && place.tensor.defined();
      if (is_other ? shares_memory_with_written(place.tensor) : i == target && rule_.arguments != 0) {
        values[place.value] = copy_from_before(place);
      }
    }
    call_below(*stack_);
    const variable_list tangents = run_formula(values, results_on_stack());
    change_tangent(places_[target].tensor, tangents.at(0));
  }

  // What an argument of a call in place is before it, with the tangent that it has.
  at::Tensor copy_from_before(const TensorPlace& place) const {
    at::Tensor before = GradMode::is_enabled() ? place.tensor.clone() : plain_copy(place.tensor);
    if (place.tangent.defined() && !tangent_of(before, level_).defined()) {
      before._set_fw_grad(place.tangent, level_, /*is_inplace_op=*/false);
    }
    return before;
  }

  void run_recorded() {
    RecordedCall recording(level_, recorded_);
    Stack values(arguments_.begin(), arguments_.end());
    TensorPlaces places = places_;
    for (TensorPlace& place : places) {
      if (place.tangent.defined()) {
        place.tensor = recording.stand_in(place.tensor);
      }
    }
    put_tensors(values, count_, places);
    if (others_.of_tensors) {
      call_below(*stack_);
    }
    {
      const AutoGradMode record(true);
      call_below(values);
    }
    TensorPlaces made = tensor_places(values, schema_.returns().size());
    const variable_list tangents = tangents_of(recording, tensors_of(made));
    if (!others_.of_tensors) {
      recording.finish(tensors_of(made));
      for (TensorPlace& place : made) {
        place.tensor = recording.original_of(place.tensor);
      }
      put_tensors(values, schema_.returns().size(), made);
      torch::jit::drop(*stack_, count_);
      stack_->insert(stack_->end(), values.begin(), values.end());
    }
    set_tangents(results(), tangents);
  }

  variable_list tangents_of(const RecordedCall& recording, const variable_list& made) const {
    const auto recorded = [](const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); };
    const auto result = std::find_if(made.begin(), made.end(), recorded);
    const bool one = std::count_if(made.begin(), made.end(), recorded) == 1;
    variable_list tangents(made.size());
    at::Tensor& tangent = tangents[one ? static_cast<size_t>(result - made.begin()) : 0];
    if (one && rule_.kind == RuleKind::kElements && !result->is_complex() && !has_complex_arguments()) {
      tangent = recording.tangent_by_elements(*result);
      return tangents;
    }
    if (one && rule_.kind == RuleKind::kReduction) {
      const c10::IValue dim = argument("dim");
      const auto dims = dim.isInt() ? std::vector<int64_t>{dim.toInt()}
          : dim.isNone()            ? std::vector<int64_t>()
                                    : dim.toIntVector();
      const c10::IValue keepdim = argument("keepdim");
      tangent = recording.tangent_of_reduction(*result, at::IntArrayRef(dims), keepdim.isBool() && keepdim.toBool());
      return tangents;
    }
    return recording.tangents(short_name().c_str(), made);
  }

  bool has_complex_arguments() const {
    const auto is_complex = [](const TensorPlace& place) {
      return place.tensor.defined() && place.tensor.is_complex();
    };
    const auto is_complex_number = [](const c10::IValue& value) { return value.isComplexDouble(); };
    return std::any_of(places_.begin(), places_.end(), is_complex) ||
        std::any_of(arguments_.begin(), arguments_.end(), is_complex_number);
  }

  // The argument of that name, None if there is none.
  c10::IValue argument(const char* name) const {
    const std::optional<int> place = schema_.argumentIndexWithName(name);
    return place.has_value() ? arguments_[static_cast<size_t>(*place)] : c10::IValue();
  }

  // The tensors that are written, in the order of the arguments.
  std::vector<size_t> written_places() const {
    std::vector<size_t> written;
    for (size_t i = 0; i < places_.size(); ++i) {
      if (is_written(schema_.arguments()[places_[i].value])) {
        written.push_back(i);
      }
    }
    return written;
  }

  // The operator changes stand-ins over the same memory, or, where the change itself is recorded, over copies of it.
  void run_in_place() {
    const bool apart = recorded_ || others_.of_tensors;
    const std::vector<size_t> written = written_places();
    RecordedCall recording(level_, recorded_);
    Stack values(arguments_.begin(), arguments_.end());
    TensorPlaces places = places_;
    for (size_t i = 0; i < places.size(); ++i) {
      at::Tensor& tensor = places[i].tensor;
      const bool is_target = std::find(written.begin(), written.end(), i) != written.end();
      if (is_target ? isDifferentiableType(tensor.scalar_type()) : places[i].tangent.defined()) {
        const bool copies = is_target ? apart : !apart && shares_memory_with_written(tensor);
        tensor = recording.stand_in(tensor, copies ? plain_copy(tensor) : at::Tensor());
      } else if (!is_target && !apart && tensor.defined() && shares_memory_with_written(tensor)) {
        tensor = plain_copy(tensor);
      }
    }
    put_tensors(values, count_, places);
    {
      const AutoGradMode record(true);
      call_below(values);
    }
    variable_list made;
    for (const size_t i : written) {
      made.push_back(places[i].tensor);
    }
    const variable_list tangents = tangents_of(recording, made);
    recording.finish(made);
    if (apart) {
      call_below(*stack_);
    } else {
      TensorPlaces returned = tensor_places(values, schema_.returns().size());
      for (TensorPlace& place : returned) {
        place.tensor = recording.original_of(place.tensor);
      }
      put_tensors(values, schema_.returns().size(), returned);
      torch::jit::drop(*stack_, count_);
      stack_->insert(stack_->end(), values.begin(), values.end());
    }
    for (size_t i = 0; i < written.size(); ++i) {
      change_tangent(places_[written[i]].tensor, tangents[i]);
    }
  }

  bool shares_memory_with_written(const at::Tensor& tensor) const {
    return std::any_of(places_.begin(), places_.end(), [&](const TensorPlace& place) {
      return is_written(schema_.arguments()[place.value]) && shares_memory(tensor, place.tensor);
    });
  }

  static at::Tensor plain_copy(const at::Tensor& tensor) {
    const at::AutoDispatchBelowADInplaceOrView below;
    return tensor.clone();
  }

  void change_tangent(const at::Tensor& self, const at::Tensor& tangent) const {
    const at::Tensor old = tangent_of(self, level_);
    const HiddenLevel hidden(level_);
    if (!old.defined()) {
      if (tangent.defined()) {
        self._set_fw_grad(own(tangent, self), level_, /*is_inplace_op=*/true);
      }
    } else if (!tangent.defined()) {
      old.zero_();
    } else if (old.has_storage() && !tangent.has_storage()) {
      self._set_fw_grad(own(tangent, self), level_, /*is_inplace_op=*/true); // a batch does not fit into the old one
    } else if (!old.is_same(tangent)) {
      old.copy_(tangent);
    }
  }

  // Sizes and strides change, and the tangent's with them.
  void run_geometry() {
    const at::Tensor self = places_[0].tensor;
    at::Tensor tangent = tangent_of(self, level_);
    if (tangent.defined()) {
      const HiddenLevel hidden(level_);
      tangent = tangent.view_as(tangent);
      Stack values(arguments_.begin(), arguments_.end());
      values[places_[0].value] = tangent;
      op_.callBoxed(values);
      self._set_fw_grad(at::Tensor(), level_, false);
    }
    call_below(*stack_);
    if (tangent.defined()) {
      self._set_fw_grad(tangent, level_, /*is_inplace_op=*/false);
    }
  }

  const c10::OperatorHandle& op_;
  const c10::FunctionSchema& schema_;
  const c10::DispatchKeySet keys_;
  Stack* const stack_;
  const size_t count_;
  TensorPlaces& places_;
  const Rule& rule_;
  const uint64_t level_;
  const c10::SmallVector<c10::IValue, 6> arguments_;
  const OtherLevels others_;
  // Whether autograd records the call.
  const bool recorded_;
};

// Whether the call goes on to a kernel made of other operators.
bool is_composite(const c10::OperatorHandle& op, c10::DispatchKeySet below) {
  return op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
      !op.hasKernelForDispatchKey(c10::DispatchKey::Autograd) && !op.hasKernelForAnyDispatchKey(below) &&
      !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeExplicitAutograd);
}

/// What each call of an operator asks. Those of the library's operators are known once they have been called.
struct Plan {
  Rule rule;
  c10::DispatchKeySet below; // of what calls it is known
  bool is_composite;
};

const Plan& plan_of(const c10::OperatorHandle& op, c10::DispatchKeySet below) {
  static thread_local ska::flat_hash_map<const void*, Plan> plans;
  const auto [place, is_new] = plans.try_emplace(op.entry(), Plan{});
  Plan& plan = place->second;
  if (is_new || plan.below != below || op.operator_name().name.compare(0, 6, "aten::") != 0) {
    plan = {rule_of(op), below, is_composite(op, below)};
  }
  return plan;
}

bool is_below_autograd() {
  return c10::impl::tls_local_dispatch_key_set().excluded_.has_any(
      c10::DispatchKeySet(c10::DispatchKey::AutogradFunctionality));
}

void forward_ad_fallback(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
  const c10::DispatchKeySet below = keys - kForwardAD;
  if (is_below_autograd() || !c10::AutogradState::get_tls_state().get_fw_grad_mode()) {
    const c10::impl::ExcludeDispatchKeyGuard guard(kForwardAD);
    op.redispatchBoxed(below, stack);
    return;
  }
  const Plan plan = plan_of(op, below); // a copy: calls within may change it
  if (plan.is_composite) {
    const DualCall running(false);
    op.redispatchBoxed(below, stack);
    return;
  }
  TensorPlaces places = tensor_places(*stack, op.schema().arguments().size());
  OtherLevels others;
  const std::optional<uint64_t> level = read_tangents(places, others);
  if (!level.has_value()) {
    op.redispatchBoxed(below, stack);
    return;
  }
  Call(op, plan.rule, keys, stack, places, *level, others).run();
}

TORCH_LIBRARY_IMPL(_, ForwardAD, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&forward_ad_fallback>());
}

} // namespace

} // namespace torch::autograd::forward_ad
