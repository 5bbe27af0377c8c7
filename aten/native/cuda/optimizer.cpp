// Steps of optimizers on CUDA, behind the operators of aten/native/cpu/generic/optimizer.cpp, and unscaling of
// gradients.
#include <aten/Functions.h>
#include <aten/core/Tensor.h>
#include <aten/core/dtype_dispatch.h>
#include <aten/native/cuda/optimizer.h>
#include <c10/cuda/CUDAStream.h>

#include <vector>

namespace at::native {

namespace cuda {

namespace {

/// Runs of parameters that share dtype and settings.
template <class Settings>
void fused_step(c10::ArrayRef<StepArrays> list, c10::ArrayRef<Settings> settings, const StepScale& by) {
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  for (std::size_t first = 0, last; first < list.size(); first = last) {
    if (!kFloating.contains(list[first].dtype)) {
      at::detail::dtype_not_supported("fused optimizer step", list[first].dtype, kFloating.bits);
    }
    last = first + 1;
    while (last < list.size() && list[last].dtype == list[first].dtype && list[last].settings == list[first].settings &&
           (list[last].data[3] == nullptr) == (list[first].data[3] == nullptr) &&
           (list[last].step == nullptr) == (list[first].step == nullptr)) {
      ++last;
    }
    launch_fused_step(list.data() + first, last - first, settings[list[first].settings], by, stream);
  }
}

template <class... Settings>
bool register_steps() {
  ((cuda_fused_step<Settings>() = &fused_step<Settings>), ...);
  return true;
}

[[maybe_unused]] const bool registered = register_steps<
    SgdStep,
    AdamStep,
    AdagradStep,
    AdadeltaStep,
    AdamaxStep,
    NadamStep,
    RadamStep,
    RmspropStep,
    RpropStep,
    AsgdStep>();

} // namespace

} // namespace cuda

namespace {

void check_number(const char* op, const char* name, const Tensor& t) {
  TORCH_CHECK(t.defined() && t.numel() == 1, op, ": ", name, " must be a 1-element tensor, got ", t.sizes());
  TORCH_CHECK(t.scalar_type() == kFloat, op, ": ", name, " must be a Float tensor, got ", t.scalar_type());
}

} // namespace

void _amp_foreach_non_finite_check_and_unscale_cuda_(TensorList self, Tensor& found_inf, const Tensor& inv_scale) {
  constexpr const char* kOp = "_amp_foreach_non_finite_check_and_unscale_";
  check_number(kOp, "inv_scale", inv_scale);
  check_number(kOp, "found_inf", found_inf);
  std::vector<StepArrays> list;
  std::vector<std::pair<Tensor, Tensor>> write_back; // tensors whose elements are not one dense block
  for (const Tensor& t : self) {
    TORCH_CHECK(
        isFloatingType(t.scalar_type()), kOp, ": expected tensors of a floating dtype, got ", t.scalar_type(),
        "; unscale gradients, not indices");
    TORCH_CHECK(
        t.device() == found_inf.device(),
        "Expected all tensors to be on the same device, but found at least two devices, ", t.device(), " and ",
        found_inf.device(), "! (in ", kOp, ")");
    const bool dense = t.is_non_overlapping_and_dense();
    if (!dense) {
      write_back.emplace_back(t, t.contiguous());
    }
    StepArrays arrays;
    arrays.data[0] = (dense ? t : write_back.back().second).mutable_data_ptr();
    arrays.numel = t.numel();
    arrays.dtype = t.scalar_type();
    list.push_back(arrays);
  }
  const Tensor factor = inv_scale.to(found_inf.device());
  const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();
  for (std::size_t first = 0, last; first < list.size(); first = last) {
    for (last = first + 1; last < list.size() && list[last].dtype == list[first].dtype; ++last) {
    }
    cuda::launch_unscale(
        list.data() + first, last - first, factor.const_data_ptr<float>(), found_inf.mutable_data_ptr<float>(), stream);
  }
  for (auto& [to, from] : write_back) {
    to.copy_(from);
  }
}

} // namespace at::native
