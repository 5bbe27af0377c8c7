// Names of dimensions, for code that hands them from tensor to tensor. No tensor has names here: the lists are empty, and what
// goes through them does what libtorch does for tensors without names.
#pragma once

#include <aten/core/IListRef.h>
#include <aten/core/Tensor.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace at {

/// The name of a dimension. There is no way to make one.
struct Dimname {
  Dimname() = delete;
};
using DimnameList = c10::ArrayRef<Dimname>;

/// Whether this thread's calls regard names.
struct NamesMode {
  static bool is_enabled() { return !c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::Named); }
  static void set_enabled(bool enabled) { c10::impl::tls_set_dispatch_key_excluded(c10::DispatchKey::Named, !enabled); }
};

/// Disregards names while it lives, or until reset().
struct NoNamesGuard {
  NoNamesGuard() : previous_(NamesMode::is_enabled()) { NamesMode::set_enabled(false); }
  NoNamesGuard(const NoNamesGuard&) = delete;
  NoNamesGuard& operator=(const NoNamesGuard&) = delete;
  ~NoNamesGuard() { reset(); }
  void reset() { NamesMode::set_enabled(previous_); }

 private:
  bool previous_;
};

/// What ITensorListRef::materialize() returns.
using MaterializedITensorListRef = std::vector<std::reference_wrapper<const Tensor>>;

/// Always false.
inline bool has_names(ITensorListRef /*tensors*/) {
  return false;
}

/// Always empty, as both lists are.
inline std::vector<Dimname> unify_from_right(DimnameList /*names*/, DimnameList /*other*/, const char* /*action*/ = "broadcast") {
  return {};
}

[[noreturn]] inline void reportNYIDimnameOverload(const char* op_name) {
  C10_THROW_ERROR(Error, c10::str(op_name, ": dimensions have no names; pass the number of the dimension"));
}

namespace namedinference {

/// Gives `result` the names `names`: there is nothing to do. As in libtorch, only a 0-dimensional result may be given an empty list.
inline void propagate_names(const TensorBase& result, DimnameList names, bool /*validate_names*/ = false) {
  TORCH_CHECK(result.dim() == 0 || !names.empty(), "propagate_names: the list of names is empty, and result has shape ",
      result.sizes(), "; call propagate_names_if_nonempty");
}
inline const Tensor& propagate_names(const Tensor& result, DimnameList names, bool validate_names = false) {
  propagate_names(static_cast<const TensorBase&>(result), names, validate_names);
  return result;
}
inline const Tensor& propagate_names_if_nonempty(const Tensor& result, DimnameList /*names*/, bool /*validate_names*/ = false) {
  return result;
}
inline void propagate_names_if_nonempty(const TensorBase& /*result*/, DimnameList /*names*/, bool /*validate_names*/ = false) {}
inline TensorImpl* propagate_names_if_nonempty(TensorImpl* result, DimnameList /*names*/, bool /*validate_names*/ = false) {
  return result;
}

// A source without names leaves the result as it is.
inline void propagate_names(const Tensor& /*result*/, const Tensor& /*src*/) {}
inline void propagate_names(const TensorBase& /*result*/, const TensorBase& /*src*/) {}
inline void propagate_names(TensorImpl* /*result*/, TensorImpl* /*src*/) {}
inline void propagate_names_except(const Tensor& /*result*/, const Tensor& /*src*/, IntArrayRef /*excluded*/) {}
inline void propagate_names_for_reduction(const Tensor& /*result*/, const Tensor& /*src*/, IntArrayRef /*reduced*/, bool /*keepdim*/) {}
inline void propagate_names_for_expand(const Tensor& /*result*/, const Tensor& /*self*/) {}

// The names of a result whose operands have none.
inline std::vector<Dimname> compute_cat_outnames(const MaterializedITensorListRef& /*tensors*/) { return {}; }
inline std::vector<Dimname> compute_broadcast_outnames(const Tensor& /*self*/, const Tensor& /*other*/) { return {}; }
inline std::vector<Dimname> broadcast_to_outnames(const Tensor& /*tensor*/, const Tensor& /*reference*/, const char* /*op_name*/) { return {}; }
inline std::vector<Dimname> compute_matmul_outnames(const Tensor& /*self*/, const Tensor& /*other*/) { return {}; }
inline std::vector<Dimname> compute_cdist_outnames(const Tensor& /*self*/, const Tensor& /*other*/) { return {}; }
inline std::vector<Dimname> compute_bmm_outnames(const Tensor& /*result*/, const Tensor& /*self*/, const Tensor& /*other*/) { return {}; }
inline std::vector<Dimname> compute_baddbmm_outnames(
    const Tensor& /*result*/, const Tensor& /*self*/, const Tensor& /*other*/, const Tensor& /*bias*/) {
  return {};
}
inline std::vector<Dimname> compute_squeeze_outnames(const Tensor& /*tensor*/) { return {}; }
inline std::vector<Dimname> compute_diagonal_outnames(const Tensor& /*tensor*/, int64_t /*dim1*/, int64_t /*dim2*/) { return {}; }
inline std::vector<Dimname> propagate_names_for_addmm(const Tensor& /*m1*/, const Tensor& /*m2*/, const Tensor& /*bias*/) { return {}; }
inline std::vector<Dimname> propagate_names_for_addmv(const Tensor& /*mat*/, const Tensor& /*vec*/, const Tensor& /*bias*/) { return {}; }

inline bool are_names_equal(TensorImpl* /*self*/, TensorImpl* /*other*/) {
  return true;
}
/// Vectors without names always fit.
inline void check_names_for_dot(TensorImpl* /*vec1*/, TensorImpl* /*vec2*/) {}

} // namespace namedinference

namespace impl {

inline bool has_names(const TensorImpl* /*impl*/) {
  return false;
}
inline std::optional<DimnameList> get_opt_names(const TensorImpl* /*impl*/) {
  return std::nullopt;
}

} // namespace impl
} // namespace at
