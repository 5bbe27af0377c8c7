#include <aten/native/support/backend_select.h>

#include <aten/detail/CUDAHooksInterface.h>
#include <c10/core/TensorOptions.h>

namespace at::native {

c10::DispatchKeySet backend_of_options(
    std::optional<c10::ScalarType> dtype, std::optional<c10::Layout> layout, std::optional<c10::Device> device) {
  if (device && device->is_cuda()) {
    at::detail::require_cuda("create a tensor on a CUDA device");
  }
  return c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device));
}

} // namespace at::native
