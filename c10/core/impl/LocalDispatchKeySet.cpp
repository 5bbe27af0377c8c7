#include <c10/core/impl/LocalDispatchKeySet.h>

namespace c10::impl {

__thread PODLocalDispatchKeySet raw_local_dispatch_key_set __attribute__((tls_model("initial-exec"))) = {0, 0};

bool tls_is_dispatch_key_excluded(DispatchKey k) {
  return raw_local_dispatch_key_set.excluded().has(k);
}

void tls_set_dispatch_key_excluded(DispatchKey k, bool desired_state) {
  auto& state = raw_local_dispatch_key_set;
  state.set_excluded(desired_state ? state.excluded().add(k) : state.excluded().remove(k));
}

bool tls_is_dispatch_key_included(DispatchKey k) {
  return raw_local_dispatch_key_set.included().has(k);
}

void tls_set_dispatch_key_included(DispatchKey k, bool desired_state) {
  auto& state = raw_local_dispatch_key_set;
  state.set_included(desired_state ? state.included().add(k) : state.included().remove(k));
}

bool tls_is_dispatch_keyset_excluded(DispatchKeySet ks) {
  return raw_local_dispatch_key_set.excluded().has_all(ks);
}

bool tls_is_dispatch_keyset_included(DispatchKeySet ks) {
  return raw_local_dispatch_key_set.included().has_all(ks);
}

} // namespace c10::impl
