#include <csrc/nn/utils/parametrize.h>

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/nn/computed_tensor.h>
#include <csrc/nn/module_access.h>
#include <csrc/nn/utils/cached_parametrizations.h>

#include <algorithm>
#include <atomic>
#include <ostream>

namespace torch::nn::utils::parametrize {

namespace {

using detail::Parametrization;
using nn::detail::ComputedTensor;
using nn::detail::ModuleAccess;

constexpr const char* kContainer = "parametrizations";

// Which guard of this thread keeps values: its number, or 0.
thread_local uint64_t cache_of_thread = 0;

uint64_t next_cache() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

/// The parametrizations of one tensor, and what it is computed from.
class ParametrizationList final : public Module {
 public:
  /// With `originals` as parameters or as buffers.
  ParametrizationList(const std::vector<Tensor>& originals, bool buffers, bool requires_grad, bool several)
      : several_(several) {
    for (size_t i = 0; i < originals.size(); ++i) {
      names_.push_back(several ? "original" + std::to_string(i) : "original");
      if (buffers) {
        register_buffer(names_.back(), originals[i]);
      } else {
        register_parameter(names_.back(), originals[i], requires_grad);
      }
    }
  }

  void append(Parametrization parametrization) {
    register_module(std::to_string(entries_.size()), parametrization.module);
    entries_.push_back(std::move(parametrization));
  }

  Tensor compute() {
    Tensor value = entries_[0].forward(*entries_[0].module, originals());
    for (size_t i = 1; i < entries_.size(); ++i) {
      value = entries_[i].forward(*entries_[i].module, {value});
    }
    return value;
  }

  std::vector<Tensor> originals() {
    std::vector<Tensor> tensors;
    for (const std::string& name : names_) {
      tensors.push_back(nn::detail::find_tensor(*this, name));
    }
    return tensors;
  }
  /// Computed from several tensors?
  bool several() const {
    return several_;
  }
  bool repeatable() const {
    return std::all_of(entries_.begin(), entries_.end(), [](const Parametrization& p) {
      return p.repeatable != nullptr && p.repeatable(*p.module);
    });
  }
  const std::vector<Parametrization>& entries() const {
    return entries_;
  }

  void pretty_print(std::ostream& stream) const override {
    stream << "ParametrizationList";
  }

 private:
  std::vector<std::string> names_;
  std::vector<Parametrization> entries_;
  bool several_;
};

/// The child "parametrizations" of a module.
class Parametrizations final : public Module {
 public:
  void pretty_print(std::ostream& stream) const override {
    stream << "Parametrizations";
  }
};

class ParametrizedTensor final : public ComputedTensor {
 public:
  ParametrizedTensor(Module& module, const std::string& name, std::shared_ptr<ParametrizationList> list)
      : ComputedTensor(module, name), list_(std::move(list)) {
    auto& children = ModuleAccess::children(module);
    if (!children.contains(kContainer)) {
      module.register_module(kContainer, std::make_shared<Parametrizations>());
    }
    children[kContainer]->register_module(name, list_);
  }

  std::shared_ptr<ComputedTensor> copy_to(
      Module& copy, const Module& /*module*/, const std::optional<c10::Device>& device) const override {
    std::vector<Tensor> originals;
    for (const Tensor& original : list_->originals()) {
      originals.push_back(copy_of(original, device));
    }
    auto list = std::make_shared<ParametrizationList>(
        originals, is_buffer(), list_->originals()[0].requires_grad(), list_->several());
    for (Parametrization entry : list_->entries()) {
      entry.module = entry.module->clone(device);
      list->append(std::move(entry));
    }
    auto computed = std::make_shared<ParametrizedTensor>(copy, name(), std::move(list));
    computed->take_value_of(*this, device);
    return computed;
  }

  void renew(Module& module) override {
    if (cache_of_thread == 0) {
      return ComputedTensor::renew(module);
    }
    const uint64_t bare = 2 * cache_of_thread, with_graph = bare + 1;
    const bool recorded = c10::GradMode::is_enabled();
    if (cache_ == with_graph || (cache_ == bare && !recorded)) {
      return;
    }
    ComputedTensor::renew(module);
    cache_ = recorded ? with_graph : bare;
  }
  /// The next call computes the value, even under a guard.
  void forget_cached() {
    cache_ = 0;
  }

  ParametrizationList& list() {
    return *list_;
  }
  Tensor compute(Module& /*module*/) override {
    return list_->compute();
  }

 private:
  std::vector<Tensor> sources(Module& /*module*/) const override {
    if (!list_->repeatable()) {
      return {};
    }
    std::vector<Tensor> tensors = list_->parameters();
    for (const Tensor& buffer : list_->buffers()) {
      tensors.push_back(buffer);
    }
    return tensors;
  }

  std::shared_ptr<ParametrizationList> list_;
  // Under which guard the value was computed: twice its number, and one more with a graph. Threads in evaluation may
  // share this.
  std::atomic<uint64_t> cache_{0};
};

void check_same_kind(const Tensor& before, const Tensor& after, const std::string& name) {
  TORCH_CHECK_VALUE(
      after.defined() && after.layout() == at::kStrided, "A parametrization must return a tensor. It gave ",
      after.defined() ? after.toString() : std::string("an undefined one"), " for ", name, "; it must be dense.");
  TORCH_CHECK_VALUE(
      after.scalar_type() == before.scalar_type(),
      "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n",
      "unparametrized dtype: ", before.scalar_type(), "\nparametrized dtype: ", after.scalar_type());
  TORCH_CHECK_VALUE(
      after.sizes() == before.sizes(),
      "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n",
      "unparametrized shape: ", before.sizes(), "\nparametrized shape: ", after.sizes());
}

/// The right_inverse of a tensor; where there is none, the tensor.
std::vector<Tensor> inverse_or_same(const Parametrization& parametrization, const Tensor& tensor) {
  if (parametrization.right_inverse) {
    try {
      return parametrization.right_inverse(*parametrization.module, tensor);
    } catch (const c10::NotImplementedError&) {
    }
  }
  return {tensor};
}

/// What a tensor that is not parametrized yet will be computed from.
std::vector<Tensor> originals_of(const Parametrization& parametrization, const Tensor& tensor) {
  const c10::NoGradGuard no_grad;
  std::vector<Tensor> originals = inverse_or_same(parametrization, tensor);
  TORCH_CHECK_VALUE(
      originals.size() == parametrization.num_originals && !originals.empty(), "'right_inverse' of ",
      parametrization.module->name(), " must return a Tensor or a tuple of tensors");
  for (Tensor& original : originals) {
    TORCH_CHECK_VALUE(
        original.defined(), "'right_inverse' of ", parametrization.module->name(), " returned an undefined tensor");
    original = original.detach(); // another tensor, as `tensor` will be the computed one
  }
  if (originals.size() > 1) {
    return originals;
  }
  TORCH_CHECK_VALUE(
      originals[0].scalar_type() == tensor.scalar_type(),
      "When `right_inverse` outputs one tensor, it may not change the dtype.\noriginal.dtype: ", tensor.scalar_type(),
      "\nright_inverse(original).dtype: ", originals[0].scalar_type());
  TORCH_CHECK_VALUE(
      originals[0].device() == tensor.device(),
      "When `right_inverse` outputs one tensor, it may not change the device.\noriginal.device: ", tensor.device(),
      "\nright_inverse(original).device: ", originals[0].device());
  originals[0].mutable_grad() = tensor.grad();
  return originals;
}

void add_first(Module& module, const std::string& name, Parametrization parametrization, bool unsafe) {
  const Tensor tensor = nn::detail::find_tensor(module, name);
  TORCH_CHECK_VALUE(
      tensor.defined(), "Module '", module.name(),
      "' does not have a parameter, a buffer, or a parametrized element with name '", name, "'");
  TORCH_CHECK_VALUE(
      tensor.layout() == at::kStrided, "register_parametrization: '", name, "' of ", module.name(),
      " must be dense, it has layout ", tensor.layout());
  const auto* container = ModuleAccess::children(module).find(kContainer);
  TORCH_CHECK(
      !container || std::dynamic_pointer_cast<Parametrizations>(*container),
      "register_parametrization: ", module.name(), " has a submodule 'parametrizations' of its own");
  const bool several = parametrization.num_originals > 1, buffer = !ModuleAccess::parameters(module).contains(name);
  const auto list = std::make_shared<ParametrizationList>(
      originals_of(parametrization, tensor), buffer, tensor.requires_grad(), several);
  list->append(std::move(parametrization));
  list->train(module.is_training());
  const Tensor value = list->compute();
  if (!unsafe) {
    check_same_kind(tensor, value, name);
  }
  const auto computed = std::make_shared<ParametrizedTensor>(module, name, list);
  nn::detail::install(module, computed);
  computed->set_value(value);
}

void add_further(ParametrizedTensor& computed, Parametrization parametrization, bool unsafe) {
  TORCH_CHECK_VALUE(
      parametrization.num_originals == 1,
      "Registering a parametrization: that of several tensors must be the first of '", computed.name(), "'");
  const Tensor before = computed.list().compute();
  const Tensor after = parametrization.forward(*parametrization.module, {before});
  if (!unsafe) {
    check_same_kind(before, after, computed.name());
    const c10::NoGradGuard no_grad;
    check_same_kind(before, inverse_or_same(parametrization, after)[0], computed.name());
  }
  computed.list().append(std::move(parametrization));
  computed.set_value(after);
  computed.forget_cached();
}

std::shared_ptr<ParametrizedTensor> find(const Module& module, const std::string& name) {
  return std::dynamic_pointer_cast<ParametrizedTensor>(nn::detail::find_computed(const_cast<Module&>(module), name));
}

} // namespace

namespace detail {

void add(Module& module, const std::string& tensor_name, Parametrization parametrization, bool unsafe) {
  TORCH_CHECK_VALUE(
      parametrization.module, "register_parametrization: the parametrization of '", tensor_name, "' is null");
  for (const std::shared_ptr<Module>& part : parametrization.module->modules()) {
    TORCH_CHECK_VALUE(
        part.get() != &module, "register_parametrization: the parametrization of '", tensor_name,
        "' is, or holds, the module itself (", module.name(), "), which would have no end");
  }
  parametrization.module->train(module.is_training());
  if (const auto computed = find(module, tensor_name)) {
    add_further(*computed, std::move(parametrization), unsafe);
  } else {
    add_first(module, tensor_name, std::move(parametrization), unsafe);
  }
}

} // namespace detail

CachedGuard::CachedGuard() : outer_(cache_of_thread) {
  if (outer_ == 0) {
    cache_of_thread = next_cache();
  }
}

CachedGuard::~CachedGuard() {
  cache_of_thread = outer_;
}

bool is_parametrized(const Module& module) {
  const auto* container = ModuleAccess::children(const_cast<Module&>(module)).find(kContainer);
  return container && std::dynamic_pointer_cast<Parametrizations>(*container);
}

bool is_parametrized(const Module& module, const std::string& tensor_name) {
  return find(module, tensor_name) != nullptr;
}

void remove_parametrizations(Module& module, const std::string& tensor_name, bool leave_parametrized) {
  const auto computed = find(module, tensor_name);
  TORCH_CHECK_VALUE(computed, "Module ", module.name(), " does not have a parametrization on ", tensor_name);
  ParametrizationList& list = computed->list();
  TORCH_CHECK_VALUE(
      leave_parametrized || !list.several(),
      "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is ",
      "parametrized in terms of a sequence of tensors.");
  const std::vector<Tensor> originals = list.originals();
  const bool requires_grad =
      std::any_of(originals.begin(), originals.end(), [](const Tensor& t) { return t.requires_grad(); });
  Tensor value = originals[0].detach();
  if (leave_parametrized) {
    const c10::NoGradGuard no_grad;
    value = list.compute();
  }
  nn::detail::uninstall(module, computed, value, requires_grad);
  const auto container = ModuleAccess::children(module)[kContainer];
  container->unregister_module(tensor_name);
  if (ModuleAccess::children(*container).is_empty()) {
    module.unregister_module(kContainer);
  }
}

} // namespace torch::nn::utils::parametrize
