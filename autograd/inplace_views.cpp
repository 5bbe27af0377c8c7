#include <autograd/inplace_views.h>

#include <c10/util/Exception.h>

namespace torch::autograd {

void set_history_in_place(const at::Tensor& self, std::shared_ptr<Node> grad_fn) {
  const AutogradMeta* meta = impl::materialize_autograd_meta(self);
  const uint32_t output_nr = grad_fn->add_input_metadata(self);
  Edge edge(std::move(grad_fn), output_nr);
  impl::update_tensor_hooks_on_new_gradfn(self, Edge(meta->grad_fn_, meta->output_nr_), edge);
  impl::set_gradient_edge(self, std::move(edge));
}

void check_may_resize(const at::Tensor& self, const char* name) {
  TORCH_CHECK(
      !self.requires_grad(), "cannot resize variables that require grad: ", name, " of a tensor of sizes ",
      self.sizes(), ". Resize self.detach(), or make a new tensor");
}

} // namespace torch::autograd
