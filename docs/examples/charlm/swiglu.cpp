// The operator charlm::swiglu: one pass over memory where silu, chunk and mul would take three.
// All that a custom operator needs is in this file: schema, CPU, CUDA and Meta kernels, gradient.
#include "swiglu.h"

#include <cmath>

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/autograd.h>
#include <torch/library.h>

namespace charlm {

namespace {

/// Rows below this many elements in all are not worth a second thread.
constexpr int64_t kGrain = 16384;

std::vector<int64_t> result_sizes(const at::Tensor& gate_up) {
  TORCH_CHECK(
      gate_up.dim() >= 1 && gate_up.size(-1) % 2 == 0 && gate_up.is_floating_point(),
      "swiglu: expected a floating point tensor whose last dimension is even (gate and up side by side), got ",
      gate_up.scalar_type(), " of sizes ", gate_up.sizes());
  std::vector<int64_t> sizes = gate_up.sizes().vec();
  sizes.back() /= 2;
  return sizes;
}

void check_grad(const at::Tensor& grad, const at::Tensor& gate_up) {
  const std::vector<int64_t> sizes = result_sizes(gate_up);
  TORCH_CHECK(
      grad.sizes().equals(sizes) && grad.scalar_type() == gate_up.scalar_type(), "swiglu_backward: grad must be ",
      gate_up.scalar_type(), " of sizes ", at::IntArrayRef(sizes), ", got ", grad.scalar_type(), " of sizes ",
      grad.sizes());
}

at::Tensor swiglu_meta(const at::Tensor& gate_up) {
  return at::empty(result_sizes(gate_up), gate_up.options());
}

at::Tensor swiglu_backward_meta(const at::Tensor& grad, const at::Tensor& gate_up) {
  check_grad(grad, gate_up);
  return at::empty(gate_up.sizes(), gate_up.options());
}

at::Tensor swiglu_cpu(const at::Tensor& gate_up) {
  at::Tensor out = at::empty(result_sizes(gate_up), gate_up.options());
  if (out.numel() == 0) {
    return out;
  }
  const at::Tensor in = gate_up.contiguous();
  const int64_t half = out.size(-1);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "swiglu", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, out.numel() / half, kGrain / half + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const scalar_t* gate = from + row * 2 * half;
        const scalar_t* up = gate + half;
        for (int64_t i = 0; i < half; ++i) {
          to[row * half + i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
        }
      }
    });
  });
  return out;
}

at::Tensor swiglu_backward_cpu(const at::Tensor& grad, const at::Tensor& gate_up) {
  check_grad(grad, gate_up);
  at::Tensor out = at::empty(gate_up.sizes(), gate_up.options());
  if (out.numel() == 0) {
    return out;
  }
  const at::Tensor in = gate_up.contiguous();
  const at::Tensor grad_in = grad.contiguous();
  const int64_t half = grad.size(-1);
  AT_DISPATCH_FLOATING_TYPES(in.scalar_type(), "swiglu_backward", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    const scalar_t* grads = grad_in.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, grad.numel() / half, kGrain / half + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const scalar_t* gate = from + row * 2 * half;
        const scalar_t* up = gate + half;
        scalar_t* grad_gate = to + row * 2 * half;
        scalar_t* grad_up = grad_gate + half;
        for (int64_t i = 0; i < half; ++i) {
          const scalar_t g = grads[row * half + i];
          const scalar_t sigmoid = 1 / (1 + std::exp(-gate[i]));
          grad_gate[i] = g * up[i] * sigmoid * (1 + gate[i] * (1 - sigmoid));
          grad_up[i] = g * gate[i] * sigmoid;
        }
      }
    });
  });
  return out;
}

// On a GPU the library's own pointwise kernels do: correct everywhere, though not fused.
at::Tensor swiglu_cuda(const at::Tensor& gate_up) {
  const std::vector<int64_t> sizes = result_sizes(gate_up);
  const at::Tensor gate = gate_up.narrow(-1, 0, sizes.back());
  const at::Tensor up = gate_up.narrow(-1, sizes.back(), sizes.back());
  return gate * gate.sigmoid() * up;
}

at::Tensor swiglu_backward_cuda(const at::Tensor& grad, const at::Tensor& gate_up) {
  check_grad(grad, gate_up);
  const int64_t half = grad.size(-1);
  const at::Tensor gate = gate_up.narrow(-1, 0, half);
  const at::Tensor up = gate_up.narrow(-1, half, half);
  const at::Tensor sigmoid = gate.sigmoid();
  at::Tensor out = at::empty(gate_up.sizes(), gate_up.options());
  out.narrow(-1, 0, half).copy_(grad * up * sigmoid * (gate * (1 - sigmoid) + 1));
  out.narrow(-1, half, half).copy_(grad * gate * sigmoid);
  return out;
}

at::Tensor swiglu_backward(const at::Tensor& grad, const at::Tensor& gate_up) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("charlm::swiglu_backward", "")
                             .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  return op.call(grad, gate_up);
}

struct SwigluFunction : torch::autograd::Function<SwigluFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& gate_up) {
    context->save_for_backward({gate_up});
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    return swiglu(gate_up);
  }

  static torch::autograd::variable_list backward(
      torch::autograd::AutogradContext* context, torch::autograd::variable_list grads) {
    return {swiglu_backward(grads[0], context->get_saved_variables()[0])};
  }
};

at::Tensor swiglu_autograd(const at::Tensor& gate_up) {
  return SwigluFunction::apply(gate_up);
}

} // namespace

at::Tensor swiglu(const at::Tensor& gate_up) {
  // Looked up once: afterwards a call is a read of the key set and a jump.
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("charlm::swiglu", "").typed<at::Tensor(const at::Tensor&)>();
  return op.call(gate_up);
}

} // namespace charlm

TORCH_LIBRARY(charlm, m) {
  m.def("swiglu(Tensor gate_up) -> Tensor");
  m.def("swiglu_backward(Tensor grad, Tensor gate_up) -> Tensor");
}

TORCH_LIBRARY_IMPL(charlm, CPU, m) {
  m.impl("swiglu", TORCH_FN(charlm::swiglu_cpu));
  m.impl("swiglu_backward", TORCH_FN(charlm::swiglu_backward_cpu));
}

TORCH_LIBRARY_IMPL(charlm, CUDA, m) {
  m.impl("swiglu", TORCH_FN(charlm::swiglu_cuda));
  m.impl("swiglu_backward", TORCH_FN(charlm::swiglu_backward_cuda));
}

TORCH_LIBRARY_IMPL(charlm, Meta, m) {
  m.impl("swiglu", TORCH_FN(charlm::swiglu_meta));
  m.impl("swiglu_backward", TORCH_FN(charlm::swiglu_backward_meta));
}

TORCH_LIBRARY_IMPL(charlm, Autograd, m) {
  m.impl("swiglu", TORCH_FN(charlm::swiglu_autograd));
  // Second derivatives are not offered: asking for one is an error, not a wrong number.
  m.impl("swiglu_backward", torch::autograd::autogradNotImplementedFallback());
}
