#include "dispatcher_support.h"

#include <aten/core/dispatch/BuiltinRegistration.h>

#include <chrono>
#include <deque>

using namespace dispatcher_test;
using at::Tensor;
using c10::DispatchKey;
using c10::impl::BuiltinDefinition;
using c10::impl::BuiltinKernelRow;
using c10::impl::BuiltinSlot;
using c10::impl::builtin_kernel;

// Tables as generated sources hold them.

namespace {

int64_t add_cpu(const Tensor&, int64_t n) {
  return n + 1;
}
int64_t add_below(c10::DispatchKeySet keys, const Tensor& a, int64_t n) {
  return typed<int64_t(const Tensor&, int64_t)>("builtin::add").redispatch(keys & c10::after_autograd_keyset, a, n) +
      1000;
}
int64_t sized(const Tensor&, c10::SymIntArrayRef sizes) {
  return static_cast<int64_t>(sizes.size());
}
void nothing() {}
int64_t track_autograd(c10::DispatchKeySet keys, const Tensor& a, int64_t n) {
  return typed<int64_t(const Tensor&, int64_t)>("builtin::track").redispatch(keys & c10::after_autograd_keyset, a, n) +
      1000;
}
int64_t track_usual(c10::DispatchKeySet, const Tensor& a, int64_t n) {
  const auto op = typed<int64_t(const Tensor&, int64_t)>("builtin::track");
  return op.redispatch(c10::DispatchKeySet(DispatchKey::CPU), a, n) + 10;
}
int64_t track_view(c10::DispatchKeySet keys, const Tensor& a, int64_t n) {
  const auto op = typed<int64_t(const Tensor&, int64_t)>("builtin::track");
  return op.redispatch(keys & c10::after_ADInplaceOrView_keyset, a, n) + 100;
}

BuiltinSlot add_slot;
BuiltinSlot sized_slot;
BuiltinSlot nothing_slot;
BuiltinSlot track_slot;
constexpr at::Tag kTags[] = {at::Tag::core};

constinit const BuiltinDefinition kDefinitions[] = {
    {"builtin::add", "", "builtin::add(Tensor a, int n) -> int", "builtin.yaml:1", &add_slot, kTags, 1},
    {"builtin::sized", "x", "sized.x(Tensor a, SymInt[] sizes) -> int", "builtin.yaml:2", &sized_slot},
    {"builtin::nothing", "", "builtin::nothing() -> ()", "builtin.yaml:3", &nothing_slot},
    {"builtin::track", "", "builtin::track(Tensor a, int n) -> int", "builtin.yaml:4", &track_slot},
};
constinit const BuiltinKernelRow kKernels[] = {
    {"builtin::add", "", DispatchKey::CPU, builtin_kernel<&add_cpu>(), "add.cpp"},
    {"builtin::add", "", DispatchKey::Autograd, builtin_kernel<&add_below>(), "add_autograd.cpp"},
    {"builtin::sized", "x", DispatchKey::CPU, builtin_kernel<&sized>(), "sized.cpp"},
    {"builtin::nothing", "", DispatchKey::CompositeExplicitAutograd, builtin_kernel<&nothing>(), "nothing.cpp"},
    {"builtin::track", "", DispatchKey::CPU, builtin_kernel<&add_cpu>(), "add.cpp"},
    {"builtin::track", "", DispatchKey::Autograd, builtin_kernel<&track_autograd>(), "track_autograd.cpp"},
    {"builtin::track", "", DispatchKey::Autograd, builtin_kernel<&track_usual>(), "track_autograd.cpp"},
    {"builtin::track", "", DispatchKey::ADInplaceOrView, builtin_kernel<&track_view>(), "track_autograd.cpp"},
};
// Kernels may come first: the order of static objects in different sources is not known.
const c10::impl::BuiltinKernels kRegisteredKernels(kKernels);
const c10::impl::BuiltinDefinitions kRegistered(kDefinitions);

} // namespace

TEST_CASE("operators from constant tables", "[dispatcher][builtin]") {
  const Tensor a = cpu_tensor();
  CHECK(add_slot.call<int64_t(const Tensor&, int64_t)>(a, 1) == 1002);
  CHECK(add_slot.redispatch<int64_t(const Tensor&, int64_t)>(c10::DispatchKeySet(DispatchKey::CPU), a, 1) == 2);
  const std::vector<c10::SymInt> sizes{1, 2};
  CHECK(sized_slot.call<int64_t(const Tensor&, c10::SymIntArrayRef)>(a, sizes) == 2);
  nothing_slot.call<void()>();

  CHECK(call_boxed(find("builtin::add"), a, int64_t{1})[0].toInt() == 1002);
  CHECK(call_boxed(find("builtin::sized", "x"), a, std::vector<int64_t>{1, 2, 3})[0].toInt() == 3);
  CHECK(call_boxed(find("builtin::nothing")).empty());

  CHECK(toString(find("builtin::sized", "x").schema()) == "builtin::sized.x(Tensor a, SymInt[] sizes) -> int");
  CHECK(find("builtin::add").hasTag(at::Tag::core));
  CHECK_THAT(find("builtin::add").dumpComputedTable(), Says("CPU: defined in add.cpp [kernel]"));
  CHECK_THAT(
      error_of([] { typed<int64_t(const Tensor&)>("builtin::add"); }), Says("wrong signature") && Says("add.cpp"));
  CHECK_THAT(
      error_of([] { typed<int64_t(const Tensor&, c10::SymInt)>("builtin::sized", "x"); }), Says("wrong signature"));
}

TEST_CASE("users may override a built-in kernel for a while", "[dispatcher][builtin]") {
  const Tensor a = cpu_tensor();
  const auto call = [&] { return add_slot.call<int64_t(const Tensor&, int64_t)>(a, 1); };
  auto mine = implement("builtin", DispatchKey::CPU);
  mine.impl("add", [](const Tensor&, int64_t n) { return -n; });
  CHECK(call() == 999);
  mine.reset();
  CHECK(call() == 1002);
  auto misfit = implement("builtin", DispatchKey::CPU);
  CHECK_THROWS_WITH(
      misfit.impl("add", [](const Tensor&, double) -> int64_t { return 0; }),
      Says("doesn't match the expected function schema"));
}

TEST_CASE("a usual form stands for the kernels of Autograd and ADInplaceOrView", "[dispatcher][builtin]") {
  const Tensor a = cpu_tensor();
  // The first call after a change fills the table, and passes both.
  const auto call = [&] {
    track_slot.call<int64_t(const Tensor&, int64_t)>(a, 1);
    return track_slot.call<int64_t(const Tensor&, int64_t)>(a, 1);
  };
  CHECK(call() == 12);
  CHECK(typed<int64_t(const Tensor&, int64_t)>("builtin::track").call(a, 1) == 12);

  // Other calls pass both.
  CHECK(call_boxed(find("builtin::track"), a, int64_t{1})[0].toInt() == 1102);
  {
    const at::AutoDispatchBelowAutograd guard;
    CHECK(call() == 102);
  }
  CHECK(call() == 12);

  // A kernel of the user's on the way is called.
  for (const DispatchKey key : {DispatchKey::ADInplaceOrView, DispatchKey::CPU, DispatchKey::AutogradCPU}) {
    auto mine = implement("builtin", key);
    mine.impl("track", [](const Tensor&, int64_t n) { return -n; });
    CHECK(call() == (key == DispatchKey::ADInplaceOrView ? 999 : key == DispatchKey::CPU ? 9 : -1));
    mine.reset();
    CHECK(call() == 12);
  }
}

TEST_CASE("thousands of table rows register in milliseconds", "[dispatcher][builtin]") {
  constexpr int kOperators = 2000;
  static std::deque<std::string> texts;
  static std::deque<BuiltinSlot> slots(kOperators);
  static std::vector<BuiltinDefinition> definitions;
  static std::vector<BuiltinKernelRow> rows;
  for (int i = 0; i < kOperators; ++i) {
    texts.push_back("many::operator_number_" + std::to_string(i));
    const char* name = texts.back().c_str();
    texts.push_back(texts.back() + "(Tensor a, int n) -> int");
    definitions.push_back({name, "", texts.back().c_str(), "many.yaml:1", &slots[static_cast<size_t>(i)]});
    for (const DispatchKey key :
         {DispatchKey::CPU, DispatchKey::Autograd, DispatchKey::Meta, DispatchKey::ADInplaceOrView,
          DispatchKey::CUDA}) {
      rows.push_back({name, "", key, builtin_kernel<&add_cpu>(), "many.cpp"});
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  c10::impl::BuiltinRegistrar::define(definitions.data(), definitions.size());
  c10::impl::BuiltinRegistrar::implement(rows.data(), rows.size());
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  // About 2 ms optimised on an idle machine; the bound leaves room for sanitizers and busy ones.
  INFO(ms << " ms");
  CHECK(ms < 200);
  CHECK(slots[1999].call<int64_t(const Tensor&, int64_t)>(cpu_tensor(), 1) == 2);
}
