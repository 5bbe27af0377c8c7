#include <aten/native/support/cuda_shortcuts.h>

#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <cstdint>

namespace at::native {

CudaShortcuts& cuda_shortcuts() {
  static constinit CudaShortcuts shortcuts;
  return shortcuts;
}

bool backward_takes_shortcuts() {
  // The engine itself keeps what nodes call from being recorded.
  constexpr std::uint64_t recording = c10::autograd_dispatch_keyset_with_ADInplaceOrView.raw_repr();
  const c10::impl::PODLocalDispatchKeySet state = c10::impl::raw_local_dispatch_key_set;
  return !c10::GradMode::is_enabled() && state.included_ == 0 && (state.excluded_ & ~recording) == 0;
}

} // namespace at::native
