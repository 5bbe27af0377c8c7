#pragma once

#include <c10/core/DispatchKey.h>
#include <c10/macros/Export.h>
#include <c10/macros/Macros.h>
#include <c10/util/Metaprogramming.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <iterator>
#include <string>
#include <type_traits>

namespace c10 {

/// Row of a functionality in the dispatch table: its first entry and which backend bits choose among the following.
struct FunctionalityOffsetAndMask {
  constexpr FunctionalityOffsetAndMask() = default;
  constexpr FunctionalityOffsetAndMask(uint16_t offset, uint16_t mask) : offset(offset), mask(mask) {}
  uint16_t offset = 0;
  uint16_t mask = 0;
};

namespace impl {

constexpr std::array<FunctionalityOffsetAndMask, num_functionality_keys> make_table_rows() {
  std::array<FunctionalityOffsetAndMask, num_functionality_keys> rows{};
  uint16_t next = 0;
  for (uint8_t k = 0; k < num_functionality_keys; ++k) {
    const bool per_backend = isPerBackendFunctionalityKey(static_cast<DispatchKey>(k));
    rows[k] = {next, per_backend ? full_backend_mask : uint16_t{0}};
    next = static_cast<uint16_t>(next + (per_backend ? num_backends : 1));
  }
  return rows;
}

inline constexpr std::array<FunctionalityOffsetAndMask, num_functionality_keys> kTableRows = make_table_rows();
static_assert(
    kTableRows[num_functionality_keys - 1].offset + 1 == num_runtime_entries, "the rows of the dispatch table fill it");

} // namespace impl

/// A set of backends (low bits) and functionalities (bits above), in one word; see Note [Dispatch keys].
/// A runtime key such as AutogradCPU is "in" the set when both its backend and its functionality are. Cheap to copy.
class DispatchKeySet final {
 public:
  enum Full { FULL };
  enum FullAfter { FULL_AFTER };
  enum Raw { RAW };

  constexpr DispatchKeySet() = default;
  /// All keys.
  constexpr DispatchKeySet(Full) : repr_(~uint64_t{0} >> (65 - num_backends - num_functionality_keys)) {}
  /// All backends, and all functionalities of lower priority than `t`: what a kernel of `t` passes on to. The Python
  /// dispatcher stays, as it comes before everything.
  constexpr DispatchKeySet(FullAfter, DispatchKey t)
      : repr_((functionality_bit(toFunctionalityKey(t)) - 1) | functionality_bit(DispatchKey::PythonDispatcher)) {}
  constexpr DispatchKeySet(Raw, uint64_t repr) : repr_(repr) {}
  constexpr explicit DispatchKeySet(BackendComponent k) : repr_(backend_bit(k)) {}
  /// Alias keys, Undefined and EndOfFunctionalityKeys give the empty set: they have no bits.
  constexpr explicit DispatchKeySet(DispatchKey k)
      : repr_(functionality_bit(toFunctionalityKey(k)) | backend_bit(toBackendComponent(k))) {}
  constexpr explicit DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (const DispatchKey k : keys) {
      repr_ |= DispatchKeySet(k).repr_;
    }
  }
  constexpr explicit DispatchKeySet(std::initializer_list<BackendComponent> backends) {
    for (const BackendComponent k : backends) {
      repr_ |= backend_bit(k);
    }
  }

  /// No set has the marker EndOfFunctionalityKeys.
  [[nodiscard]] constexpr bool has(DispatchKey t) const {
    return t != DispatchKey::EndOfFunctionalityKeys && has_all(DispatchKeySet(t));
  }
  [[nodiscard]] constexpr bool has_backend(BackendComponent t) const {
    return has_all(DispatchKeySet(t));
  }
  [[nodiscard]] constexpr bool has_all(DispatchKeySet other) const {
    return (repr_ & other.repr_) == other.repr_;
  }
  /// `other` should hold backends only or functionalities only: "CPU" and "CUDA" have the bit of Dense in common.
  [[nodiscard]] constexpr bool has_any(DispatchKeySet other) const {
    return (repr_ & other.repr_) != 0;
  }
  [[nodiscard]] constexpr bool isSupersetOf(DispatchKeySet other) const {
    return has_all(other);
  }

  constexpr DispatchKeySet operator|(DispatchKeySet other) const {
    return {RAW, repr_ | other.repr_};
  }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const {
    return {RAW, repr_ & other.repr_};
  }
  /// Takes functionalities away. Backends stay: other functionalities of the set may need them.
  constexpr DispatchKeySet operator-(DispatchKeySet other) const {
    return {RAW, repr_ & (full_backend_mask | ~other.repr_)};
  }
  constexpr DispatchKeySet operator^(DispatchKeySet other) const {
    return {RAW, repr_ ^ other.repr_};
  }
  constexpr bool operator==(DispatchKeySet other) const {
    return repr_ == other.repr_;
  }
  constexpr bool operator!=(DispatchKeySet other) const {
    return repr_ != other.repr_;
  }

  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey t) const {
    return *this | DispatchKeySet(t);
  }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKeySet other) const {
    return *this | other;
  }
  /// Takes the functionality of `t` away; backends stay, see operator-.
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey t) const {
    return *this - DispatchKeySet(t);
  }
  [[nodiscard]] constexpr DispatchKeySet remove_backend(BackendComponent b) const {
    return {RAW, repr_ & ~backend_bit(b)};
  }

  [[nodiscard]] constexpr bool empty() const {
    return repr_ == 0;
  }
  [[nodiscard]] constexpr uint64_t raw_repr() const {
    return repr_;
  }
  static constexpr DispatchKeySet from_raw_repr(uint64_t repr) {
    return {RAW, repr};
  }

  /// Functionality of the highest priority; Undefined if there is none.
  [[nodiscard]] constexpr DispatchKey highestFunctionalityKey() const {
    return static_cast<DispatchKey>(highest_bit(repr_ >> num_backends));
  }
  /// Backend of the highest priority; InvalidBit if there is none.
  [[nodiscard]] constexpr BackendComponent highestBackendKey() const {
    return static_cast<BackendComponent>(highest_bit(repr_ & full_backend_mask));
  }
  /// The runtime key that a call with this set goes to.
  [[nodiscard]] constexpr DispatchKey highestPriorityTypeId() const {
    const DispatchKey k = highestFunctionalityKey();
    return isPerBackendFunctionalityKey(k) ? toRuntimePerBackendFunctionalityKey(k, highestBackendKey()) : k;
  }
  /// 1-based; 0 for the empty set.
  [[nodiscard]] constexpr uint8_t indexOfHighestBit() const {
    return highest_bit(repr_);
  }

  /// Where the kernel for highestPriorityTypeId() stands in an operator's table of num_runtime_entries.
  [[nodiscard]] constexpr int getDispatchTableIndexForDispatchKeySet() const {
    // highest_bit(x >> 1) is the position of the highest bit of x | 1: no branch for the empty set.
    const FunctionalityOffsetAndMask row = impl::kTableRows[position_of_highest_bit((repr_ >> (num_backends - 1)) | 1)];
    return static_cast<int>(row.offset + position_of_highest_bit((repr_ & row.mask) | 1));
  }
  /// Index of the highest backend: CPU is 0, and so is no backend.
  [[nodiscard]] constexpr uint64_t getBackendIndex() const {
    return position_of_highest_bit((repr_ & full_backend_mask) | 1);
  }

  /// Walks over the runtime keys of the set, lowest functionality first, and lowest backend first within it. A
  /// per-backend functionality without a backend has no runtime key and is left out. The end of the walk reads as
  /// EndOfFunctionalityKeys.
  class iterator {
   public:
    /// Where the end lies, as a bit of a set and as a key.
    static constexpr uint8_t end_iter_mask_val = num_backends + num_functionality_keys;
    static constexpr uint8_t end_iter_key_val = num_functionality_keys;

    using iterator_category = std::input_iterator_tag;
    using value_type = DispatchKey;
    using difference_type = std::ptrdiff_t;
    using reference = DispatchKey;
    using pointer = const DispatchKey*;

    constexpr iterator() = default;
    constexpr explicit iterator(uint64_t repr)
        : functionalities_(repr >> num_backends), backends_(static_cast<uint16_t>(repr & full_backend_mask)) {
      settle();
    }
    /// Over the set that the word is, from the functionality of bit `next_functionality` on; of the first functionality
    /// that has backends, from backend `next_backend` on. Throws for bits outside of functionalities.
    C10_API explicit iterator(
        const uint64_t* repr, uint8_t next_functionality = num_backends, uint8_t next_backend = 0);
    constexpr DispatchKey operator*() const {
      if (functionalities_ == 0) {
        return DispatchKey::EndOfFunctionalityKeys;
      }
      const auto k = static_cast<DispatchKey>(lowest_bit(functionalities_));
      return isPerBackendFunctionalityKey(k)
          ? toRuntimePerBackendFunctionalityKey(k, static_cast<BackendComponent>(lowest_bit(left_)))
          : k;
    }
    constexpr iterator& operator++() {
      left_ = static_cast<uint16_t>(left_ & (left_ - 1));
      if (left_ == 0) {
        functionalities_ &= functionalities_ - 1;
        settle();
      }
      return *this;
    }
    constexpr iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    constexpr bool operator==(const iterator& other) const {
      return functionalities_ == other.functionalities_ && left_ == other.left_;
    }
    constexpr bool operator!=(const iterator& other) const {
      return !(*this == other);
    }

   private:
    // Starts on the lowest remaining functionality that has a runtime key.
    constexpr void settle() {
      while (functionalities_ != 0) {
        const bool per_backend = isPerBackendFunctionalityKey(static_cast<DispatchKey>(lowest_bit(functionalities_)));
        left_ = per_backend ? backends_ : uint16_t{1};
        if (left_ != 0) {
          return;
        }
        functionalities_ &= functionalities_ - 1;
      }
      left_ = 0;
    }
    static constexpr int lowest_bit(uint64_t word) {
      return word == 0 ? 0 : __builtin_ctzll(word) + 1;
    }

    uint64_t functionalities_ = 0;
    uint16_t backends_ = 0;
    uint16_t left_ = 0; // backends of the current functionality still to come
  };

  [[nodiscard]] constexpr iterator begin() const {
    return iterator(repr_);
  }
  [[nodiscard]] constexpr iterator end() const {
    return iterator();
  }

 private:
  static constexpr uint8_t highest_bit(uint64_t word) {
    return static_cast<uint8_t>(word == 0 ? 0 : 64 - __builtin_clzll(word));
  }
  // `word` is not 0. The xor makes it one instruction.
  static constexpr uint32_t position_of_highest_bit(uint64_t word) {
    return static_cast<uint32_t>(__builtin_clzll(word)) ^ 63;
  }
  static constexpr uint64_t functionality_bit(DispatchKey k) {
    return k == DispatchKey::Undefined || k == DispatchKey::EndOfFunctionalityKeys
        ? 0
        : uint64_t{1} << (num_backends + static_cast<uint16_t>(k) - 1);
  }
  static constexpr uint64_t backend_bit(BackendComponent k) {
    return k == BackendComponent::InvalidBit ? 0 : uint64_t{1} << (static_cast<uint8_t>(k) - 1);
  }

  uint64_t repr_ = 0;
};

/// "DispatchKeySet(CPU, AutogradCPU)", lowest priority first.
C10_API std::string toString(DispatchKeySet ks);
C10_API std::ostream& operator<<(std::ostream& out, DispatchKeySet ks);

constexpr int getDispatchTableIndexForDispatchKey(DispatchKey k) {
  return DispatchKeySet(k).getDispatchTableIndexForDispatchKeySet();
}

// -- Sets that other parts name ----------------------------------------------

/// What the alias key Autograd stands for (functionalities; combined with every backend).
constexpr DispatchKeySet autograd_dispatch_keyset(
    {DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther, DispatchKey::AutogradNestedTensor});
constexpr DispatchKeySet autocast_dispatch_keyset(
    {DispatchKey::AutocastCPU, DispatchKey::AutocastMTIA, DispatchKey::AutocastMAIA, DispatchKey::AutocastXPU,
     DispatchKey::AutocastIPU, DispatchKey::AutocastHPU, DispatchKey::AutocastXLA, DispatchKey::AutocastMPS,
     DispatchKey::AutocastCUDA, DispatchKey::AutocastPrivateUse1});
/// What a new thread includes and excludes.
constexpr DispatchKeySet default_included_set({DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView});
constexpr DispatchKeySet default_excluded_set = autocast_dispatch_keyset;

constexpr DispatchKeySet backend_bitset_mask(DispatchKeySet::RAW, full_backend_mask);
constexpr DispatchKeySet inplace_or_view_ks(DispatchKey::ADInplaceOrView);
constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView = autograd_dispatch_keyset | inplace_or_view_ks;
constexpr DispatchKeySet python_ks({DispatchKey::Python, DispatchKey::PythonTLSSnapshot});
constexpr DispatchKeySet sparse_ks(DispatchKey::Sparse);
constexpr DispatchKeySet sparse_csr_ks(DispatchKey::SparseCsr);
constexpr DispatchKeySet mkldnn_ks(DispatchKey::MkldnnCPU);

/// Kernels whose autograd key is AutogradOther.
constexpr DispatchKeySet autogradother_backends =
    DispatchKeySet(
        {DispatchKey::FPGA, DispatchKey::Vulkan, DispatchKey::Metal, DispatchKey::CustomRNGKeyId,
         DispatchKey::MkldnnCPU, DispatchKey::Sparse, DispatchKey::SparseCsr, DispatchKey::Quantized}) |
    backend_bitset_mask;

/// Where a kernel of the named functionality passes its call on to.
constexpr DispatchKeySet after_autograd_keyset(DispatchKeySet::FULL_AFTER, DispatchKey::AutogradOther);
constexpr DispatchKeySet after_ADInplaceOrView_keyset(DispatchKeySet::FULL_AFTER, DispatchKey::ADInplaceOrView);
constexpr DispatchKeySet after_func_keyset =
    DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Functionalize).remove(DispatchKey::ADInplaceOrView);

#define C10_AUTOGRAD_KEYSET(variable, key) constexpr DispatchKeySet variable(DispatchKey::key);
C10_AUTOGRAD_KEYSET(autograd_cpu_ks, AutogradCPU)
C10_AUTOGRAD_KEYSET(autograd_ipu_ks, AutogradIPU)
C10_AUTOGRAD_KEYSET(autograd_mtia_ks, AutogradMTIA)
C10_AUTOGRAD_KEYSET(autograd_maia_ks, AutogradMAIA)
C10_AUTOGRAD_KEYSET(autograd_xpu_ks, AutogradXPU)
C10_AUTOGRAD_KEYSET(autograd_cuda_ks, AutogradCUDA)
C10_AUTOGRAD_KEYSET(autograd_xla_ks, AutogradXLA)
C10_AUTOGRAD_KEYSET(autograd_lazy_ks, AutogradLazy)
C10_AUTOGRAD_KEYSET(autograd_meta_ks, AutogradMeta)
C10_AUTOGRAD_KEYSET(autograd_mps_ks, AutogradMPS)
C10_AUTOGRAD_KEYSET(autograd_hpu_ks, AutogradHPU)
C10_AUTOGRAD_KEYSET(autograd_privateuse1_ks, AutogradPrivateUse1)
C10_AUTOGRAD_KEYSET(autograd_privateuse2_ks, AutogradPrivateUse2)
C10_AUTOGRAD_KEYSET(autograd_privateuse3_ks, AutogradPrivateUse3)
C10_AUTOGRAD_KEYSET(autograd_other_ks, AutogradOther)
C10_AUTOGRAD_KEYSET(autograd_nested, AutogradNestedTensor)
#undef C10_AUTOGRAD_KEYSET

constexpr DispatchKeySet functorch_transforms_ks(
    {DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchVmapMode, DispatchKey::Batched, DispatchKey::VmapMode,
     DispatchKey::FuncTorchGradWrapper});
constexpr DispatchKeySet functorch_batched_ks({DispatchKey::FuncTorchBatched});

/// Per-backend functionalities that compute, with all backends.
constexpr DispatchKeySet backend_functionality_keys =
    DispatchKeySet({DispatchKey::Dense, DispatchKey::Quantized, DispatchKey::Sparse, DispatchKey::SparseCsr}) |
    backend_bitset_mask;

// -- Relations between keys --------------------------------------------------

/// True for keys whose kernels compute (CPU, SparseCUDA, MkldnnCPU...), which CompositeExplicitAutograd stands for.
C10_API bool isBackendDispatchKey(DispatchKey t);

/// Runtime keys that `t` stands for: more than one only for alias keys. `t` must not be Undefined.
C10_API DispatchKeySet getRuntimeDispatchKeySet(DispatchKey t);

/// Whether the runtime key `k` is among those `t` stands for.
C10_API bool runtimeDispatchKeySetHas(DispatchKey t, DispatchKey k);

/// AutogradCPU -> {CPU}; the backends an autograd key works for. Empty for other keys.
C10_API DispatchKeySet getBackendKeySetFromAutograd(DispatchKey t);

namespace impl {

constexpr bool has_own_autograd_key(BackendComponent t) {
  return t != BackendComponent::InvalidBit && t != BackendComponent::HIPBit && t != BackendComponent::VEBit;
}

constexpr DispatchKeySet autocast_keys_of(BackendComponent t) {
  switch (t) {
#define C10_AUTOCAST_OF(name)       \
  case BackendComponent::name##Bit: \
    return DispatchKeySet(DispatchKey::Autocast##name);
    C10_AUTOCAST_OF(CPU)
    C10_AUTOCAST_OF(MTIA)
    C10_AUTOCAST_OF(MAIA)
    C10_AUTOCAST_OF(XPU)
    C10_AUTOCAST_OF(IPU)
    C10_AUTOCAST_OF(HPU)
    C10_AUTOCAST_OF(XLA)
    C10_AUTOCAST_OF(MPS)
    C10_AUTOCAST_OF(CUDA)
    C10_AUTOCAST_OF(PrivateUse1)
#undef C10_AUTOCAST_OF
    default:
      return DispatchKeySet();
  }
}

// What each backend brings along, by table: every new tensor asks.
struct RelatedKeys {
  DispatchKeySet autograd[num_backends + 1];
  DispatchKeySet autocast[num_backends + 1];
  DispatchKeySet both[num_backends + 1];

  constexpr RelatedKeys() {
    for (uint8_t i = 0; i <= num_backends; ++i) {
      const auto backend = static_cast<BackendComponent>(i);
      autograd[i] = inplace_or_view_ks |
          (has_own_autograd_key(backend)
               ? DispatchKeySet(toRuntimePerBackendFunctionalityKey(DispatchKey::AutogradFunctionality, backend))
               : autograd_other_ks);
      autocast[i] = autocast_keys_of(backend);
      both[i] = autograd[i] | autocast[i];
    }
  }
};

inline constexpr RelatedKeys kRelatedKeys;

} // namespace impl

/// Autograd and ADInplaceOrView keys that a tensor of this backend carries.
constexpr DispatchKeySet getAutogradRelatedKeySetFromBackend(BackendComponent t) {
  return impl::kRelatedKeys.autograd[static_cast<uint8_t>(t)];
}

/// Autocast key that a tensor of this backend carries.
constexpr DispatchKeySet getAutocastRelatedKeySetFromBackend(BackendComponent t) {
  return impl::kRelatedKeys.autocast[static_cast<uint8_t>(t)];
}

/// The keys of a dense CPU tensor that was made outside inference mode.
constexpr DispatchKeySet plain_cpu_keys = DispatchKeySet(DispatchKey::CPU) |
    getAutogradRelatedKeySetFromBackend(BackendComponent::CPUBit) |
    getAutocastRelatedKeySetFromBackend(BackendComponent::CPUBit);

/// Highest key among those that compute.
constexpr DispatchKey highestPriorityBackendTypeId(DispatchKeySet ks) {
  return (ks & backend_functionality_keys).highestPriorityTypeId();
}

/// Whether the runtime key `k` is one that `alias` stands for.
C10_API bool isIncludedInAlias(DispatchKey k, DispatchKey alias);

/// The backend key of a tensor's set, without the functionalities laid over it.
constexpr DispatchKey legacyExtractDispatchKey(DispatchKeySet s) {
  constexpr DispatchKeySet overlays =
      autograd_dispatch_keyset_with_ADInplaceOrView | autocast_dispatch_keyset |
      DispatchKeySet(
          {DispatchKey::Functionalize, DispatchKey::PythonTLSSnapshot, DispatchKey::FuncTorchGradWrapper,
           DispatchKey::FuncTorchVmapMode, DispatchKey::FuncTorchBatched, DispatchKey::Python});
  return (s - overlays).highestPriorityTypeId();
}

// -- Function types that begin with a DispatchKeySet ---------------------------

template <class T>
using is_not_DispatchKeySet = std::negation<std::is_same<DispatchKeySet, T>>;

namespace impl {
template <class F>
struct without_leading_keyset {
  using type = F;
};
template <class R, class... Args>
struct without_leading_keyset<R(DispatchKeySet, Args...)> {
  using type = R(Args...);
};
} // namespace impl

/// R(DispatchKeySet, A, B) -> R(A, B); other function types are left as they are. Takes functors and pointers too.
template <class FuncType>
struct remove_DispatchKeySet_arg_from_func {
  using type = typename impl::without_leading_keyset<typename guts::infer_function_traits_t<FuncType>::func_type>::type;
};

} // namespace c10
