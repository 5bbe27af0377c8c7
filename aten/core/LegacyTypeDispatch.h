#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/macros/Export.h>

namespace at {

/// Calls below it skip the autograd kernels: what a kernel on an Autograd key uses to reach its backend kernel.
struct AutoDispatchBelowAutograd {
  AutoDispatchBelowAutograd() : guard_(c10::autograd_dispatch_keyset) {}
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

/// Older name of AutoDispatchBelowAutograd. The argument must be true.
struct AutoNonVariableTypeMode {
  TORCH_API explicit AutoNonVariableTypeMode(bool enabled = true);
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

/// Calls below it skip the conversion of in-place and view operators into functional ones.
struct AutoDispatchSkipFunctionalize {
  AutoDispatchSkipFunctionalize() : guard_(c10::DispatchKeySet(c10::DispatchKey::Functionalize)) {}
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

/// Calls below it skip autograd and the tracking of views and in-place changes: for implementations of view and
/// in-place operators themselves.
struct AutoDispatchBelowADInplaceOrView {
  AutoDispatchBelowADInplaceOrView() : guard_(c10::autograd_dispatch_keyset_with_ADInplaceOrView) {}
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

} // namespace at
