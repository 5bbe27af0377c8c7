#include <catch2/catch.hpp>

#include <c10/core/Backend.h>
#include <c10/core/DispatchKey.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/util/Exception.h>

#include <random>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

using namespace c10;

namespace {

std::vector<BackendComponent> all_backends() {
  std::vector<BackendComponent> backends;
  for (int i = 1; i <= num_backends; ++i) {
    backends.push_back(static_cast<BackendComponent>(i));
  }
  return backends;
}

// Every key an operator can have a kernel for, apart from Undefined.
std::vector<DispatchKey> all_runtime_keys() {
  std::vector<DispatchKey> keys;
  for (int i = 1; i < num_functionality_keys; ++i) {
    const auto k = static_cast<DispatchKey>(i);
    if (!isPerBackendFunctionalityKey(k)) {
      keys.push_back(k);
      continue;
    }
    for (const BackendComponent backend : all_backends()) {
      keys.push_back(toRuntimePerBackendFunctionalityKey(k, backend));
    }
  }
  return keys;
}

std::vector<DispatchKey> alias_keys() {
  std::vector<DispatchKey> keys;
  for (auto i = static_cast<int>(DispatchKey::StartOfAliasKeys); i <= static_cast<int>(DispatchKey::EndOfAliasKeys);
       ++i) {
    keys.push_back(static_cast<DispatchKey>(i));
  }
  return keys;
}

DispatchKeySet random_set(std::mt19937_64& random) {
  return DispatchKeySet::from_raw_repr(random() & random() & DispatchKeySet(DispatchKeySet::FULL).raw_repr());
}

} // namespace

TEST_CASE("every runtime key has an entry of its own in the dispatch table", "[c10][dispatch]") {
  std::set<int> seen = {getDispatchTableIndexForDispatchKey(DispatchKey::Undefined)};
  for (const DispatchKey k : all_runtime_keys()) {
    const int index = getDispatchTableIndexForDispatchKey(k);
    INFO(toString(k));
    CHECK(index > 0);
    CHECK(index < num_runtime_entries);
    CHECK(seen.insert(index).second);
  }
  CHECK(seen.size() == num_runtime_entries);
}

TEST_CASE("a call goes to its highest functionality and within it to the highest backend", "[c10][dispatch]") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    const DispatchKeySet ks = random_set(random);
    const DispatchKey top = ks.highestPriorityTypeId();
    INFO(toString(ks));
    if (toBackendComponent(top) != BackendComponent::InvalidBit || toFunctionalityKey(top) == top) {
      const int expected = getDispatchTableIndexForDispatchKey(top);
      const DispatchKey functionality = ks.highestFunctionalityKey();
      if (!isPerBackendFunctionalityKey(functionality) || ks.highestBackendKey() != BackendComponent::InvalidBit) {
        CHECK(ks.getDispatchTableIndexForDispatchKeySet() == expected);
      }
    }
  }
  const DispatchKeySet both({DispatchKey::CPU, DispatchKey::CUDA, DispatchKey::AutogradCPU});
  CHECK(both.highestPriorityTypeId() == DispatchKey::AutogradCUDA);
  CHECK(both.remove(DispatchKey::AutogradCPU).highestPriorityTypeId() == DispatchKey::CUDA);
  CHECK(DispatchKeySet().highestPriorityTypeId() == DispatchKey::Undefined);
}

TEST_CASE("key sets obey set arithmetic, with backends kept by difference", "[c10][dispatch]") {
  std::mt19937_64 random(11);
  const DispatchKeySet backends = backend_bitset_mask;
  for (int round = 0; round < 500; ++round) {
    const DispatchKeySet a = random_set(random);
    const DispatchKeySet b = random_set(random);
    CHECK((a | b) == (b | a));
    CHECK(((a & b) | (a ^ b)) == (a | b));
    CHECK((a - b) == (a & (backends | (DispatchKeySet(DispatchKeySet::FULL) ^ b))));
    CHECK((a | b).has_all(a));
    CHECK((a | b).isSupersetOf(b));
    CHECK(((a & b).empty() || a.has_any(b)));
  }
  DispatchKeySet s(DispatchKey::SparseCUDA);
  CHECK(s.has(DispatchKey::SparseCUDA));
  CHECK(s.has(DispatchKey::Sparse));
  CHECK_FALSE(s.has(DispatchKey::SparseCPU));
  s = s.remove(DispatchKey::SparseCUDA);
  CHECK(s.has_backend(BackendComponent::CUDABit));
  CHECK(s.remove_backend(BackendComponent::CUDABit).empty());
  CHECK(DispatchKeySet(DispatchKey::CompositeImplicitAutograd).empty());
  CHECK(DispatchKeySet(DispatchKey::Undefined).empty());
}

TEST_CASE("iteration gives each runtime key of a set once, in order of priority", "[c10][dispatch]") {
  std::mt19937_64 random(13);
  for (int round = 0; round < 300; ++round) {
    const DispatchKeySet ks = random_set(random);
    std::vector<DispatchKey> expected;
    for (const DispatchKey k : all_runtime_keys()) {
      if (ks.has(k)) {
        expected.push_back(k);
      }
    }
    CHECK(std::vector<DispatchKey>(ks.begin(), ks.end()) == expected);
  }
  CHECK(DispatchKeySet().begin() == DispatchKeySet().end());
  // A per-backend functionality without a backend, and a backend without functionality, are no keys.
  CHECK(DispatchKeySet(DispatchKey::Dense).begin() == DispatchKeySet().end());
  CHECK(DispatchKeySet(BackendComponent::CPUBit).begin() == DispatchKeySet().end());
}

TEST_CASE("a walk over keys may begin at a bit and ends at a marker that no set has", "[c10][dispatch]") {
  const DispatchKeySet full(DispatchKeySet::FULL);
  for (const DispatchKeySet ks : {DispatchKeySet(), full, DispatchKeySet(DispatchKey::CPU)}) {
    CHECK(*ks.end() == DispatchKey::EndOfFunctionalityKeys);
    CHECK_FALSE(ks.has(DispatchKey::EndOfFunctionalityKeys));
    CHECK(ks.remove(DispatchKey::EndOfFunctionalityKeys) == ks);
    const uint64_t word = ks.raw_repr();
    CHECK(DispatchKeySet::iterator(&word) == ks.begin());
    CHECK(DispatchKeySet::iterator(&word, DispatchKeySet::iterator::end_iter_mask_val) == ks.end());
  }
  CHECK(*DispatchKeySet().begin() == DispatchKey::EndOfFunctionalityKeys);
  CHECK(DispatchKeySet(DispatchKey::EndOfFunctionalityKeys).empty());

  const uint64_t word = full.raw_repr();
  const auto sparse = static_cast<uint8_t>(num_backends + static_cast<uint8_t>(DispatchKey::Sparse) - 1);
  CHECK(*DispatchKeySet::iterator(&word, sparse) == DispatchKey::SparseCPU);
  DispatchKeySet::iterator at(&word, sparse, num_backends - 1);
  CHECK(*at == DispatchKey::SparseMeta);
  CHECK(*++at == *DispatchKeySet::iterator(&word, sparse + 1));
  // No backend of the functionality is left: the walk begins at the next one.
  const uint64_t cpu = DispatchKeySet({DispatchKey::SparseCPU, DispatchKey::AutocastCPU}).raw_repr();
  CHECK(*DispatchKeySet::iterator(&cpu, sparse, 1) == DispatchKey::AutocastCPU);

  using Catch::Contains;
  CHECK_THROWS_WITH(DispatchKeySet::iterator(&word, num_backends - 1), Contains("begins at bit 15"));
  CHECK_THROWS_AS(DispatchKeySet::iterator(&word, DispatchKeySet::iterator::end_iter_mask_val + 1), c10::Error);
}

TEST_CASE("runtime keys split into functionality and backend and join again", "[c10][dispatch]") {
  for (const DispatchKey k : all_runtime_keys()) {
    const BackendComponent backend = toBackendComponent(k);
    if (backend == BackendComponent::InvalidBit) {
      CHECK(toFunctionalityKey(k) == k);
      CHECK_FALSE(isPerBackendFunctionalityKey(k));
    } else {
      CHECK(toRuntimePerBackendFunctionalityKey(toFunctionalityKey(k), backend) == k);
    }
    CHECK_FALSE(isAliasDispatchKey(k));
  }
  for (const DispatchKey k : alias_keys()) {
    CHECK(isAliasDispatchKey(k));
    CHECK(toFunctionalityKey(k) == DispatchKey::Undefined);
  }
  CHECK(toBackendComponent(DeviceType::CUDA) == BackendComponent::CUDABit);
  CHECK(toBackendComponent(DeviceType::Vulkan) == BackendComponent::InvalidBit);
}

TEST_CASE("key names are unique and parse back", "[c10][dispatch]") {
  std::set<std::string> names;
  std::vector<DispatchKey> keys = all_runtime_keys();
  for (const DispatchKey k : alias_keys()) {
    keys.push_back(k);
  }
  for (const DispatchKey k : keys) {
    const std::string name = toString(k);
    CHECK(names.insert(name).second);
    CHECK(parseDispatchKey(name) == k);
  }
  CHECK(names.count("SparseCsrCUDA") == 1);
  CHECK(names.count("AutogradPrivateUse1") == 1);
  CHECK(parseDispatchKey("CatchAll") == DispatchKey::Undefined);
  CHECK_THROWS_WITH(parseDispatchKey("CPUU"), Catch::Contains("could not parse dispatch key: CPUU"));
  std::ostringstream out;
  out << DispatchKeySet({DispatchKey::CPU, DispatchKey::AutogradCPU});
  CHECK(out.str() == "DispatchKeySet(CPU, AutogradCPU)");
}

TEST_CASE("alias keys stand for the keys they should", "[c10][dispatch]") {
  const auto in = [](DispatchKey k, DispatchKey alias) { return isIncludedInAlias(k, alias); };

  CHECK(in(DispatchKey::AutogradCPU, DispatchKey::Autograd));
  CHECK(in(DispatchKey::AutogradPrivateUse1, DispatchKey::Autograd));
  CHECK(in(DispatchKey::AutogradOther, DispatchKey::Autograd));
  CHECK_FALSE(in(DispatchKey::CPU, DispatchKey::Autograd));
  CHECK_FALSE(in(DispatchKey::ADInplaceOrView, DispatchKey::Autograd));

  CHECK(in(DispatchKey::CPU, DispatchKey::CompositeImplicitAutograd));
  CHECK(in(DispatchKey::AutogradCUDA, DispatchKey::CompositeImplicitAutograd));
  CHECK(in(DispatchKey::NestedTensorCPU, DispatchKey::CompositeImplicitAutograd));
  CHECK(in(DispatchKey::Functionalize, DispatchKey::CompositeImplicitAutograd));
  CHECK_FALSE(in(DispatchKey::Tracer, DispatchKey::CompositeImplicitAutograd));
  CHECK_FALSE(in(DispatchKey::ADInplaceOrView, DispatchKey::CompositeImplicitAutograd));

  CHECK(in(DispatchKey::Meta, DispatchKey::CompositeExplicitAutograd));
  CHECK(in(DispatchKey::SparseCUDA, DispatchKey::CompositeExplicitAutograd));
  CHECK(in(DispatchKey::MkldnnCPU, DispatchKey::CompositeExplicitAutograd));
  CHECK_FALSE(in(DispatchKey::AutogradCPU, DispatchKey::CompositeExplicitAutograd));
  CHECK_FALSE(in(DispatchKey::NestedTensorCPU, DispatchKey::CompositeExplicitAutograd));

  CHECK(in(DispatchKey::CPU, DispatchKey::CompositeExplicitAutogradNonFunctional));
  CHECK_FALSE(in(DispatchKey::SparseCPU, DispatchKey::CompositeExplicitAutogradNonFunctional));

  CHECK(in(DispatchKey::NestedTensorCPU, DispatchKey::CompositeImplicitAutogradNestedTensor));
  CHECK(in(DispatchKey::AutogradNestedTensor, DispatchKey::CompositeImplicitAutogradNestedTensor));
  CHECK_FALSE(in(DispatchKey::CPU, DispatchKey::CompositeImplicitAutogradNestedTensor));
  CHECK(in(DispatchKey::FuncTorchBatched, DispatchKey::FuncTorchBatchedDecomposition));
  CHECK_FALSE(in(DispatchKey::Undefined, DispatchKey::CompositeExplicitAutograd));

  for (const DispatchKey alias : alias_keys()) {
    const DispatchKeySet expanded = getRuntimeDispatchKeySet(alias);
    for (const DispatchKey k : all_runtime_keys()) {
      INFO(toString(alias) << " " << toString(k));
      CHECK(runtimeDispatchKeySetHas(alias, k) == expanded.has(k));
    }
  }
  for (const DispatchKey k : all_runtime_keys()) {
    CHECK(getRuntimeDispatchKeySet(k) == DispatchKeySet(k));
    CHECK(runtimeDispatchKeySetHas(k, k));
    CHECK(isBackendDispatchKey(k) == isIncludedInAlias(k, DispatchKey::CompositeExplicitAutograd));
  }
}

TEST_CASE("autograd keys and backends name each other", "[c10][dispatch]") {
  CHECK(getAutogradKeyFromBackend(BackendComponent::CUDABit) == DispatchKey::AutogradCUDA);
  CHECK(getAutogradKeyFromBackend(BackendComponent::InvalidBit) == DispatchKey::AutogradOther);
  CHECK(getBackendKeySetFromAutograd(DispatchKey::AutogradCPU) == DispatchKeySet(DispatchKey::CPU));
  CHECK(getBackendKeySetFromAutograd(DispatchKey::AutogradOther).has(DispatchKey::MkldnnCPU));
  CHECK(getBackendKeySetFromAutograd(DispatchKey::CPU).empty());
  CHECK(
      getAutogradRelatedKeySetFromBackend(BackendComponent::CPUBit) ==
      DispatchKeySet({DispatchKey::ADInplaceOrView, DispatchKey::AutogradCPU}));
  CHECK(
      getAutogradRelatedKeySetFromBackend(BackendComponent::HIPBit) ==
      DispatchKeySet({DispatchKey::ADInplaceOrView, DispatchKey::AutogradOther}));
  CHECK(getAutocastRelatedKeySetFromBackend(BackendComponent::CUDABit) == DispatchKeySet(DispatchKey::AutocastCUDA));
  CHECK(getAutocastRelatedKeySetFromBackend(BackendComponent::MetaBit).empty());
}

TEST_CASE("what a kernel passes on excludes itself and what comes before it", "[c10][dispatch]") {
  CHECK(after_autograd_keyset.has(DispatchKey::ADInplaceOrView));
  CHECK(after_autograd_keyset.has(DispatchKey::CPU));
  CHECK_FALSE(after_autograd_keyset.has(DispatchKey::AutogradOther));
  CHECK_FALSE(after_autograd_keyset.has(DispatchKey::AutogradCPU));
  CHECK_FALSE(after_autograd_keyset.has(DispatchKey::Tracer));
  CHECK(after_autograd_keyset.has(DispatchKey::PythonDispatcher));
  CHECK_FALSE(after_ADInplaceOrView_keyset.has(DispatchKey::ADInplaceOrView));
  CHECK(after_ADInplaceOrView_keyset.has(DispatchKey::BackendSelect));
  CHECK(
      legacyExtractDispatchKey(DispatchKeySet(
          {DispatchKey::SparseCPU, DispatchKey::AutogradCPU, DispatchKey::AutocastCPU,
           DispatchKey::ADInplaceOrView})) == DispatchKey::SparseCPU);
}

TEST_CASE("a leading key set is taken off function types", "[c10][dispatch]") {
  STATIC_REQUIRE(std::is_same_v<remove_DispatchKeySet_arg_from_func<int(DispatchKeySet, double)>::type, int(double)>);
  STATIC_REQUIRE(std::is_same_v<remove_DispatchKeySet_arg_from_func<int(double)>::type, int(double)>);
}

TEST_CASE("backends of the older kind map to keys and back", "[c10][dispatch]") {
  for (int i = 0; i < static_cast<int>(Backend::NumOptions); ++i) {
    const auto b = static_cast<Backend>(i);
    CHECK(dispatchKeyToBackend(backendToDispatchKey(b)) == b);
    CHECK(std::string(toString(b)) == (b == Backend::Undefined ? "Undefined" : toString(backendToDispatchKey(b))));
  }
  CHECK(dispatchKeyToBackend(DispatchKey::AutogradCUDA) == Backend::CUDA);
  CHECK(backendToDeviceType(Backend::SparseCsrCUDA) == DeviceType::CUDA);
  CHECK(isSparse(Backend::SparseCPU));
  CHECK_FALSE(isSparse(Backend::CPU));
  CHECK_THROWS_WITH(dispatchKeyToBackend(DispatchKey::Tracer), Catch::Contains("Unrecognized tensor type ID: Tracer"));
}
