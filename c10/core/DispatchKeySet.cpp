#include <c10/core/DispatchKeySet.h>

#include <c10/util/Exception.h>

#include <ostream>

namespace c10 {

namespace {

constexpr DispatchKeySet kBackendKeys = autogradother_backends | DispatchKeySet(DispatchKey::Dense);

// Sparse tensors have no views, so what holds for "functional" kernels only must not reach them.
constexpr DispatchKeySet kNonFunctionalBackendKeys = kBackendKeys.remove(DispatchKey::Sparse);

// Nested tensors take implicit composites (they may fit) but not explicit ones (those are written for dense layouts).
// Functionalization goes through implicit composites so that it sees only the operators they call.
constexpr DispatchKeySet kImplicitKeys =
    kBackendKeys | autograd_dispatch_keyset | DispatchKeySet({DispatchKey::NestedTensor, DispatchKey::Functionalize});

constexpr DispatchKeySet kNestedKeys =
    DispatchKeySet({DispatchKey::AutogradNestedTensor, DispatchKey::NestedTensor}) | backend_bitset_mask;

} // namespace

DispatchKeySet::iterator::iterator(const uint64_t* repr, uint8_t next_functionality, uint8_t next_backend)
    : backends_(static_cast<uint16_t>(*repr & full_backend_mask)) {
  TORCH_INTERNAL_ASSERT(
      next_functionality >= num_backends && next_functionality <= end_iter_mask_val,
      "DispatchKeySet::iterator: begins at bit ", int{next_functionality}, ", which must be in the range [",
      int{num_backends}, ", ", int{end_iter_mask_val}, "]");
  functionalities_ = *repr >> num_backends & ~uint64_t{0} << (next_functionality - num_backends);
  settle();
  if (isPerBackendFunctionalityKey(static_cast<DispatchKey>(lowest_bit(functionalities_)))) {
    left_ = static_cast<uint16_t>(left_ & ~0U << next_backend);
    if (left_ == 0) {
      functionalities_ &= functionalities_ - 1;
      settle();
    }
  }
}

bool isBackendDispatchKey(DispatchKey t) {
  return t != DispatchKey::Undefined && !isAliasDispatchKey(t) && kBackendKeys.has(t);
}

DispatchKeySet getRuntimeDispatchKeySet(DispatchKey t) {
  TORCH_INTERNAL_ASSERT(t != DispatchKey::Undefined, "the undefined key stands for no runtime key");
  switch (t) {
    case DispatchKey::Autograd:
      return autograd_dispatch_keyset | backend_bitset_mask;
    case DispatchKey::CompositeImplicitAutograd:
      return kImplicitKeys;
    case DispatchKey::CompositeImplicitAutogradNestedTensor:
      return kNestedKeys;
    case DispatchKey::CompositeExplicitAutograd:
      return kBackendKeys;
    case DispatchKey::CompositeExplicitAutogradNonFunctional:
      return kNonFunctionalBackendKeys;
    case DispatchKey::FuncTorchBatchedDecomposition:
      return functorch_batched_ks;
    default:
      return DispatchKeySet(t);
  }
}

bool runtimeDispatchKeySetHas(DispatchKey t, DispatchKey k) {
  TORCH_INTERNAL_ASSERT(t != DispatchKey::Undefined, "the undefined key stands for no runtime key");
  if (!isAliasDispatchKey(t)) {
    return t == k;
  }
  // Undefined and alias keys have no bits and would be found in any set.
  return k != DispatchKey::Undefined && !isAliasDispatchKey(k) && getRuntimeDispatchKeySet(t).has(k);
}

DispatchKeySet getBackendKeySetFromAutograd(DispatchKey t) {
  if (t == DispatchKey::AutogradOther) {
    return autogradother_backends;
  }
  if (t == DispatchKey::AutogradNestedTensor) {
    return DispatchKeySet(DispatchKey::NestedTensor) | backend_bitset_mask;
  }
  const BackendComponent backend = toBackendComponent(t);
  if (toFunctionalityKey(t) != DispatchKey::AutogradFunctionality || !impl::has_own_autograd_key(backend)) {
    return DispatchKeySet();
  }
  return DispatchKeySet(toRuntimePerBackendFunctionalityKey(DispatchKey::Dense, backend));
}

bool isIncludedInAlias(DispatchKey k, DispatchKey alias) {
  return k != DispatchKey::Undefined && runtimeDispatchKeySetHas(alias, k);
}

std::string toString(DispatchKeySet ks) {
  std::string text = "DispatchKeySet(";
  const char* separator = "";
  for (const DispatchKey k : ks) {
    text += separator;
    text += toString(k);
    separator = ", ";
  }
  return text += ")";
}

std::ostream& operator<<(std::ostream& out, DispatchKeySet ks) {
  return out << toString(ks);
}

} // namespace c10
