// What a tensor with named dimensions keeps, and how names are read and set.
#pragma once

#include <aten/core/Dimname.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/Indirect.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace at {

class TensorBase;

// Note [Named tensors]
// Names are kept in the tensor's ExtraMeta, and such a tensor has the dispatch key Named; other tensors have neither,
// and pay nothing. A call with a named tensor comes by the kernel for that key (aten/names/names_kernel.cpp), below
// autograd: it finds the names of the results by a rule that the operator's entry gives, goes on with names
// disregarded, and sets them. Composite operators come there with the operators that they are made of.
//
// Gradients have no names: nodes run with names disregarded.

/// Names of which one at least is no wildcard: without such a name a tensor is not named.
struct TORCH_API NamedTensorMeta final : c10::NamedTensorMetaInterface {
  /// To be named by whoever makes one, who has made sure of that.
  enum HAS_NON_WILDCARD { HasNonWildcard };

  explicit NamedTensorMeta(HAS_NON_WILDCARD, DimnameList names);
  explicit NamedTensorMeta(HAS_NON_WILDCARD, std::vector<Dimname>&& names);
  ~NamedTensorMeta() override;

  std::unique_ptr<c10::NamedTensorMetaInterface> clone() const override;
  int64_t slow_dim() const override;
  DimnameList names() const;
  void set_names(HAS_NON_WILDCARD, DimnameList new_names);
  void set_names(HAS_NON_WILDCARD, std::vector<Dimname>&& new_names);

 private:
  c10::Indirect<std::vector<Dimname>> names_;
};

/// Whether this thread's calls regard names.
struct TORCH_API NamesMode {
  static bool is_enabled() {
    return !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Named);
  }
  static void set_enabled(bool enabled) {
    c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::Named, !enabled);
  }
};

/// Disregards names while it lives, or until reset(): all tensors are without names.
struct TORCH_API NoNamesGuard {
  NoNamesGuard() : previous_(NamesMode::is_enabled()) {
    NamesMode::set_enabled(false);
  }
  NoNamesGuard(const NoNamesGuard&) = delete;
  NoNamesGuard& operator=(const NoNamesGuard&) = delete;
  ~NoNamesGuard() {
    reset();
  }
  void reset() {
    NamesMode::set_enabled(previous_);
  }

 private:
  bool previous_;
};

/// How many dimensions a tensor with names may have.
constexpr size_t kMaxNamedTensorDim = 64;

/// As many wildcards: the names of a tensor without names.
TORCH_API DimnameList default_names(size_t len);

/// Throws unless there is a name for each dimension, and none of them twice.
TORCH_API void check_names_valid_for(const TensorBase& tensor, DimnameList names);
TORCH_API void check_names_valid_for(size_t tensor_dim, DimnameList names);

/// Sets names, or removes them: of the tensor itself.
TORCH_API const TensorBase& internal_set_names_inplace(const TensorBase& tensor, std::optional<DimnameList> names);
TORCH_API const TensorBase& internal_set_names_inplace(
    const TensorBase& tensor, std::vector<Dimname>&& names, bool validate_names);

namespace impl {

TORCH_API void internal_set_names_inplace(TensorImpl* impl, std::optional<DimnameList> names, bool validate_names);
TORCH_API void internal_set_names_inplace(TensorImpl* impl, std::vector<Dimname>&& names, bool validate_names);
TORCH_API void check_names_valid_for(TensorImpl* impl, DimnameList names);

/// Whether a tensor was ever given names in this process.
extern TORCH_API std::atomic<bool> names_in_use;

/// False too where names are disregarded.
inline bool has_names(const TensorImpl* impl) {
  return impl->has_named_tensor_meta() && NamesMode::is_enabled();
}
/// The names, wildcards for a tensor that has none.
TORCH_API DimnameList get_names(const TensorImpl* impl);
TORCH_API std::optional<DimnameList> get_opt_names(const TensorImpl* impl);

} // namespace impl
} // namespace at
