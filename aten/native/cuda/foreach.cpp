// Whole lists of tensors at once: the device's part of aten/native/explicit/foreach.cpp.
#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <aten/core/Tensor.h>
#include <aten/native/cuda/foreach.h>
#include <aten/native/cuda/operator_errors.h>
#include <aten/native/explicit/foreach.h>
#include <aten/native/support/cuda_shortcuts.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <array>

namespace at::native::cuda {

namespace {

// Which of the operators calls is not known here; each is one launch or two.
constexpr const char* kForeach = "_foreach_*";

void foreach_on_device(ForeachFunction function, const Tensor& lead, ArrayRef<ForeachPart> parts) try {
  const c10::cuda::CUDAGuard guard(lead.device());
  launch_foreach(function, lead.scalar_type(), parts.data(), parts.size(), c10::cuda::getCurrentCUDAStream());
} catch (...) {
  rethrow_from(kForeach);
}

void foreach_norm_on_device(ForeachNorm norm, const Tensor& lead, ArrayRef<ForeachPart> parts) try {
  const c10::cuda::CUDAGuard guard(lead.device());
  std::int64_t chunks = 0;
  for (const ForeachPart& part : parts) {
    chunks += foreach_norm_chunks(part.numel);
  }
  const Tensor sums = at::empty({chunks}, lead.options().dtype(lead.scalar_type() == kDouble ? kDouble : kFloat));
  launch_foreach_norm(
      norm, lead.scalar_type(), parts.data(), parts.size(), sums.mutable_data_ptr(), c10::cuda::getCurrentCUDAStream());
} catch (...) {
  rethrow_from(kForeach);
}

std::array<Tensor, 3> cast_together(TensorList tensors, ScalarType dtype) {
  const c10::cuda::CUDAGuard guard(tensors[0].device());
  std::array<Tensor, 3> results;
  ForeachPart parts[3];
  std::size_t count = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (t.is_non_overlapping_and_dense()) {
      results[i] = at::empty_like(t, t.options().dtype(dtype));
      parts[count++] = {results[i].mutable_data_ptr(), {t.const_data_ptr()}, t.numel(), 0};
    } else {
      const at::AutoDispatchBelowAutograd not_recorded;
      results[i] = t.to(dtype);
    }
  }
  if (count > 0) {
    launch_foreach_cast(tensors[0].scalar_type(), dtype, parts, count, c10::cuda::getCurrentCUDAStream());
  }
  return results;
}

[[maybe_unused]] const bool registered = [] {
  cuda_shortcuts().cast_together = &cast_together;
  cuda_foreach() = {&foreach_on_device, &foreach_norm_on_device};
  return true;
}();

} // namespace

} // namespace at::native::cuda
