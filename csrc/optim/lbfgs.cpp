#include <csrc/optim/lbfgs.h>

#include <aten/core/TensorOperators.h>
#include <c10/core/GradMode.h>
#include <c10/util/safe_numerics.h>
#include <csrc/optim/step_lists.h>

template class c10::Indirect<std::deque<at::Tensor>>;
template class c10::Indirect<std::optional<std::vector<at::Tensor>>>;

namespace torch::optim {
namespace detail {

template <>
struct Fields<LBFGSOptions> {
  static constexpr auto kNames = std::to_array<const char*>(
      {"lr", "max_iter", "max_eval", "tolerance_grad", "tolerance_change", "history_size", "line_search_fn",
       "maximize"});
  template <class T>
  static auto of(T& x) {
    return std::tie(
        x.lr(), x.max_iter(), x.max_eval(), x.tolerance_grad(), x.tolerance_change(), x.history_size(),
        x.line_search_fn(), x.maximize());
  }
};
template <>
struct Fields<LBFGSParamState> {
  static constexpr bool kNumbersAsTensors = false;
  static constexpr auto kNames = std::to_array<const char*>(
      {"func_evals", "n_iter", "t", "prev_loss", "d", "H_diag", "prev_flat_grad", "old_dirs", "old_stps", "ro", "al"});
  template <class T>
  static auto of(T& x) {
    return std::tie(
        x.func_evals(), x.n_iter(), x.t(), x.prev_loss(), x.d(), x.H_diag(), x.prev_flat_grad(), x.old_dirs(),
        x.old_stps(), x.ro(), x.al());
  }
};

template class BuiltinOptions<LBFGSOptions>;
template class BuiltinParamState<LBFGSParamState>;

} // namespace detail

namespace {

double number(const Tensor& t) {
  return t.item<double>();
}

/// A point of the line that is searched: the loss there, its gradient, and the slope along the line.
struct Point {
  double t = 0, loss = 0;
  Tensor grad;
  double slope = 0;
};

/// Minimum of the cubic with the values and slopes of two points, within bounds (Nocedal and Wright, equation 3.59).
double cubic_minimum(const Point& a, const Point& b, double lowest, double highest) {
  const Point &left = a.t <= b.t ? a : b, &right = a.t <= b.t ? b : a;
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) {
    return (lowest + highest) / 2;
  }
  const double d2 = std::sqrt(square);
  const double minimum = right.t - (right.t - left.t) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
  return std::min(std::max(minimum, lowest), highest);
}

/// Finds a point that meets the strong Wolfe conditions (Nocedal and Wright, algorithms 3.5 and 3.6).
class WolfeSearch {
 public:
  WolfeSearch(c10::function_ref<Point(double)> evaluate, Point start) : evaluate_(evaluate), start_(std::move(start)) {}

  /// Begins with a step of length t. `size` is the largest component of the direction.
  Point run(double t, double size, double tolerance) {
    if (!bracket(t)) {
      zoom(size, tolerance);
    }
    return ends_[low_];
  }

  int64_t evaluations() const {
    return evaluations_;
  }

 private:
  static constexpr double kArmijo = 1e-4, kCurvature = 0.9;
  /// Rounds of one search, as in libtorch. (Python's also ends where max_eval is reached.)
  static constexpr int64_t kMost = 25;

  Point at(double t) {
    ++evaluations_;
    return evaluate_(t);
  }
  bool too_high(const Point& p) const {
    return p.loss > start_.loss + kArmijo * p.t * start_.slope;
  }
  bool flat_enough(const Point& p) const {
    return std::abs(p.slope) <= -kCurvature * start_.slope;
  }

  void set_ends(const Point& a, const Point& b) {
    ends_[0] = a;
    ends_[1] = b;
    choose_low();
  }
  void choose_low() {
    low_ = ends_[0].loss <= ends_[1].loss ? 0 : 1;
  }

  /// Walks on until two points enclose a minimum. True when a point met the conditions on the way.
  bool bracket(double t) {
    Point before = start_, now = at(t);
    for (; rounds_ < kMost; ++rounds_) {
      if (too_high(now) || (rounds_ > 1 && now.loss >= before.loss)) {
        set_ends(before, now);
        return false;
      }
      if (flat_enough(now)) {
        set_ends(now, now);
        return true;
      }
      if (now.slope >= 0) {
        set_ends(before, now);
        return false;
      }
      const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
      before = std::move(now);
      now = at(next);
    }
    set_ends(start_, now);
    return false;
  }

  /// A new point between the ends, away from them when the one before was close to them already.
  double trial() {
    const double left = std::min(ends_[0].t, ends_[1].t), right = std::max(ends_[0].t, ends_[1].t);
    double t = cubic_minimum(ends_[0], ends_[1], left, right);
    const double margin = 0.1 * (right - left);
    if (std::min(right - t, t - left) >= margin) {
      close_ = false;
    } else if (close_ || t >= right || t <= left) {
      t = std::abs(t - right) < std::abs(t - left) ? right - margin : left + margin;
      close_ = false;
    } else {
      close_ = true;
    }
    return t;
  }

  void zoom(double size, double tolerance) {
    for (; rounds_ < kMost; ++rounds_) {
      if (std::abs(ends_[1].t - ends_[0].t) * size < tolerance) {
        return;
      }
      Point now = at(trial());
      if (too_high(now) || now.loss >= ends_[low_].loss) {
        ends_[1 - low_] = std::move(now);
        choose_low();
        continue;
      }
      const bool done = flat_enough(now);
      if (!done && now.slope * (ends_[1 - low_].t - ends_[low_].t) >= 0) {
        ends_[1 - low_] = ends_[low_];
      }
      ends_[low_] = std::move(now);
      if (done) {
        return;
      }
    }
  }

  c10::function_ref<Point(double)> evaluate_;
  Point start_, ends_[2];
  int low_ = 0;
  bool close_ = false;
  int64_t rounds_ = 0, evaluations_ = 0;
};

Tensor real_row(const Tensor& t) {
  return (t.is_complex() ? at::view_as_real(t) : t).reshape({-1});
}

/// Evaluations allowed where nothing else was said.
int64_t default_max_eval(int64_t max_iter) {
  int64_t product = 0;
  return c10::mul_overflows(max_iter, int64_t{5}, &product) ? max_iter : product / 4;
}

} // namespace

LBFGSOptions::LBFGSOptions(double lr) : lr_(lr) {}

LBFGS::LBFGS(const std::vector<OptimizerParamGroup>& param_groups, LBFGSOptions defaults)
    : Optimizer(param_groups, std::make_unique<LBFGSOptions>(defaults)) {
  TORCH_CHECK_VALUE(
      param_groups_.size() == 1, "LBFGS doesn't support per-parameter options (parameter groups): got ",
      param_groups_.size(), " groups");
  auto& options = static_cast<LBFGSOptions&>(param_groups_[0].options());
  detail::check_not_negative("Invalid learning rate", defaults.lr(), "LBFGS", "lr");
  TORCH_CHECK_VALUE(
      options.history_size() > 0, "Invalid history_size value: ", options.history_size(), " (LBFGS needs at least 1)");
  if (!defaults.max_eval().has_value()) {
    const int64_t max_eval = default_max_eval(defaults.max_iter());
    options.max_eval(max_eval);
    static_cast<LBFGSOptions&>(*defaults_).max_eval(max_eval);
  }
}

LBFGS::LBFGS(std::vector<Tensor> params, LBFGSOptions defaults)
    : LBFGS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

std::unique_ptr<OptimizerParamState> LBFGS::make_state() const {
  return std::make_unique<LBFGSParamState>();
}

Tensor LBFGS::flat_grad() {
  std::vector<Tensor> rows;
  for (const Tensor& param : param_groups_[0].params()) {
    const Tensor& grad = param.grad();
    rows.push_back(real_row(
        !grad.defined()                     ? at::zeros_like(param)
            : grad.layout() == at::kStrided ? grad
                                            : grad.to_dense()));
  }
  const Tensor all = at::cat(rows);
  return static_cast<const LBFGSOptions&>(param_groups_[0].options()).maximize() ? all.neg() : all;
}

void LBFGS::move(double length, const Tensor& direction) {
  int64_t offset = 0;
  for (const Tensor& param : param_groups_[0].params()) {
    const Tensor real = param.is_complex() ? at::view_as_real(param) : param;
    real.add_(direction.narrow(0, offset, real.numel()).view(real.sizes()), length);
    offset += real.numel();
  }
}

LBFGS::Evaluation LBFGS::evaluate(const LossClosure& closure, Tensor* loss) {
  Tensor value;
  {
    const c10::AutoGradMode with_gradients(true);
    value = closure();
  }
  TORCH_CHECK(
      value.defined() && value.numel() == 1, "LBFGS: the closure must return the loss, a tensor of one element, got ",
      value.defined() ? value.toString() : std::string("an undefined tensor"));
  if (loss) {
    *loss = value;
  }
  const bool maximize = static_cast<const LBFGSOptions&>(param_groups_[0].options()).maximize();
  const double number_of_loss = number(value.detach());
  return {maximize ? -number_of_loss : number_of_loss, flat_grad()};
}

/// The descent direction: the gradient through the approximate inverse Hessian (two loops, Nocedal and Wright 7.4).
Tensor LBFGS::direction(LBFGSParamState& state, const Tensor& grad) {
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  if (state.n_iter() == 1) {
    state.old_dirs().clear();
    state.old_stps().clear();
    state.ro().clear();
    state.H_diag(at::scalar_tensor(1, grad.options()));
    return grad.neg();
  }
  const Tensor y = grad.sub(state.prev_flat_grad()), s = state.d().mul(state.t());
  const Tensor ys = y.dot(s);
  if (number(ys) > 1e-10) {
    if (static_cast<int64_t>(state.old_dirs().size()) == options.history_size()) {
      state.old_dirs().pop_front();
      state.old_stps().pop_front();
      state.ro().pop_front();
    }
    state.old_dirs().push_back(y);
    state.old_stps().push_back(s);
    state.ro().push_back(ys.reciprocal());
    state.H_diag(ys.div(y.dot(y)));
  }
  const size_t count = state.old_dirs().size();
  std::vector<Tensor> alpha(count);
  Tensor q = grad.neg();
  for (size_t i = count; i-- > 0;) {
    alpha[i] = state.old_stps()[i].dot(q).mul_(state.ro()[i]);
    q.addcmul_(state.old_dirs()[i], alpha[i], -1);
  }
  q.mul_(state.H_diag());
  for (size_t i = 0; i < count; ++i) {
    const Tensor beta = state.old_dirs()[i].dot(q).mul_(state.ro()[i]);
    q.addcmul_(state.old_stps()[i], alpha[i].sub(beta));
  }
  return q;
}

Tensor LBFGS::iterate(const LossClosure& closure) {
  const auto& options = static_cast<const LBFGSOptions&>(param_groups_[0].options());
  if (param_groups_[0].params().empty()) {
    const c10::AutoGradMode with_gradients(true);
    return closure();
  }
  TORCH_CHECK(
      !options.line_search_fn().has_value() || *options.line_search_fn() == "strong_wolfe",
      "only 'strong_wolfe' is supported", " as line_search_fn of LBFGS, got '", options.line_search_fn().value_or(""),
      "'");
  auto& slot = state_[param_groups_[0].params()[0].unsafeGetTensorImpl()];
  if (!slot) {
    slot = make_state();
  }
  auto& state = static_cast<LBFGSParamState&>(*slot);

  Tensor first_loss;
  Evaluation now = evaluate(closure, &first_loss);
  const auto optimal = [&] { return number(now.grad.abs().max()) <= options.tolerance_grad(); };
  int64_t evaluations = 1;
  state.func_evals(state.func_evals() + 1);
  if (optimal()) {
    return first_loss;
  }

  const int64_t max_eval = options.max_eval().value_or(default_max_eval(options.max_iter()));
  for (int64_t iteration = 1; iteration <= options.max_iter(); ++iteration) {
    state.n_iter(state.n_iter() + 1);
    const Tensor d = direction(state, now.grad);
    state.d(d);
    state.prev_flat_grad(now.grad.clone());
    state.prev_loss(now.loss);
    const double first_length = std::min(1.0, 1 / number(now.grad.abs().sum()));
    state.t(state.n_iter() == 1 ? first_length * options.lr() : options.lr());
    const double slope = number(now.grad.dot(d));
    if (slope > -options.tolerance_change()) {
      break;
    }

    const int64_t before = evaluations;
    if (options.line_search_fn().has_value()) {
      std::vector<Tensor> origin;
      for (const Tensor& param : param_groups_[0].params()) {
        origin.push_back(param.clone());
      }
      const auto at = [&](double t) {
        move(t, d);
        Evaluation there = evaluate(closure);
        for (size_t i = 0; i < origin.size(); ++i) {
          param_groups_[0].params()[i].copy_(origin[i]);
        }
        const double along = number(there.grad.dot(d));
        return Point{t, there.loss, std::move(there.grad), along};
      };
      WolfeSearch search(at, {0, now.loss, now.grad, slope});
      const Point best = search.run(state.t(), number(d.abs().max()), options.tolerance_change());
      now = {best.loss, best.grad};
      state.t(best.t);
      evaluations += search.evaluations();
      move(best.t, d);
    } else {
      move(state.t(), d);
      // The gradient after the last iteration is left to the next step, which may see other data.
      if (iteration != options.max_iter()) {
        now = evaluate(closure);
        ++evaluations;
      }
    }
    state.func_evals(state.func_evals() + evaluations - before);

    if (evaluations >= max_eval || optimal()) {
      break;
    }
    if (number(d.abs().max()) * std::abs(state.t()) <= options.tolerance_change()) {
      break;
    }
    if (std::abs(now.loss - state.prev_loss()) < options.tolerance_change()) {
      break;
    }
  }
  return first_loss;
}

Tensor LBFGS::step(LossClosure closure) {
  TORCH_CHECK(closure != nullptr, "LBFGS requires a closure function");
  Tensor loss;
  run_step(nullptr, [&](OptimizerParamGroup&) { loss = iterate(closure); });
  return loss;
}

} // namespace torch::optim
