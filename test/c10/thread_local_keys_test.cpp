#include <catch2/catch.hpp>

#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <optional>
#include <thread>

using namespace c10;
using namespace c10::impl;

namespace {

bool state_is(DispatchKeySet included, DispatchKeySet excluded) {
  const LocalDispatchKeySet state = tls_local_dispatch_key_set();
  return state.included_ == included && state.excluded_ == excluded;
}

bool state_is_default() {
  return state_is(default_included_set, default_excluded_set);
}

} // namespace

TEST_CASE("each thread starts from the default key sets", "[c10][tls]") {
  CHECK(state_is_default());
  IncludeDispatchKeyGuard guard(DispatchKey::Tracer);
  bool fresh = false;
  std::thread([&] { fresh = state_is_default() && GradMode::is_enabled() && !InferenceMode::is_enabled(); }).join();
  CHECK(fresh);
  CHECK(tls_is_dispatch_key_included(DispatchKey::Tracer));
}

TEST_CASE("include and exclude guards take back only what they added", "[c10][tls]") {
  {
    IncludeDispatchKeyGuard outer(DispatchKey::Tracer);
    {
      IncludeDispatchKeyGuard inner(DispatchKeySet({DispatchKey::Tracer, DispatchKey::Functionalize}));
      CHECK(tls_is_dispatch_key_included(DispatchKey::Functionalize));
    }
    CHECK(tls_is_dispatch_key_included(DispatchKey::Tracer));
    CHECK_FALSE(tls_is_dispatch_key_included(DispatchKey::Functionalize));
    ExcludeDispatchKeyGuard exclude(autograd_dispatch_keyset);
    CHECK(tls_is_dispatch_keyset_excluded(autograd_dispatch_keyset));
    CHECK(tls_is_dispatch_key_excluded(DispatchKey::AutocastCPU));
    ExcludeDispatchKeyGuard again(DispatchKey::AutocastCPU);
  }
  CHECK(state_is_default());
}

TEST_CASE("guards that do not nest leave no trace", "[c10][tls]") {
  std::optional<ExcludeDispatchKeyGuard> first(std::in_place, DispatchKey::Tracer);
  std::optional<ExcludeDispatchKeyGuard> second(std::in_place, DispatchKey::Functionalize);
  first.reset();
  CHECK_FALSE(tls_is_dispatch_key_excluded(DispatchKey::Tracer));
  CHECK(tls_is_dispatch_key_excluded(DispatchKey::Functionalize));
  second.reset();
  CHECK(state_is_default());
}

TEST_CASE("a runtime key brings its backend and takes it along", "[c10][tls]") {
  {
    IncludeDispatchKeyGuard guard(DispatchKey::AutogradCUDA);
    CHECK(tls_is_dispatch_key_included(DispatchKey::AutogradCUDA));
    CHECK_FALSE(tls_is_dispatch_key_included(DispatchKey::AutogradCPU));
  }
  CHECK(state_is_default());
}

TEST_CASE("the forcing guard replaces and restores the whole state", "[c10][tls]") {
  {
    ForceDispatchKeyGuard guard(DispatchKeySet(DispatchKey::Tracer), DispatchKeySet());
    CHECK(state_is(DispatchKeySet(DispatchKey::Tracer), DispatchKeySet()));
    tls_set_dispatch_key_excluded(DispatchKey::Tracer, true);
  }
  CHECK(state_is_default());
  {
    ForceDispatchKeyGuard guard;
    tls_set_dispatch_key_included(DispatchKey::Tracer, true);
    tls_set_dispatch_key_included(DispatchKey::BackendSelect, false);
    CHECK_FALSE(tls_is_dispatch_keyset_included(default_included_set));
  }
  CHECK(state_is_default());
}

TEST_CASE("grad mode guards nest", "[c10][tls]") {
  CHECK(GradMode::is_enabled());
  {
    NoGradGuard no_grad;
    CHECK_FALSE(GradMode::is_enabled());
    {
      AutoGradMode enable(true);
      CHECK(GradMode::is_enabled());
    }
    AutoFwGradMode no_forward(false);
    CHECK_FALSE(AutogradState::get_tls_state().get_fw_grad_mode());
  }
  CHECK(GradMode::is_enabled());
  CHECK(AutogradState::get_tls_state().get_fw_grad_mode());
}

TEST_CASE("inference mode switches autograd and view tracking off and on", "[c10][tls]") {
  {
    InferenceMode guard;
    CHECK(InferenceMode::is_enabled());
    CHECK_FALSE(GradMode::is_enabled());
    CHECK_FALSE(tls_is_dispatch_key_included(DispatchKey::ADInplaceOrView));
    CHECK(tls_is_dispatch_keyset_excluded(autograd_dispatch_keyset));
    {
      InferenceMode normal(false);
      CHECK_FALSE(InferenceMode::is_enabled());
      CHECK(GradMode::is_enabled());
      CHECK(state_is_default());
    }
    CHECK(InferenceMode::is_enabled());
  }
  CHECK(state_is_default());
  CHECK(GradMode::is_enabled());
}
