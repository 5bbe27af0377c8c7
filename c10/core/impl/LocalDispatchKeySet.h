#pragma once

#include <c10/core/DispatchKeySet.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>

#include <cstdint>

// Note [Thread-local key sets]
// Every operator call joins its tensors' keys with the calling thread's: (tensors | included) - excluded. The state is
// a zero-initialised POD in the initial-exec TLS model, so reading it is two loads from the thread pointer, with no
// call and no "is it constructed" check. The defaults are xor-ed in to make all-zero mean "as a new thread".

namespace c10::impl {

/// The stored form; zero means default_included_set / default_excluded_set.
struct C10_API PODLocalDispatchKeySet {
  uint64_t included_;
  uint64_t excluded_;

  DispatchKeySet included() const {
    return DispatchKeySet(DispatchKeySet::RAW, included_) ^ default_included_set;
  }
  DispatchKeySet excluded() const {
    return DispatchKeySet(DispatchKeySet::RAW, excluded_) ^ default_excluded_set;
  }
  void set_included(DispatchKeySet ks) {
    included_ = (ks ^ default_included_set).raw_repr();
  }
  void set_excluded(DispatchKeySet ks) {
    excluded_ = (ks ^ default_excluded_set).raw_repr();
  }
};

/// Whether a thread's state is that of a new thread.
inline bool is_default(const PODLocalDispatchKeySet& state) {
  return (state.included_ | state.excluded_) == 0;
}

/// What the thread adds to and removes from the keys of every call.
struct C10_API LocalDispatchKeySet {
  LocalDispatchKeySet(PODLocalDispatchKeySet state) : included_(state.included()), excluded_(state.excluded()) {}
  DispatchKeySet included_;
  DispatchKeySet excluded_;
};

extern C10_API __thread PODLocalDispatchKeySet raw_local_dispatch_key_set __attribute__((tls_model("initial-exec")));

inline C10_API LocalDispatchKeySet tls_local_dispatch_key_set() {
  return raw_local_dispatch_key_set;
}

/// Replaces the calling thread's state; for guards and for carrying a state to another thread.
inline C10_API void _force_tls_local_dispatch_key_set(LocalDispatchKeySet ks) {
  raw_local_dispatch_key_set.set_included(ks.included_);
  raw_local_dispatch_key_set.set_excluded(ks.excluded_);
}

/// Includes keys until the guard goes out of scope. Only what it added is taken back, so guards nest in any mixture.
class C10_API IncludeDispatchKeyGuard {
 public:
  IncludeDispatchKeyGuard(DispatchKeySet include)
      : added_(include.raw_repr() & ~raw_local_dispatch_key_set.included().raw_repr()) {
    raw_local_dispatch_key_set.included_ ^= added_;
  }
  IncludeDispatchKeyGuard(DispatchKey k) : IncludeDispatchKeyGuard(DispatchKeySet(k)) {}
  IncludeDispatchKeyGuard(const IncludeDispatchKeyGuard&) = delete;
  IncludeDispatchKeyGuard& operator=(const IncludeDispatchKeyGuard&) = delete;
  ~IncludeDispatchKeyGuard() {
    auto& state = raw_local_dispatch_key_set;
    state.set_included(DispatchKeySet::from_raw_repr(state.included().raw_repr() & ~added_));
  }

 private:
  uint64_t added_;
};

/// Excludes keys until the guard goes out of scope. Only what it added is taken back.
class C10_API ExcludeDispatchKeyGuard {
 public:
  ExcludeDispatchKeyGuard(DispatchKeySet exclude)
      : added_(exclude.raw_repr() & ~raw_local_dispatch_key_set.excluded().raw_repr()) {
    raw_local_dispatch_key_set.excluded_ ^= added_;
  }
  ExcludeDispatchKeyGuard(DispatchKey k) : ExcludeDispatchKeyGuard(DispatchKeySet(k)) {}
  ExcludeDispatchKeyGuard(const ExcludeDispatchKeyGuard&) = delete;
  ExcludeDispatchKeyGuard& operator=(const ExcludeDispatchKeyGuard&) = delete;
  ~ExcludeDispatchKeyGuard() {
    auto& state = raw_local_dispatch_key_set;
    state.set_excluded(DispatchKeySet::from_raw_repr(state.excluded().raw_repr() & ~added_));
  }

 private:
  uint64_t added_;
};

/// Excludes keys on a thread whose state is the default one, and sets that again: a store each.
class C10_API ExcludeFromDefaultGuard {
 public:
  explicit ExcludeFromDefaultGuard(DispatchKeySet exclude) {
    raw_local_dispatch_key_set.set_excluded(default_excluded_set | exclude);
  }
  ExcludeFromDefaultGuard(const ExcludeFromDefaultGuard&) = delete;
  ExcludeFromDefaultGuard& operator=(const ExcludeFromDefaultGuard&) = delete;
  ~ExcludeFromDefaultGuard() {
    raw_local_dispatch_key_set.excluded_ = 0;
  }
};

/// Sets the whole state and restores the whole state.
struct C10_API ForceDispatchKeyGuard {
 public:
  ForceDispatchKeyGuard() : saved_(raw_local_dispatch_key_set) {}
  ForceDispatchKeyGuard(LocalDispatchKeySet ks) : ForceDispatchKeyGuard() {
    _force_tls_local_dispatch_key_set(ks);
  }
  ForceDispatchKeyGuard(DispatchKeySet include, DispatchKeySet exclude) : ForceDispatchKeyGuard() {
    raw_local_dispatch_key_set.set_included(include);
    raw_local_dispatch_key_set.set_excluded(exclude);
  }
  ForceDispatchKeyGuard(const ForceDispatchKeyGuard&) = delete;
  ForceDispatchKeyGuard& operator=(const ForceDispatchKeyGuard&) = delete;
  ~ForceDispatchKeyGuard() {
    raw_local_dispatch_key_set = saved_;
  }

 private:
  PODLocalDispatchKeySet saved_;
};

// Non-scoped access, for languages whose scopes are not C++'s.
C10_API bool tls_is_dispatch_key_excluded(DispatchKey k);
C10_API void tls_set_dispatch_key_excluded(DispatchKey k, bool desired_state);
C10_API bool tls_is_dispatch_key_included(DispatchKey k);
C10_API void tls_set_dispatch_key_included(DispatchKey k, bool desired_state);
C10_API bool tls_is_dispatch_keyset_excluded(DispatchKeySet ks);
C10_API bool tls_is_dispatch_keyset_included(DispatchKeySet ks);

} // namespace c10::impl
