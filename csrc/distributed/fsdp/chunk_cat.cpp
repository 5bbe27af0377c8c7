// Chunks of several tensors, chunk by chunk.
#include <csrc/distributed/fsdp/chunk_cat.h>

#include <aten/Functions.h>

namespace torch::distributed::fsdp {

void chunk_cat_mixed_dtype(at::TensorList tensors, int64_t dim, int64_t num_chunks, at::Tensor& out) {
  TORCH_CHECK_VALUE(out.defined(), "chunk_cat_mixed_dtype: out must be defined");
  std::vector<at::Tensor> converted;
  for (const auto& tensor : tensors) {
    converted.push_back(tensor.to(out.scalar_type()));
  }
  at::_chunk_cat_out(out, converted, dim, num_chunks);
}

} // namespace torch::distributed::fsdp
