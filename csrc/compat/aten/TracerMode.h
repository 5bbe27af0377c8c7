// Whether calls go to kernels for the Tracer key.
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Exception.h>

namespace at::tracer::impl {

inline bool is_dispatch_enabled() {
  return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::Tracer) &&
      !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Tracer);
}

inline void set_dispatch_enabled(bool enabled) {
  TORCH_CHECK(
      !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Tracer),
      "Cannot enable tracing within the scope of NoTracerDispatchMode!");
  c10::impl::tls_set_dispatch_key_included(c10::DispatchKey::Tracer, enabled);
}

struct NoTracerDispatchMode {
  c10::impl::ExcludeDispatchKeyGuard guard_{c10::DispatchKey::Tracer};
};

} // namespace at::tracer::impl
