// Functional forms of in-place operators, on a copy; copies of the parts of sparse tensors; steps of optimizers on copies.
#include <aten/Functions.h>
#include <aten/native/composite/list_out.h>
#include <aten/native/sparse/values.h>

#include <tuple>
#include <vector>

namespace at::native {

Tensor embedding_renorm(const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  Tensor result = self.clone();
  return at::embedding_renorm_(result, indices, max_norm, norm_type);
}

Tensor _index_put_impl(
    const Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate, bool unsafe) {
  Tensor result = self.clone();
  return at::_index_put_impl_(result, indices, values, accumulate, unsafe);
}

Tensor set_empty(const Tensor& self) {
  return self.clone().set_();
}
Tensor set_storage(const Tensor& self, Storage source) {
  return self.clone().set_(std::move(source));
}
Tensor set_storage_offset(const Tensor& self, Storage source, int64_t storage_offset, IntArrayRef size, IntArrayRef stride) {
  return self.clone().set_(std::move(source), storage_offset, size, stride);
}
Tensor set_tensor(const Tensor& self, const Tensor& source) {
  return self.clone().set_(source);
}

Tensor _lazy_clone(const Tensor& self) {
  return self.clone();
}

std::vector<Tensor> _to_cpu(TensorList tensors) {
  std::vector<Tensor> result;
  result.reserve(tensors.size());
  for (const Tensor& tensor : tensors) result.push_back(tensor.to(kCPU));
  return result;
}

// ---- sparse ----------------------------------------------------------------------------------------------------------------

Tensor _coalesced(const Tensor& self, bool coalesced) {
  return self.clone()._coalesced_(coalesced);
}
Tensor& _coalesced_out(const Tensor& self, bool coalesced, Tensor& out) {
  write_sparse("_coalesced", out, at::native::_coalesced(self, coalesced));
  return out;
}

Tensor sparse_resize(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  return self.clone().sparse_resize_(size, sparse_dim, dense_dim);
}
Tensor& sparse_resize_out(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim, Tensor& out) {
  write_sparse("sparse_resize", out, at::native::sparse_resize(self, size, sparse_dim, dense_dim));
  return out;
}

Tensor sparse_resize_and_clear(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim) {
  return self.clone().sparse_resize_and_clear_(size, sparse_dim, dense_dim);
}
Tensor& sparse_resize_and_clear_out(const Tensor& self, IntArrayRef size, int64_t sparse_dim, int64_t dense_dim, Tensor& out) {
  write_sparse("sparse_resize_and_clear", out, at::native::sparse_resize_and_clear(self, size, sparse_dim, dense_dim));
  return out;
}

Tensor resize_as_sparse(const Tensor& self, const Tensor& the_template) {
  Tensor result = self.clone();
  return at::resize_as_sparse_(result, the_template);
}
Tensor& resize_as_sparse_out(const Tensor& self, const Tensor& the_template, Tensor& out) {
  write_sparse("resize_as_sparse", out, at::native::resize_as_sparse(self, the_template));
  return out;
}

Tensor copy_sparse_to_sparse(const Tensor& self, const Tensor& src, bool non_blocking) {
  Tensor result = self.clone();
  return at::copy_sparse_to_sparse_(result, src, non_blocking);
}
Tensor& copy_sparse_to_sparse_out(const Tensor& self, const Tensor& src, bool non_blocking, Tensor& out) {
  write_sparse("copy_sparse_to_sparse", out, at::native::copy_sparse_to_sparse(self, src, non_blocking));
  return out;
}

Tensor _indices_copy(const Tensor& self) {
  return self._indices().clone();
}
Tensor _values_copy(const Tensor& self) {
  return self._values().clone();
}
Tensor indices_copy(const Tensor& self) {
  return self.indices().clone();
}
Tensor values_copy(const Tensor& self) {
  return self.values().clone();
}
Tensor crow_indices_copy(const Tensor& self) {
  return self.crow_indices().clone();
}
Tensor col_indices_copy(const Tensor& self) {
  return self.col_indices().clone();
}
Tensor ccol_indices_copy(const Tensor& self) {
  return self.ccol_indices().clone();
}
Tensor row_indices_copy(const Tensor& self) {
  return self.row_indices().clone();
}

Tensor _sparse_broadcast_to_copy(const Tensor& self, IntArrayRef size) {
  return at::_sparse_broadcast_to(self, size).clone();
}
Tensor& _sparse_broadcast_to_copy_out(const Tensor& self, IntArrayRef size, Tensor& out) {
  write_sparse("_sparse_broadcast_to_copy", out, at::native::_sparse_broadcast_to_copy(self, size));
  return out;
}

// ---- steps of optimizers and of loss scaling, for those who may not write to what they are given ------------------------------

namespace {

Tensor copy_of(const Tensor& t) {
  TORCH_CHECK(t.defined(), "expected lists of tensors without undefined ones");
  return t.detach().clone();
}

std::vector<Tensor> copy_of(TensorList list) {
  std::vector<Tensor> result;
  result.reserve(list.size());
  for (const Tensor& t : list) result.push_back(copy_of(t));
  return result;
}

/// What `step` makes of copies of the originals, each a tensor or a list.
template <class Step, class... Originals>
auto on_copies(const Step& step, const Originals&... originals) {
  std::tuple copies{copy_of(originals)...};
  std::apply(step, copies);
  return copies;
}

} // namespace

std::tuple<std::vector<Tensor>, Tensor> _amp_foreach_non_finite_check_and_unscale(TensorList self, const Tensor& found_inf, const Tensor& inv_scale) {
  return on_copies(
      [&](auto&... copies) { at::_amp_foreach_non_finite_check_and_unscale_(copies..., inv_scale); }, self, found_inf);
}

void _amp_foreach_non_finite_check_and_unscale_out(TensorList self, Tensor& found_inf, const Tensor& inv_scale, TensorList out) {
  write_list_out("_amp_foreach_non_finite_check_and_unscale", out,
      std::get<0>(at::_amp_foreach_non_finite_check_and_unscale(self, found_inf, inv_scale)));
}

std::tuple<Tensor, Tensor> _amp_update_scale(const Tensor& self, const Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor, double scale_backoff_factor, int64_t growth_interval) {
  return on_copies(
      [&](auto&... copies) {
        at::_amp_update_scale_(copies..., found_inf, scale_growth_factor, scale_backoff_factor, growth_interval);
      },
      self, growth_tracker);
}

Tensor& _amp_update_scale_out(const Tensor& self, Tensor& growth_tracker, const Tensor& found_inf, double scale_growth_factor, double scale_backoff_factor, int64_t growth_interval, Tensor& out) {
  return write_exact_out("_amp_update_scale", out, std::get<0>(at::_amp_update_scale(self, growth_tracker, found_inf,
      scale_growth_factor, scale_backoff_factor, growth_interval)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_adagrad(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr, double lr_decay, double weight_decay, double eps, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_adagrad_(copies..., lr, lr_decay, weight_decay, eps, maximize, grad_scale, found_inf);
      },
      self, grads, state_sums, state_steps);
}

void _fused_adagrad_out(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, double lr, double lr_decay, double weight_decay, double eps, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_adagrad", out, std::get<0>(at::_fused_adagrad(self, grads, state_sums, state_steps, lr, lr_decay,
      weight_decay, eps, maximize, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_adagrad_tensor_lr(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, const Tensor& lr, double lr_decay, double weight_decay, double eps, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_adagrad_(copies..., state_steps, lr, lr_decay, weight_decay, eps, maximize, grad_scale, found_inf);
      },
      self, grads, state_sums);
}

void _fused_adagrad_tensor_lr_out(TensorList self, TensorList grads, TensorList state_sums, TensorList state_steps, const Tensor& lr, double lr_decay, double weight_decay, double eps, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_adagrad", out, std::get<0>(at::_fused_adagrad(self, grads, state_sums, state_steps, lr, lr_decay,
      weight_decay, eps, maximize, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_adam(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_adam_(copies..., state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale,
            found_inf);
      },
      self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs);
}

void _fused_adam_out(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_adam", out, std::get<0>(at::_fused_adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs,
      state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_adam_tensor_lr(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_adam_(copies..., state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale,
            found_inf);
      },
      self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs);
}

void _fused_adam_tensor_lr_out(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_adam", out, std::get<0>(at::_fused_adam(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs,
      state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_adamw(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_adamw_(copies..., state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale,
            found_inf);
      },
      self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs);
}

void _fused_adamw_out(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_adamw", out, std::get<0>(at::_fused_adamw(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs,
      state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_adamw_tensor_lr(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_adamw_(copies..., state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale,
            found_inf);
      },
      self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs);
}

void _fused_adamw_tensor_lr_out(TensorList self, TensorList grads, TensorList exp_avgs, TensorList exp_avg_sqs, TensorList max_exp_avg_sqs, TensorList state_steps, const Tensor& lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_adamw", out, std::get<0>(at::_fused_adamw(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs,
      state_steps, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_sgd(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay, double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_sgd_(copies..., weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step, grad_scale,
            found_inf);
      },
      self, grads, momentum_buffer_list);
}

void _fused_sgd_out(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay, double momentum, double lr, double dampening, bool nesterov, bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_sgd", out, std::get<0>(at::_fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum, lr,
      dampening, nesterov, maximize, is_first_step, grad_scale, found_inf)));
}

std::tuple<std::vector<Tensor>, std::vector<Tensor>, std::vector<Tensor>> _fused_sgd_tensor_lr(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay, double momentum, const Tensor& lr, double dampening, bool nesterov, bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf) {
  return on_copies(
      [&](auto&... copies) {
        at::_fused_sgd_(copies..., weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step, grad_scale,
            found_inf);
      },
      self, grads, momentum_buffer_list);
}

void _fused_sgd_tensor_lr_out(TensorList self, TensorList grads, TensorList momentum_buffer_list, double weight_decay, double momentum, const Tensor& lr, double dampening, bool nesterov, bool maximize, bool is_first_step, const std::optional<Tensor>& grad_scale, const std::optional<Tensor>& found_inf, TensorList out) {
  write_list_out("_fused_sgd", out, std::get<0>(at::_fused_sgd(self, grads, momentum_buffer_list, weight_decay, momentum, lr,
      dampening, nesterov, maximize, is_first_step, grad_scale, found_inf)));
}

} // namespace at::native
