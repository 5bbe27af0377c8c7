// What autocast does with the arguments of a call on CUDA: two or three tensors become half or bfloat16 by one launch,
// and so do their gradients on the way back.
#include <aten/Functions.h>
#include <aten/autocast/autocast_cache.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <autograd/function.h>
#include <autograd/functions/utils.h>

#include <algorithm>
#include <array>
#include <string>

namespace torch::autograd {

namespace {

struct CastTogetherBackward final : TraceableFunction {
  using TraceableFunction::TraceableFunction;
  std::string name() const override {
    return "CastTogetherBackward";
  }

  variable_list apply(variable_list&& grads) override {
    variable_list results(grads.size());
    std::array<at::Tensor, 3> wanted;
    std::array<size_t, 3> places{};
    size_t count = 0;
    bool plain = at::native::backward_takes_shortcuts();
    for (size_t i = 0; i < grads.size(); ++i) {
      if (!grads[i].defined() || !task_should_compute_output(i)) {
        continue;
      }
      places[count] = i;
      wanted[count++] = grads[i];
      plain = plain && at::native::is_plain_cuda(grads[i]) &&
          grads[i].scalar_type() == grads[places[0]].scalar_type() &&
          at::isReducedFloatingType(grads[i].scalar_type()) && grads[i].device() == grads[places[0]].device();
    }
    if (plain && count > 1) {
      auto cast = at::native::cuda_shortcuts().cast_together({wanted.data(), count}, at::kFloat);
      for (size_t k = 0; k < count; ++k) {
        results[places[k]] = std::move(cast[k]);
      }
    } else {
      for (size_t k = 0; k < count; ++k) {
        results[places[k]] = wanted[k].to(at::kFloat);
      }
    }
    return results;
  }
};

std::array<at::Tensor, 3> cast_together(at::TensorList args, at::ScalarType to_type) {
  std::shared_ptr<Node> node;
  if (GradMode::is_enabled() &&
      std::any_of(args.begin(), args.end(), [](const at::Tensor& t) { return t.requires_grad(); })) {
    node = make_node<CastTogetherBackward>();
    for (const at::Tensor& t : args) {
      record_edges(*node, t);
    }
  }
  auto results = at::native::cuda_shortcuts().cast_together(args, to_type);
  if (node != nullptr) {
    for (size_t i = 0; i < args.size(); ++i) {
      set_history(results[i], node);
    }
  }
  return results;
}

[[maybe_unused]] const bool registered = [] {
  at::autocast::set_cast_together(&cast_together);
  return true;
}();

} // namespace

} // namespace torch::autograd
