// torch::optim::Optimizer: groups of parameters, options and state, and what all optimizers share.
#pragma once

#include <c10/util/SharedOf.h>
#include <aten/core/Tensor.h>
#include <c10/util/Exception.h>
#include <c10/util/FunctionRef.h>
#include <c10/util/OwnedPtr.h>
#include <c10/util/flat_hash_map.h>
#include <csrc/arg.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace c10 {
struct IValue;
extern template class TORCH_API Indirect<std::tuple<double, double>>; // betas
} // namespace c10

namespace torch {

using at::Tensor;

namespace serialize {
class OutputArchive;
class InputArchive;
} // namespace serialize

namespace optim {

/// What an optimizer remembers of one parameter. Own optimizers derive from OptimizerCloneableParamState.
class TORCH_API OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  OptimizerParamState& operator=(const OptimizerParamState&) = default;
  OptimizerParamState(OptimizerParamState&&) noexcept = default;
  OptimizerParamState& operator=(OptimizerParamState&&) noexcept = default;
  virtual ~OptimizerParamState() = default;

  /// A copy of the same class. Throws where a class of a program's own does not define it.
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// Reads and writes the fields under their names. Throws where a class does not define it.
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;

  /// The fields as a Dict(str, Any) under Python's names; tensors are shared, undefined ones left out.
  virtual c10::IValue state_dict() const;
  /// Takes the fields from such a dictionary. Tensors are converted to dtype and device of `param`.
  virtual void load_state_dict(const c10::IValue& fields, const Tensor& param);
};

template <typename Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
  typename c10::UniquePtrIn<OptimizerParamState, Derived>::type clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Options of a group of parameters. Own optimizers derive from OptimizerCloneableOptions.
class TORCH_API OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  OptimizerOptions(OptimizerOptions&&) noexcept = default;
  OptimizerOptions& operator=(OptimizerOptions&&) noexcept = default;
  virtual ~OptimizerOptions() = default;

  /// A copy of the same class. Throws where a class of a program's own does not define it.
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
  /// The learning rate, which schedulers read and set. Throws where a class does not define it.
  virtual double get_lr() const;
  virtual void set_lr(const double lr);

  /// Momentum as schedulers cycle it: beta1 for optimizers with betas. Empty where there is none.
  virtual std::optional<double> get_momentum() const;
  /// Throws where the optimizer has no momentum.
  virtual void set_momentum(double momentum);

  /// Replaces fields that still have their initial value by those of `defaults`, the options of the whole optimizer.
  virtual void inherit(const OptimizerOptions& defaults);

  /// The fields as a Dict(str, Any) under Python's names.
  virtual c10::IValue state_dict() const;
  /// Takes the fields that are there from such a dictionary.
  virtual void load_state_dict(const c10::IValue& fields);
};

template <typename Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
  typename c10::UniquePtrIn<OptimizerOptions, Derived>::type clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Parameters that share options. Without options they take those of the optimizer.
class TORCH_API OptimizerParamGroup {
 public:
  /// Copies share the parameters and copy the options.
  OptimizerParamGroup(const OptimizerParamGroup& param_group);
  OptimizerParamGroup(OptimizerParamGroup&& param_group);
  /// Parameters, with options of their own or those of the optimizer.
  OptimizerParamGroup(std::vector<Tensor> params);
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options);
  OptimizerParamGroup& operator=(const OptimizerParamGroup& param_group) = delete;
  OptimizerParamGroup& operator=(OptimizerParamGroup&& param_group) noexcept;
  ~OptimizerParamGroup();

  /// Whether the group has options; one in an optimizer always has.
  bool has_options() const;
  /// Throws where the group has no options.
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  /// Replaces the options.
  void set_options(std::unique_ptr<OptimizerOptions> options);
  /// The parameters.
  std::vector<Tensor>& params();
  const std::vector<Tensor>& params() const;

  /// The learning rate that schedulers start from; empty before there is one.
  std::optional<double> initial_lr() const {
    return initial_lr_;
  }
  /// Sets it; schedulers do.
  void set_initial_lr(double lr) {
    initial_lr_ = lr;
  }

 protected:
  std::vector<Tensor> params_;
  c10::OwnedPtr<OptimizerOptions> options_;
  std::optional<double> initial_lr_;
};

class Optimizer;

} // namespace optim

namespace amp {
class GradScaler;
}

namespace optim {

/// Keeps a hook of an optimizer; remove() takes it off.
class TORCH_API OptimizerHookHandle {
 public:
  /// Takes the hook off. Without effect when it, or the optimizer, is gone.
  void remove();

 private:
  friend class Optimizer;
  std::weak_ptr<void> hooks_;
  int64_t id_ = 0;
};

/// Changes parameters by their gradients, one step at a time. Parameters are in groups, each with options of its own.
class TORCH_API Optimizer {
 public:
  /// Computes the loss anew, with gradients, and returns it.
  using LossClosure = std::function<Tensor()>;
  /// A function called before or after steps.
  using StepHook = std::function<void(Optimizer&)>;
  using State = ska::flat_hash_map<void*, std::unique_ptr<OptimizerParamState>>;

  /// `defaults` hold for groups without options of their own. Throws for parameters that add_param_group refuses.
  explicit Optimizer(const std::vector<OptimizerParamGroup>& param_groups, std::unique_ptr<OptimizerOptions> defaults);
  explicit Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(const Optimizer& optimizer) = delete;
  Optimizer(Optimizer&& optimizer);
  Optimizer& operator=(const Optimizer& optimizer) = delete;
  Optimizer& operator=(Optimizer&& optimizer);
  virtual ~Optimizer();

  /// Adds a group. Its options, where it has some, take from the defaults what they leave at its initial value.
  /// Throws for parameters that are not leaves of the graph or are in a group already.
  void add_param_group(const OptimizerParamGroup& param_group);

  /// One step on the gradients of all parameters. Returns what the closure gave, or an undefined tensor.
  virtual Tensor step(LossClosure closure = nullptr) = 0;

  /// Adds parameters to the first group.
  void add_parameters(const std::vector<Tensor>& parameters);

  /// Drops the gradients of all parameters, or fills them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Parameters of the first group.
  const std::vector<Tensor>& parameters() const noexcept;
  std::vector<Tensor>& parameters() noexcept;
  /// How many parameters all groups have.
  size_t size() const noexcept;

  /// Options that new groups start from.
  OptimizerOptions& defaults() noexcept;
  const OptimizerOptions& defaults() const noexcept;
  /// The groups, in order of adding.
  std::vector<OptimizerParamGroup>& param_groups() noexcept;
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept;
  /// State by the TensorImpl of its parameter.
  State& state() noexcept;
  const State& state() const noexcept;

  /// In libtorch's layout. An optimizer of a program with a state of its own gives make_state for load.
  virtual void save(serialize::OutputArchive& archive) const;
  /// Reads what save wrote. Throws where groups, or their sizes, differ from the archive's; then nothing has changed.
  virtual void load(serialize::InputArchive& archive);

  /// {"state": {index: {name: value}}, "param_groups": [{name: value, ..., "params": [index]}]} as Python's, where an
  /// index counts the parameters of all groups. Tensors are shared with the optimizer.
  c10::IValue state_dict() const;
  /// Takes copies from such a dictionary, one that Python wrote too. Throws where groups or their sizes differ.
  void load_state_dict(const c10::IValue& state_dict);

  /// Calls the function before each step. Throws for an empty one.
  OptimizerHookHandle register_step_pre_hook(StepHook hook);
  /// Calls the function after each step. Throws for an empty one.
  OptimizerHookHandle register_step_post_hook(StepHook hook);

 protected:
  /// A step: hooks, the closure with gradients recorded, then `update` for each group with gradients off.
  Tensor run_step(const LossClosure& closure, c10::function_ref<void(OptimizerParamGroup&)> update);

  /// Whether step() looks at found_inf_ by itself, on the device.
  virtual bool supports_found_inf() const;

  /// An empty state of the class that the optimizer keeps; load_state_dict fills it.
  virtual std::unique_ptr<OptimizerParamState> make_state() const;

  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  c10::OwnedPtr<OptimizerOptions> defaults_;
  /// While a loss scaler steps an optimizer that takes it: one element, 1 where gradients are not finite and nothing is
  /// to change.
  Tensor found_inf_;

 private:
  friend class OptimizerHookHandle;
  friend class torch::amp::GradScaler;
  struct Hooks;

  OptimizerHookHandle add_hook(StepHook hook, bool before);
  void call_hooks(bool before);

  c10::SharedOf<Hooks> hooks_;
};

/// optimizer.save(archive).
TORCH_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer);
/// optimizer.load(archive).
TORCH_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer);

namespace detail {

/// What the options of the library's optimizers share. Each source of an optimizer instantiates it.
template <typename Derived>
class TORCH_API BuiltinOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override;
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  double get_lr() const override;
  void set_lr(const double lr) override;
  std::optional<double> get_momentum() const override;
  void set_momentum(double momentum) override;
  void inherit(const OptimizerOptions& defaults) override;
  c10::IValue state_dict() const override;
  void load_state_dict(const c10::IValue& fields) override;

  friend bool operator==(const Derived& lhs, const Derived& rhs) {
    return BuiltinOptions::equal(lhs, rhs);
  }

 private:
  static bool equal(const Derived& lhs, const Derived& rhs);
};

/// The same for the state of a parameter.
template <typename Derived>
class TORCH_API BuiltinParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override;
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  c10::IValue state_dict() const override;
  void load_state_dict(const c10::IValue& fields, const Tensor& param) override;

  friend bool operator==(const Derived& lhs, const Derived& rhs) {
    return BuiltinParamState::equal(lhs, rhs);
  }

 private:
  static bool equal(const Derived& lhs, const Derived& rhs);
};

} // namespace detail
} // namespace optim
} // namespace torch
