// embedding_renorm_: the host side of embedding.cu. embedding itself is a walk by index (index.cpp).
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/embedding.h>
#include <aten/native/support/embedding_renorm.h>
#include <c10/cuda/CUDAStream.h>

#include <tuple>

namespace at::native {

Tensor& embedding_renorm_cuda_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  check_embedding_renorm(self, indices);
  if (!kFloating.contains(self.scalar_type())) {
    at::detail::dtype_not_supported("embedding_renorm_", self.scalar_type(), kFloating.bits);
  }
  Tensor index = indices.to(self.device(), kLong).reshape({-1}), positions;
  if (index.numel() == 0) {
    return self;
  }
  index = index.contiguous();
  // Blocks find out by themselves which of a few is the first of its kind; more are sorted.
  if (index.numel() > cuda::kFewIndices) {
    std::tie(index, positions) = index.sort(/*stable=*/true, /*dim=*/0, /*descending=*/false);
  }
  cuda::launch_renorm_rows(
      {index.numel(),
       index.const_data_ptr<int64_t>(),
       positions.defined() ? positions.const_data_ptr<int64_t>() : nullptr,
       self.scalar_type(),
       self.mutable_data_ptr(),
       self.size(1),
       self.stride(0),
       self.stride(1),
       max_norm,
       norm_type,
       {cuda::index_error_slot(), "embedding_renorm_", "indices", self.size(0)},
       c10::cuda::getCurrentCUDAStream()});
  return self;
}

} // namespace at::native
