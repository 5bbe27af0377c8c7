#include <aten/native/support/copies.h>

#include <c10/util/Exception.h>

namespace at::native {

Tensor dense_copy(const Tensor& view) {
  return view.clone(at::MemoryFormat::Contiguous);
}

std::vector<Tensor> dense_copy(std::vector<Tensor> views) {
  for (Tensor& view : views) {
    view = dense_copy(view);
  }
  return views;
}

Tensor detached_copy(const Tensor& t) {
  TORCH_CHECK(t.defined(), "expected lists of tensors without undefined ones");
  return t.detach().clone();
}

std::vector<Tensor> detached_copy(TensorList list) {
  std::vector<Tensor> result;
  result.reserve(list.size());
  for (const Tensor& t : list) {
    result.push_back(detached_copy(t));
  }
  return result;
}

} // namespace at::native
