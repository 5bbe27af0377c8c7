// The operators _fused_*_: checks, and the arrays that aten/native/cpu/optimizer.cpp and the CUDA plugin walk over.

#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/iterator/MemoryOverlap.h>
#include <aten/native/cpu/operator_step_lists.h>
#include <aten/native/cpu/optimizer.h>
#include <aten/native/support/convert.h>
#include <aten/native/support/cpu_isa.h>
#include <c10/util/SmallVector.h>

#include <cmath>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace at::native {
namespace {

using Optional = std::optional<Tensor>;

enum class Use { Read, Write, WriteIfGiven };

struct Role {
  const char* name;
  TensorList list;
  Use use = Use::Write;
  bool has_others = false; // tensors that are not row-major, or whose parameter does not
};

/// The parameters of one call with all that belongs to them: checked when made, read and written by run(). Tensors
/// whose elements do not lie in memory like those of their parameter take part as copies, which are written back.
class StepList {
 public:
  StepList(const char* op, TensorList self, TensorList grads, std::initializer_list<Role> state)
      : op_(op), self_(self), roles_{{"self", self}, {"grads", grads, Use::Read}} {
    roles_.insert(roles_.end(), state.begin(), state.end());
    for (const Role& role : roles_) {
      TORCH_CHECK(
          !takes_part(role) || role.list.size() == self.size(), op, ": expected as many ", role.name,
          " as parameters, got ", role.list.size(), " and ", self.size());
    }
    arrays_.resize(self.size());
    for (size_t i = 0; i < self.size(); ++i) {
      take(i);
    }
  }

  /// False where the step is to be skipped because gradients are not finite. Else takes the scale off them.
  bool unscale(const Optional& grad_scale, const Optional& found_inf);

  /// The learning rate as a number; one on the parameters' device is left to the step, which reads it there.
  double learning_rate(const Tensor& lr) {
    TORCH_CHECK(lr.defined() && lr.numel() == 1, op_, ": expected numbers as tensors of one element, got ", lr.sizes());
    if (!is_on_cuda() || !lr.is_cuda()) {
      return lr.item<double>();
    }
    scale_.lr = device_number(lr);
    return 0;
  }
  /// Whether step i stands on the parameters' device, where the step of the optimizer then reads it.
  bool leave_on_device(size_t i, const Tensor& step) {
    if (!is_on_cuda() || !step.is_cuda()) {
      return false;
    }
    arrays_[i].step = device_number(step);
    return true;
  }

  size_t size() const {
    return arrays_.size();
  }
  StepArrays& operator[](size_t i) {
    return arrays_[i];
  }

  template <class Settings>
  void run(c10::ArrayRef<Settings> settings) {
    if (is_on_cuda()) {
      place_all();
      cuda_fused_step<Settings>()(arrays_, settings, scale_);
      write_back();
    } else {
      run_on_cpu(settings);
    }
  }
  template <class Settings>
  void run_by_operators(c10::ArrayRef<ByOperators<Settings>> settings) {
    run_on_cpu(settings);
    for (const Role& role : roles_) {
      if (role.use != Use::Read && takes_part(role)) {
        for (const Tensor& written : role.list) {
          written.unsafeGetTensorImpl()->bump_version();
        }
      }
    }
  }

 private:
  template <class Settings>
  void run_on_cpu(c10::ArrayRef<Settings> settings) {
    constexpr void (*kTable[])(c10::ArrayRef<StepArrays>, c10::ArrayRef<Settings>) = {
        v2::fused_step<Settings>, v3::fused_step<Settings>, v4::fused_step<Settings>};
    place_all();
    kTable[cpu_isa_level()](arrays_, settings);
    write_back();
  }

  void place_all() {
    for (size_t slot = 0; slot < roles_.size(); ++slot) {
      if (roles_[slot].has_others) {
        place_others(static_cast<int>(slot), roles_[slot]);
      }
    }
  }
  void write_back() const {
    for (const auto& [to, from] : write_back_) {
      to.copy_(from);
    }
  }

  void check_parameter(const Tensor& p) const {
    TORCH_CHECK(
        p.defined() && (p.is_cpu() || p.is_cuda()) && p.layout() == kStrided && isFloatingType(p.scalar_type()), op_,
        ": expected dense parameters on the CPU or on CUDA of a floating dtype, got ",
        p.defined() ? p.toString() : std::string("an undefined tensor"));
  }

  bool is_on_cuda() const {
    return !self_.empty() && self_.front().is_cuda();
  }

  /// A number where the parameters are, or null.
  const float* device_number(const Optional& t) {
    return t.has_value() && t->defined() ? device_number(*t) : nullptr;
  }
  const float* device_number(const Tensor& t) {
    TORCH_CHECK(t.numel() == 1, op_, ": expected numbers as tensors of one element, got ", t.sizes());
    const c10::Device device = self_.front().device();
    if (t.device() == device && t.scalar_type() == kFloat) {
      return static_cast<const float*>(t.const_data_ptr());
    }
    copies_.push_back(t.to(device, kFloat));
    return copies_.back().const_data_ptr<float>();
  }

  static bool takes_part(const Role& role) {
    return role.use != Use::WriteIfGiven || !role.list.empty();
  }

  /// Checks the tensors of parameter i and takes the addresses of those that are row-major, as nearly all do.
  void take(size_t i) {
    const Tensor& p = self_[i];
    check_parameter(p);
    const c10::Device device = p.device();
    TORCH_CHECK(
        i == 0 || device == self_.front().device(), op_, ": expected parameters on one device, got ",
        self_.front().device(), " and ", device);
    const auto keys = p.key_set();
    const auto dtype = p.dtype();
    const IntArrayRef sizes = p.sizes();
    const bool by_rows = p.is_contiguous();
    StepArrays& arrays = arrays_[i];
    arrays.numel = p.numel();
    arrays.dtype = p.scalar_type();
    for (size_t slot = 0; slot < roles_.size(); ++slot) {
      Role& role = roles_[slot];
      if (!takes_part(role)) {
        continue;
      }
      const Tensor& t = role.list[i];
      const bool alike =
          slot == 0 || (t.key_set() == keys && t.dtype() == dtype && t.device() == device && t.sizes() == sizes);
      if (!alike) {
        check_like(role, t, p);
      }
      if (by_rows && t.is_contiguous()) {
        arrays.data[slot] = t.data_ptr();
      } else {
        role.has_others = true;
        if (role.use != Use::Read) {
          assert_no_internal_overlap(t);
        }
      }
    }
  }

  void check_like(const Role& role, const Tensor& t, const Tensor& p) const {
    TORCH_CHECK(
        t.defined() && t.scalar_type() == p.scalar_type() && t.device() == p.device() && t.layout() == p.layout(),
        "params, grads, and state must have same dtype, device, and layout: ", op_, " got ",
        t.defined() ? t.toString() : std::string("an undefined tensor"), " in ", role.name, " for a parameter ",
        p.toString());
    TORCH_CHECK(
        t.sizes() == p.sizes(), op_, ": expected ", role.name, " of the sizes of their parameters, got ", t.sizes(),
        " for ", p.sizes());
  }

  void place_others(int slot, const Role& role) {
    for (size_t i = 0; i < self_.size(); ++i) {
      const Tensor &p = self_[i], &t = role.list[i];
      if (p.is_contiguous() && t.is_contiguous()) {
        continue;
      }
      const bool dense = p.is_non_overlapping_and_dense();
      if (dense && t.strides() == p.strides()) {
        arrays_[i].data[slot] = t.data_ptr();
        continue;
      }
      const auto strides = dense_strides_like(p.sizes(), p.strides(), dense);
      Tensor copy = at::empty_strided(p.sizes(), strides, p.options());
      copy.copy_(t);
      arrays_[i].data[slot] = copy.data_ptr();
      if (role.use != Use::Read) {
        write_back_.emplace_back(t, copy);
      }
      copies_.push_back(std::move(copy));
    }
  }

  const char* op_;
  TensorList self_;
  c10::SmallVector<Role, StepArrays::kMost> roles_;
  std::vector<StepArrays> arrays_;
  std::vector<std::pair<Tensor, Tensor>> write_back_;
  std::vector<Tensor> copies_;
  StepScale scale_;
};

double number(const char* op, const Tensor& t) {
  TORCH_CHECK(t.defined() && t.numel() == 1, op, ": expected numbers as tensors of one element, got ", t.sizes());
  return t.item<double>();
}

/// Momentum buffers, which are left alone where there is no momentum.
Role momentum_role(TensorList buffers, bool used) {
  return {"momentum_buffer_list", used ? buffers : TensorList(), used ? Use::Write : Use::WriteIfGiven};
}

bool StepList::unscale(const Optional& grad_scale, const Optional& found_inf) {
  const bool scaled = grad_scale.has_value() && grad_scale->defined();
  const TensorList grads = roles_[1].list;
  if (scaled) {
    TORCH_CHECK(!grad_scale->is_complex(), op_, ": expected a real grad_scale, got ", grad_scale->scalar_type());
    for (const Tensor& g : grads) {
      assert_no_internal_overlap(g);
    }
  }
  if (is_on_cuda()) {
    // The host need not know: the step itself looks.
    scale_.scale = device_number(grad_scale);
    scale_.found_inf = device_number(found_inf);
    return true;
  }
  if (scaled) {
    number(op_, *grad_scale);
  }
  if (found_inf.has_value() && found_inf->defined() && number(op_, *found_inf) == 1) {
    return false;
  }
  if (scaled) {
    const Tensor scale = grad_scale->reshape(IntArrayRef());
    for (const Tensor& g : grads) {
      g.div_(scale);
    }
  }
  return true;
}

/// Where the plugin's steps are kept.
template <class Settings>
DeviceStep<Settings> cuda_step = nullptr;

/// Settings for each step among `steps`; parameters mostly share one.
template <class Settings, class Make>
std::vector<Settings> settings_of(const char* op, StepList& list, TensorList steps, const Make& make) {
  TORCH_CHECK(
      steps.size() == list.size(), op, ": expected as many state_steps as parameters, got ", steps.size(), " and ",
      list.size());
  std::vector<Settings> result;
  const void* last = nullptr; // the tensor that the last settings are of; none where they are of steps on the device
  for (size_t i = 0; i < steps.size(); ++i) {
    const void* const now = list.leave_on_device(i, steps[i]) ? nullptr : steps[i].unsafeGetTensorImpl();
    if (i == 0 || now != last) {
      result.push_back(make(now == nullptr ? 1.0 : number(op, steps[i])));
    }
    last = now;
    list[i].settings = result.size() - 1;
  }
  return result;
}

/// A learning rate, given as a number or as a tensor of one.
struct Rate {
  double number = 0;
  const Tensor* tensor = nullptr;

  Rate(double lr) : number(lr) {}
  Rate(const Tensor& lr) : tensor(&lr) {}
  double of(StepList& list) const {
    return tensor != nullptr ? list.learning_rate(*tensor) : number;
  }
};

template <class Settings, class Make>
std::vector<Settings> settings_of(const char* op, StepList& list, IntArrayRef steps, const Make& make) {
  TORCH_CHECK(
      steps.size() == list.size(), op, ": expected as many steps as parameters, got ", steps.size(), " and ",
      list.size());
  std::vector<Settings> result;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == 0 || steps[i] != steps[i - 1]) {
      result.push_back(make(static_cast<double>(steps[i])));
    }
    list[i].settings = result.size() - 1;
  }
  return result;
}

struct Adam {
  TensorList self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps;
  const Optional &grad_scale, &found_inf;
};

void adam(const char* op, const Adam& lists, const Rate& lr, AdamStep settings) {
  StepList list(
      op, lists.self, lists.grads,
      {{"exp_avgs", lists.exp_avgs},
       {"exp_avg_sqs", lists.exp_avg_sqs},
       {"max_exp_avg_sqs", settings.amsgrad ? lists.max_exp_avg_sqs : TensorList(),
        settings.amsgrad ? Use::Write : Use::WriteIfGiven}});
  settings.lr = lr.of(list);
  const auto all = settings_of<AdamStep>(op, list, lists.steps, [&](double step) {
    settings.step = step;
    return settings;
  });
  if (list.unscale(lists.grad_scale, lists.found_inf)) {
    list.run<AdamStep>(all);
  }
}

struct Sgd {
  TensorList self, grads, buffers;
  const Optional &grad_scale, &found_inf;
};

void sgd(const Sgd& lists, const Rate& lr, SgdStep settings) {
  StepList list("_fused_sgd_", lists.self, lists.grads, {momentum_role(lists.buffers, settings.momentum != 0)});
  settings.lr = lr.of(list);
  if (list.unscale(lists.grad_scale, lists.found_inf)) {
    list.run<SgdStep>(settings);
  }
}

struct Adagrad {
  TensorList self, grads, sums, steps;
  const Optional &grad_scale, &found_inf;
};

void adagrad(const Adagrad& lists, const Rate& lr, AdagradStep settings) {
  constexpr const char* kOp = "_fused_adagrad_";
  StepList list(kOp, lists.self, lists.grads, {{"state_sums", lists.sums}});
  settings.lr = lr.of(list);
  const auto all = settings_of<AdagradStep>(kOp, list, lists.steps, [&](double step) {
    settings.step = step;
    return settings;
  });
  if (list.unscale(lists.grad_scale, lists.found_inf)) {
    list.run<AdagradStep>(all);
  }
}

} // namespace

template <class Settings>
DeviceStep<Settings>& cuda_fused_step() {
  return cuda_step<Settings>;
}
template TORCH_API DeviceStep<SgdStep>& cuda_fused_step();
template TORCH_API DeviceStep<AdamStep>& cuda_fused_step();
template TORCH_API DeviceStep<AdagradStep>& cuda_fused_step();
template TORCH_API DeviceStep<AdadeltaStep>& cuda_fused_step();
template TORCH_API DeviceStep<AdamaxStep>& cuda_fused_step();
template TORCH_API DeviceStep<NadamStep>& cuda_fused_step();
template TORCH_API DeviceStep<RadamStep>& cuda_fused_step();
template TORCH_API DeviceStep<RmspropStep>& cuda_fused_step();
template TORCH_API DeviceStep<RpropStep>& cuda_fused_step();
template TORCH_API DeviceStep<AsgdStep>& cuda_fused_step();

void sgd_step_by_operators(const SteppedLists& lists, TensorList momentum_buffers, const SgdStep& settings) {
  StepList list("SGD", lists.params, lists.grads, {momentum_role(momentum_buffers, settings.momentum != 0)});
  list.run_by_operators<SgdStep>(ByOperators<SgdStep>{settings});
}

void adam_step_by_operators(
    const SteppedLists& lists,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    TensorList largest,
    IntArrayRef steps,
    AdamStep settings) {
  const char* const op = settings.decoupled ? "AdamW" : "Adam";
  StepList list(
      op, lists.params, lists.grads,
      {{"exp_avgs", exp_avgs},
       {"exp_avg_sqs", exp_avg_sqs},
       {"max_exp_avg_sqs", largest, settings.amsgrad ? Use::Write : Use::WriteIfGiven}});
  list.run_by_operators<AdamStep>(settings_of<ByOperators<AdamStep>>(op, list, steps, [&](double step) {
    settings.step = step;
    return ByOperators<AdamStep>{settings};
  }));
}

void adagrad_step_by_operators(
    const SteppedLists& lists, TensorList sums, IntArrayRef steps, const AdagradStep& settings) {
  StepList list("Adagrad", lists.params, lists.grads, {{"state_sums", sums}});
  list.run_by_operators<AdagradStep>(settings_of<ByOperators<AdagradStep>>("Adagrad", list, steps, [&](double step) {
    AdagradStep now = settings;
    now.lr /= 1 + (step - 1) * settings.lr_decay; // here, where no level of instruction sets fuses it
    now.lr_decay = 0;
    return ByOperators<AdagradStep>{now};
  }));
}

void rmsprop_step_by_operators(
    const SteppedLists& lists,
    TensorList square_avgs,
    TensorList grad_avgs,
    TensorList momentum_buffers,
    const RmspropStep& settings) {
  StepList list(
      "RMSprop", lists.params, lists.grads,
      {{"square_avgs", square_avgs},
       {"grad_avgs", grad_avgs, Use::WriteIfGiven},
       momentum_role(momentum_buffers, settings.momentum > 0)});
  list.run_by_operators<RmspropStep>(ByOperators<RmspropStep>{settings});
}

void _fused_sgd_(
    TensorList self,
    TensorList grads,
    TensorList momentum_buffer_list,
    double weight_decay,
    double momentum,
    double lr,
    double dampening,
    bool nesterov,
    bool maximize,
    bool is_first_step,
    const Optional& grad_scale,
    const Optional& found_inf) {
  sgd({self, grads, momentum_buffer_list, grad_scale, found_inf}, lr,
      {0, momentum, dampening, weight_decay, nesterov, maximize, is_first_step});
}

void _fused_sgd_tensor_lr_(
    TensorList self,
    TensorList grads,
    TensorList momentum_buffer_list,
    double weight_decay,
    double momentum,
    const Tensor& lr,
    double dampening,
    bool nesterov,
    bool maximize,
    bool is_first_step,
    const Optional& grad_scale,
    const Optional& found_inf) {
  sgd({self, grads, momentum_buffer_list, grad_scale, found_inf}, lr,
      {0, momentum, dampening, weight_decay, nesterov, maximize, is_first_step});
}

void _fused_adam_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    TensorList max_exp_avg_sqs,
    TensorList state_steps,
    double lr,
    double beta1,
    double beta2,
    double weight_decay,
    double eps,
    bool amsgrad,
    bool maximize,
    const Optional& grad_scale,
    const Optional& found_inf) {
  adam(
      "_fused_adam_", {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale, found_inf}, lr,
      {0, beta1, beta2, weight_decay, eps, 0, false, amsgrad, maximize});
}

void _fused_adam_tensor_lr_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    TensorList max_exp_avg_sqs,
    TensorList state_steps,
    const Tensor& lr,
    double beta1,
    double beta2,
    double weight_decay,
    double eps,
    bool amsgrad,
    bool maximize,
    const Optional& grad_scale,
    const Optional& found_inf) {
  adam(
      "_fused_adam_", {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale, found_inf}, lr,
      {0, beta1, beta2, weight_decay, eps, 0, false, amsgrad, maximize});
}

void _fused_adamw_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    TensorList max_exp_avg_sqs,
    TensorList state_steps,
    double lr,
    double beta1,
    double beta2,
    double weight_decay,
    double eps,
    bool amsgrad,
    bool maximize,
    const Optional& grad_scale,
    const Optional& found_inf) {
  adam(
      "_fused_adamw_", {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale, found_inf}, lr,
      {0, beta1, beta2, weight_decay, eps, 0, true, amsgrad, maximize});
}

void _fused_adamw_tensor_lr_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    TensorList max_exp_avg_sqs,
    TensorList state_steps,
    const Tensor& lr,
    double beta1,
    double beta2,
    double weight_decay,
    double eps,
    bool amsgrad,
    bool maximize,
    const Optional& grad_scale,
    const Optional& found_inf) {
  adam(
      "_fused_adamw_", {self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, grad_scale, found_inf}, lr,
      {0, beta1, beta2, weight_decay, eps, 0, true, amsgrad, maximize});
}

void _fused_adagrad_(
    TensorList self,
    TensorList grads,
    TensorList state_sums,
    TensorList state_steps,
    double lr,
    double lr_decay,
    double weight_decay,
    double eps,
    bool maximize,
    const Optional& grad_scale,
    const Optional& found_inf) {
  adagrad(
      {self, grads, state_sums, state_steps, grad_scale, found_inf}, lr, {0, lr_decay, weight_decay, eps, 0, maximize});
}

void _fused_adagrad_tensor_lr_(
    TensorList self,
    TensorList grads,
    TensorList state_sums,
    TensorList state_steps,
    const Tensor& lr,
    double lr_decay,
    double weight_decay,
    double eps,
    bool maximize,
    const Optional& grad_scale,
    const Optional& found_inf) {
  adagrad(
      {self, grads, state_sums, state_steps, grad_scale, found_inf}, lr, {0, lr_decay, weight_decay, eps, 0, maximize});
}

void _fused_adadelta_(
    TensorList self,
    TensorList grads,
    TensorList square_avgs,
    TensorList acc_deltas,
    double lr,
    double rho,
    double eps,
    double weight_decay,
    bool maximize) {
  StepList list("_fused_adadelta_", self, grads, {{"square_avgs", square_avgs}, {"acc_deltas", acc_deltas}});
  list.run<AdadeltaStep>(AdadeltaStep{lr, rho, eps, weight_decay, maximize});
}

void _fused_adamax_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_infs,
    IntArrayRef steps,
    double lr,
    double beta1,
    double beta2,
    double weight_decay,
    double eps,
    bool maximize) {
  StepList list("_fused_adamax_", self, grads, {{"exp_avgs", exp_avgs}, {"exp_infs", exp_infs}});
  const auto all = settings_of<AdamaxStep>("_fused_adamax_", list, steps, [&](double step) {
    return AdamaxStep{lr, beta1, beta2, weight_decay, eps, step, maximize};
  });
  list.run<AdamaxStep>(all);
}

void _fused_nadam_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    ArrayRef<double> mu_products,
    IntArrayRef steps,
    double lr,
    double beta1,
    double beta2,
    double weight_decay,
    double momentum_decay,
    double eps,
    bool decoupled_weight_decay,
    bool maximize) {
  StepList list("_fused_nadam_", self, grads, {{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}});
  TORCH_CHECK(
      mu_products.size() == list.size() && steps.size() == list.size(),
      "_fused_nadam_: expected as many mu_products and steps as parameters, got ", mu_products.size(), ", ",
      steps.size(), " and ", list.size());
  std::vector<NadamStep> all;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i == 0 || steps[i] != steps[i - 1] || mu_products[i] != mu_products[i - 1]) {
      const double step = static_cast<double>(steps[i]);
      const auto momentum = [&](double t) { return beta1 * (1 - 0.5 * std::pow(0.96, t * momentum_decay)); };
      all.push_back(
          {lr, beta1, beta2, weight_decay, eps, step, momentum(step), momentum(step + 1), mu_products[i],
           decoupled_weight_decay, maximize});
    }
    list[i].settings = all.size() - 1;
  }
  list.run<NadamStep>(all);
}

void _fused_radam_(
    TensorList self,
    TensorList grads,
    TensorList exp_avgs,
    TensorList exp_avg_sqs,
    IntArrayRef steps,
    double lr,
    double beta1,
    double beta2,
    double weight_decay,
    double eps,
    bool decoupled_weight_decay,
    bool maximize) {
  StepList list("_fused_radam_", self, grads, {{"exp_avgs", exp_avgs}, {"exp_avg_sqs", exp_avg_sqs}});
  const auto all = settings_of<RadamStep>("_fused_radam_", list, steps, [&](double step) {
    return RadamStep{lr, beta1, beta2, weight_decay, eps, step, decoupled_weight_decay, maximize};
  });
  list.run<RadamStep>(all);
}

void _fused_rmsprop_(
    TensorList self,
    TensorList grads,
    TensorList square_avgs,
    TensorList grad_avgs,
    TensorList momentum_buffer_list,
    double lr,
    double alpha,
    double eps,
    double weight_decay,
    double momentum,
    bool maximize) {
  StepList list(
      "_fused_rmsprop_", self, grads,
      {{"square_avgs", square_avgs},
       {"grad_avgs", grad_avgs, Use::WriteIfGiven},
       momentum_role(momentum_buffer_list, momentum > 0)});
  list.run<RmspropStep>(RmspropStep{lr, alpha, eps, weight_decay, momentum, maximize});
}

void _fused_rprop_(
    TensorList self,
    TensorList grads,
    TensorList prevs,
    TensorList step_sizes,
    double etaminus,
    double etaplus,
    double step_size_min,
    double step_size_max,
    bool maximize) {
  StepList list("_fused_rprop_", self, grads, {{"prevs", prevs}, {"step_sizes", step_sizes}});
  list.run<RpropStep>(RpropStep{etaminus, etaplus, step_size_min, step_size_max, maximize});
}

void _fused_asgd_(
    TensorList self,
    TensorList grads,
    TensorList axs,
    ArrayRef<double> etas,
    ArrayRef<double> mus,
    double lambd,
    double weight_decay,
    bool maximize) {
  StepList list("_fused_asgd_", self, grads, {{"axs", axs}});
  TORCH_CHECK(
      etas.size() == list.size() && mus.size() == list.size(),
      "_fused_asgd_: expected as many etas and mus as parameters, got ", etas.size(), ", ", mus.size(), " and ",
      list.size());
  std::vector<AsgdStep> all;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i == 0 || etas[i] != etas[i - 1] || mus[i] != mus[i - 1]) {
      all.push_back({lambd, etas[i], mus[i], weight_decay, maximize});
    }
    list[i].settings = all.size() - 1;
  }
  list.run<AsgdStep>(all);
}

} // namespace at::native
