// Forms that write to the caller's tensor while gradients are recorded.
#include "support.h"

#include <functional>

using namespace autograd_test;
using torch::Tensor;

namespace {

const std::string kRefused = "functions with out=... arguments don't support automatic differentiation";

Tensor leaf() {
  return torch::rand({2, 2}).requires_grad_();
}

using Call = std::function<void(Tensor& out, const Tensor& self)>;
struct Named {
  const char* name;
  Call call;
};

} // namespace

TEST_CASE("out forms refuse inputs that have a derivative, and outputs that require grad", "[out]") {
  const std::vector<Named> calls = {
      {"add", [](Tensor& out, const Tensor& self) { at::add_out(out, self, self); }},
      {"sigmoid", [](Tensor& out, const Tensor& self) { at::sigmoid_out(out, self); }},
      {"mm", [](Tensor& out, const Tensor& self) { at::mm_out(out, self, self); }},
      {"sum", [](Tensor& out, const Tensor& self) { at::sum_out(out, self, 0); }},
      {"matmul", [](Tensor& out, const Tensor& self) { at::matmul_out(out, self, self); }},
      {"hstack",
       [](Tensor& out, const Tensor& self) {
         at::hstack_out(out, {self, self});
       }},
      {"square", [](Tensor& out, const Tensor& self) { at::square_out(out, self); }},
      {"kron", [](Tensor& out, const Tensor& self) { at::kron_out(out, self, self); }},
      {"fft_irfft", [](Tensor& out, const Tensor& self) { at::fft_irfft_out(out, self); }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    Tensor plain = torch::empty({0});
    Tensor tracked = leaf();
    CHECK_THAT(error_of([&, &call = call] { call(plain, leaf()); }), says(kRefused));
    CHECK_THAT(error_of([&, &call = call] { call(tracked, torch::rand({2, 2})); }), says(kRefused));
    torch::NoGradGuard off;
    CHECK(error_of([&, &call = call] { call(plain, leaf()); }).empty());
  }
}

TEST_CASE("out forms that copy their result copy its history", "[out]") {
  const Tensor self = leaf();
  Tensor out = torch::empty({0});
  at::linalg_norm_out(out, self);
  REQUIRE(out.requires_grad());
  out.backward();
  CHECK(at::allclose(self.grad(), self.detach() / self.detach().norm()));
}

TEST_CASE("out forms whose results have no gradient take any input", "[out]") {
  const std::vector<Named> calls = {
      {"eq", [](Tensor& out, const Tensor& self) { at::eq_out(out, self, 0.5); }},
      {"logical_and", [](Tensor& out, const Tensor& self) { at::logical_and_out(out, self, self); }},
      {"isposinf", [](Tensor& out, const Tensor& self) { at::isposinf_out(out, self); }},
      {"argmax",
       [](Tensor& out, const Tensor& self) {
         out = torch::empty({0}, torch::kLong);
         at::argmax_out(out, self);
       }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    Tensor out = torch::empty({0}, torch::kBool);
    CHECK(error_of([&, &call = call] { call(out, leaf()); }).empty());
    CHECK_FALSE(out.requires_grad());
  }
  // A comparison may be written over a tensor that requires grad: it is constant.
  Tensor tracked = leaf();
  CHECK(error_of([&] { at::gt_out(tracked, torch::rand({2, 2}), 0.5); }).empty());
}

TEST_CASE("out forms that copy a result let inputs through, and their history cannot be followed", "[out]") {
  const std::vector<Named> calls = {
      {"relu", [](Tensor& out, const Tensor& self) { at::relu_out(out, self); }},
      {"trace", [](Tensor& out, const Tensor& self) { at::trace_out(out, self); }},
      {"flip", [](Tensor& out, const Tensor& self) { at::flip_out(out, self, {0}); }},
      {"_cdist_backward",
       [](Tensor& out, const Tensor& self) { at::_cdist_backward_out(out, self, self, self, 2, self); }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    Tensor out = torch::empty({0});
    CHECK(error_of([&, &call = call] { call(out, leaf()); }).empty());
    CHECK(out.requires_grad());
    CHECK_THAT(error_of([&] { out.sum().backward(); }), says("not implemented"));
    Tensor tracked = leaf();
    CHECK_THAT(
        error_of([&, &call = call] {
          call(tracked, torch::rand({2, 2}));
        }),
        says("a leaf Variable that requires grad"));
    Tensor computed = leaf() * 2;
    CHECK(error_of([&, &call = call] { call(computed, torch::rand({2, 2})); }).empty());
    CHECK_THAT(error_of([&] { computed.sum().backward(); }), says("not implemented"));
    Tensor untracked = torch::empty({0});
    call(untracked, torch::rand({2, 2}));
    CHECK_FALSE(untracked.requires_grad());
  }
}

TEST_CASE("of several outputs none is written when one is refused", "[out]") {
  const Tensor x = torch::rand({2, 2});
  Tensor values = torch::empty({0}), flags = torch::empty({0}, torch::kBool), counts = torch::empty({0}, torch::kLong);
  CHECK_THAT(error_of([&] { at::_unique2_out(values, flags, counts, x); }), says("Expected out tensor to have dtype"));
  CHECK(values.numel() == 0);
}
