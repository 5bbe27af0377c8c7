// Negative log likelihood of class indices: one score picked per target, forward and backward.

#include <aten/parallel/Parallel.h>
#include <aten/core/Reduction.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/core/OpMathType.h>

#include <algorithm>

namespace at::native {
namespace {

constexpr auto kTargetDtypes = dtype_set<c10::ScalarType::Byte, c10::ScalarType::Long>;

/// Scores as batch x classes x points (points = 1 for plain nll_loss), all contiguous.
struct ClassTargets {
  int64_t batch, classes, points;

  int64_t targets() const {
    return batch * points;
  }
  /// Place of the score of target t in class c.
  int64_t at(int64_t t, int64_t c) const {
    return (t / points * classes + c) * points + t % points;
  }
};

ClassTargets class_targets(const TensorBase& self) {
  if (self.dim() == 4) {
    return {self.size(0), self.size(1), self.size(2) * self.size(3)};
  }
  return {self.dim() == 1 ? 1 : self.size(0), self.size(self.dim() - 1), 1};
}

template <class I>
void check_targets(const I* target, int64_t count, int64_t classes, int64_t ignore_index) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = target[i];
    TORCH_CHECK_INDEX(
        t == ignore_index || (t >= 0 && t < classes), "Target ", t, " is out of bounds. nll_loss got ", classes,
        " classes; targets must be in [0, ", classes, ") or equal ignore_index = ", ignore_index);
  }
}

TensorBase contiguous_or_none(const std::optional<Tensor>& t) {
  return t.has_value() && t->defined() ? static_cast<const TensorBase&>(*t).contiguous() : TensorBase();
}

/// Runs f.operator()<T, I>() for the dtypes of the scores and of the targets.
template <class F>
void with_types(const char* op, const TensorBase& scores, const TensorBase& target, const F& f) {
  dispatch(op, scores.scalar_type(), kFloating, [&]<class T> {
    dispatch(op, target.scalar_type(), kTargetDtypes, [&]<class I> { f.template operator()<T, I>(); });
  });
}

} // namespace

void nll_loss_forward_kernel(
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index,
    const TensorBase& output,
    const TensorBase& total_weight) {
  with_types("nll_loss_out_frame", self, target, [&]<class T, class I> {
    using R = at::opmath_type<T>;
    const TensorBase scores = self.contiguous(), chosen = target.contiguous(), weights = contiguous_or_none(weight);
    const ClassTargets p = class_targets(self);
    const T* x = scores.const_data_ptr<T>();
    const I* t = chosen.const_data_ptr<I>();
    const T* w = weights.defined() ? weights.const_data_ptr<T>() : nullptr;
    check_targets(t, p.targets(), p.classes, ignore_index);
    const auto weight_of = [&](int64_t c) { return w ? static_cast<R>(w[c]) : R(1); };
    T* out = output.mutable_data_ptr<T>();
    T* total = total_weight.mutable_data_ptr<T>();
    if (reduction == Reduction::None) {
      // A score for each class of one sample has the weight of its target, as PyTorch has it.
      const bool single = self.dim() == 1 && p.targets() == 1 && t[0] != ignore_index;
      *total = single ? static_cast<T>(weight_of(t[0])) : T(0);
      at::parallel_for(0, p.targets(), 4096, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t c = t[i];
          out[i] = c == ignore_index ? T(0) : static_cast<T>(-static_cast<R>(x[p.at(i, c)]) * weight_of(c));
        }
      });
      return;
    }
    // Summed in double and in order, whatever the number of threads.
    double sum = 0, weight_sum = 0;
    for (int64_t i = 0; i < p.targets(); ++i) {
      const int64_t c = t[i];
      if (c == ignore_index) {
        continue;
      }
      const R weight_c = weight_of(c);
      sum -= static_cast<double>(static_cast<R>(x[p.at(i, c)]) * weight_c);
      weight_sum += static_cast<double>(weight_c);
    }
    *total = static_cast<T>(static_cast<R>(weight_sum));
    *out = static_cast<T>(static_cast<R>(reduction == Reduction::Mean ? sum / weight_sum : sum));
  });
}

void nll_loss_backward_kernel(
    const TensorBase& grad_output,
    const TensorBase& self,
    const TensorBase& target,
    const std::optional<Tensor>& weight,
    int64_t reduction,
    int64_t ignore_index,
    const TensorBase& total_weight,
    const TensorBase& grad_input) {
  with_types("nll_loss_backward_out_frame", self, target, [&]<class T, class I> {
    using R = at::opmath_type<T>;
    const TensorBase grads = grad_output.contiguous(), chosen = target.contiguous(),
                     weights = contiguous_or_none(weight);
    const ClassTargets p = class_targets(self);
    const T* g = grads.const_data_ptr<T>();
    const I* t = chosen.const_data_ptr<I>();
    const T* w = weights.defined() ? weights.const_data_ptr<T>() : nullptr;
    check_targets(t, p.targets(), p.classes, ignore_index);
    T* dx = grad_input.mutable_data_ptr<T>();
    std::fill(dx, dx + grad_input.numel(), T(0));
    if (p.targets() == 0) {
      return;
    }
    R common = R(0);
    if (reduction != Reduction::None) {
      common = static_cast<R>(*g);
      if (reduction == Reduction::Mean) {
        common /= static_cast<R>(*total_weight.const_data_ptr<T>());
      }
    }
    at::parallel_for(0, p.targets(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t c = t[i];
        if (c == ignore_index) {
          continue;
        }
        const R grad = reduction == Reduction::None ? static_cast<R>(g[i]) : common;
        dx[p.at(i, c)] = static_cast<T>(-grad * (w ? static_cast<R>(w[c]) : R(1)));
      }
    });
  });
}

} // namespace at::native
