// A backend needs no change of the library: everything here runs on the device that toy.cpp registers.
#include "toy.h"

#include <ATen/DeviceAccelerator.h>
#include <ATen/Operators.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "test/support/matchers.h"

using namespace test;
using at::Tensor;

namespace {

const at::Device kDevice = toy::device();

Tensor on_toy(const Tensor& t) {
  return t.to(kDevice);
}
Tensor on_cpu(const Tensor& t) {
  REQUIRE(t.device() == kDevice);
  return t.to(at::kCPU);
}

void print_call(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack, /*error_on_views=*/true);
}

} // namespace

TEST_CASE("the toy has a name", "[backend]") {
  CHECK(c10::get_privateuse1_backend() == "toy");
  CHECK(at::Device("toy:1") == toy::device(1));
  CHECK(toy::device(1).str() == "toy:1");
  CHECK(at::Device("privateuseone:0") == kDevice);
  CHECK_THROWS_MATCHES(c10::register_privateuse1_backend("other"), c10::Error, Says("has already been set"));
  c10::register_privateuse1_backend("toy");
  CHECK(on_toy(at::ones({1})).is_privateuseone());
}

TEST_CASE("memory goes over and back", "[backend]") {
  const int64_t before = toy::live_blocks();
  {
    const auto dtype = GENERATE(
        at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort, at::kChar, at::kByte,
        at::kBool, at::kComplexFloat, at::kComplexDouble);
    const Tensor host = at::arange(6).reshape({2, 3}).to(dtype);
    const Tensor t = on_toy(host);
    CHECK(t.device() == kDevice);
    CHECK(t.scalar_type() == dtype);
    CHECK_THAT(on_cpu(t), EqualsTensor(host));
    // Strides, conversions and broadcasting are the copy's work.
    CHECK_THAT(on_cpu(t.t().contiguous()), EqualsTensor(host.t().contiguous()));
    CHECK_THAT(on_cpu(t.to(at::kDouble)), EqualsTensor(host.to(at::kDouble)));
    Tensor wide = at::zeros({2, 2, 3}, t.options());
    wide.copy_(t);
    CHECK_THAT(on_cpu(wide), EqualsTensor(host.expand({2, 2, 3}).contiguous()));
    CHECK_THAT(on_cpu(t.clone()), EqualsTensor(host));
  }
  CHECK(toy::live_blocks() == before);
}

TEST_CASE("factories on the toy", "[backend]") {
  const auto options = at::TensorOptions(kDevice);
  CHECK_THAT(on_cpu(at::zeros({2, 2}, options)), EqualsTensor(at::zeros({2, 2})));
  CHECK_THAT(on_cpu(at::ones({3}, options.dtype(at::kInt))), EqualsTensor(at::ones({3}, at::kInt)));
  CHECK_THAT(on_cpu(at::full({2}, 2.5, options)), EqualsTensor(at::full({2}, 2.5)));
  CHECK_THAT(on_cpu(at::eye(2, options)), EqualsTensor(at::eye(2)));
  CHECK_THAT(on_cpu(at::scalar_tensor(7, options)), EqualsTensor(at::scalar_tensor(7)));
  CHECK_THAT(on_cpu(torch::tensor({{1, 2}, {3, 4}}, options)), EqualsTensor(torch::tensor({{1, 2}, {3, 4}})));
  const Tensor nhwc = at::empty({2, 3, 4, 5}, options.memory_format(at::MemoryFormat::ChannelsLast));
  CHECK(nhwc.is_contiguous(at::MemoryFormat::ChannelsLast));
  CHECK(at::empty_like(at::ones({2}, options)).device() == kDevice);
  CHECK(at::ones({2}, options).new_zeros({1}).device() == kDevice);
  CHECK_THROWS_MATCHES(
      at::empty({-1}, options), c10::Error, Says("Trying to create tensor with negative dimension -1"));
  CHECK_THROWS_MATCHES(at::empty({int64_t{1} << 40, int64_t{1} << 40}, options), c10::Error, Says("overflow"));
}

TEST_CASE("views share the toy's memory", "[backend]") {
  const Tensor host = at::arange(24).reshape({2, 3, 4});
  const Tensor t = on_toy(host);
  const int64_t blocks = toy::live_blocks();
  const auto same_view = [&](const Tensor& view, const Tensor& want) {
    CHECK(view.is_alias_of(t));
    CHECK(toy::live_blocks() == blocks);
    CHECK_THAT(on_cpu(view), EqualsTensor(want.contiguous()));
  };
  same_view(t.view({6, 4}), host.view({6, 4}));
  same_view(t.reshape({4, -1}), host.reshape({4, -1}));
  same_view(t.transpose(0, 2), host.transpose(0, 2));
  same_view(t.permute({1, 2, 0}), host.permute({1, 2, 0}));
  same_view(t.select(1, 2), host.select(1, 2));
  same_view(t.slice(2, 1, 4, 2), host.slice(2, 1, 4, 2));
  same_view(t.narrow(0, 1, 1), host.narrow(0, 1, 1));
  same_view(t.diagonal(0, 0, 1), host.diagonal(0, 0, 1));
  same_view(t.unfold(2, 2, 1), host.unfold(2, 2, 1));
  same_view(t.unsqueeze(0).expand({5, 2, 3, 4}), host.expand({5, 2, 3, 4}));
  same_view(t.split(2, 1)[1], host.split(2, 1)[1]);
  same_view(t.detach(), host);
  same_view(t.as_strided({2, 2}, {1, 4}, 3), host.as_strided({2, 2}, {1, 4}, 3));
  using namespace torch::indexing;
  same_view(t.index({Slice(), 1, Slice(None, None, 3)}), host.index({Slice(), 1, Slice(None, None, 3)}));

  t.select(0, 1).fill_(-1);
  t[0][0][0] = 100;
  CHECK_THAT(on_cpu(t[1]), EqualsTensor(at::full({3, 4}, -1, at::kLong)));
  CHECK(t[0][0][0].item<int64_t>() == 100);
}

TEST_CASE("one kernel serves all forms of add", "[backend]") {
  const Tensor a = on_toy(at::arange(4).to(at::kFloat));
  const Tensor b = on_toy(torch::tensor({10.0, 20.0, 30.0, 40.0}));
  const int64_t calls = toy::add_calls();
  CHECK_THAT(on_cpu(a + b), EqualsTensor({10, 21, 32, 43}));
  CHECK_THAT(on_cpu(at::add(a, b, 2)), EqualsTensor({20, 41, 62, 83}));
  CHECK_THAT(on_cpu(a + 1), EqualsTensor({1, 2, 3, 4}));
  CHECK(toy::add_calls() == calls + 3);
  CHECK_THAT(on_cpu(a.unsqueeze(1) + b), EqualsTensor(on_cpu(a).unsqueeze(1) + on_cpu(b)));
  CHECK((on_toy(at::ones({2}, at::kLong)) + b.slice(0, 0, 2)).scalar_type() == at::kFloat);

  Tensor x = a.clone();
  x.add_(b);
  CHECK_THAT(on_cpu(x), EqualsTensor({10, 21, 32, 43}));
  Tensor out = at::empty({0}, a.options());
  at::add_out(out, a, b);
  CHECK_THAT(on_cpu(out), EqualsTensor({10, 21, 32, 43}));

  SECTION("arguments are checked before the kernel runs") {
    const int64_t now = toy::add_calls();
    CHECK_THROWS_MATCHES(
        a + on_toy(at::ones({3})), c10::Error, Says("The size of tensor a (4) must match the size of tensor b (3)"));
    CHECK_THROWS_MATCHES(a + at::ones({4}), c10::Error, Says("Expected all tensors to be on the same device"));
    CHECK_THROWS_MATCHES(x.add_(on_toy(at::ones({2, 4}))), c10::Error, Says("doesn't match the broadcast shape"));
    CHECK(toy::add_calls() == now);
  }
}

TEST_CASE("a missing kernel is reported with what there is", "[backend][errors]") {
  const Tensor a = on_toy(at::ones({2}));
  CHECK_THROWS_MATCHES(
      at::sin(a), c10::NotImplementedError,
      Says("Could not run 'aten::sin") && Says("'toy' backend") && Says("CPU") && Says("Meta") && Says("registered"));
  CHECK_THROWS_MATCHES(a.matmul(a), c10::NotImplementedError, Says("aten::"));
  CHECK_THROWS_AS(at::arange(3, at::TensorOptions(kDevice)), c10::NotImplementedError);
}

TEST_CASE("the rest goes to the CPU", "[backend][fallback]") {
  const toy::CpuFallback fallback;
  const Tensor host = torch::tensor({{1.0, -2.0}, {3.0, 0.5}});
  const Tensor a = on_toy(host);

  SECTION("results come back") {
    CHECK_THAT(on_cpu(at::sin(a)), EqualsTensor(at::sin(host)));
    CHECK_THAT(on_cpu(a.matmul(a)), EqualsTensor(host.matmul(host)));
    CHECK_THAT(on_cpu(a * 2), EqualsTensor(host * 2));
    CHECK_THAT(on_cpu(a.sum()), EqualsTensor(host.sum()));
    CHECK_THAT(on_cpu(at::softmax(a, 1)), EqualsTensor(at::softmax(host, 1)));
    CHECK(a.max().item<double>() == 3);
    CHECK(at::allclose(a, a));
    CHECK_THAT(on_cpu(at::arange(3, at::TensorOptions(kDevice))), EqualsTensor(at::arange(3)));
  }
  SECTION("several results") {
    const auto [values, indices] = a.sort(1);
    CHECK_THAT(on_cpu(values), EqualsTensor(std::get<0>(host.sort(1))));
    CHECK_THAT(on_cpu(indices), EqualsTensor(std::get<1>(host.sort(1))));
  }
  SECTION("lists of tensors, with gaps too") {
    CHECK_THAT(on_cpu(at::cat({a, a}, 0)), EqualsTensor(at::cat({host, host}, 0)));
    const Tensor rows = on_toy(torch::tensor({1, 0}));
    using namespace torch::indexing;
    CHECK_THAT(on_cpu(a.index({Slice(), rows})), EqualsTensor(host.index({Slice(), torch::tensor({1, 0})})));
  }
  SECTION("what is written to is the caller's tensor") {
    Tensor x = a.clone();
    Tensor& same = x.mul_(3);
    CHECK(&same == &x);
    CHECK_THAT(on_cpu(x), EqualsTensor(host * 3));
    Tensor row = x[0];
    row.exp_();
    CHECK_THAT(on_cpu(x[0]), EqualsTensor((host * 3)[0].exp()));

    Tensor out = at::empty({0}, a.options());
    at::mul_out(out, a, a);
    CHECK_THAT(on_cpu(out), EqualsTensor(host * host));
    Tensor values = at::empty({0}, a.options());
    Tensor indices = at::empty({0}, a.options().dtype(at::kLong));
    at::topk_out(values, indices, a, 1);
    CHECK_THAT(on_cpu(values), EqualsTensor(std::get<0>(host.topk(1))));
    CHECK_THAT(on_cpu(indices), EqualsTensor(std::get<1>(host.topk(1))));
  }
  SECTION("arguments stay as they were") {
    (void)at::sin(a);
    CHECK_THAT(on_cpu(a), EqualsTensor(host));
  }
  SECTION("errors are those of the CPU") {
    CHECK_THROWS_MATCHES(a.matmul(on_toy(at::ones({3}))), c10::Error, Says("mat"));
    CHECK_THROWS_MATCHES(a.sum(5), c10::IndexError, Says("Dimension out of range"));
  }
  SECTION("own kernels still come first") {
    const int64_t calls = toy::add_calls();
    (void)(a + a);
    CHECK(toy::add_calls() == calls + 1);
  }
  SECTION("a boxed fallback is called with C++ arguments") {
    const Tensor sum = at::native::call_fallback_fn<&print_call, ATEN_OP2(mul, Tensor)>::call(a, a);
    CHECK_THAT(on_cpu(sum), EqualsTensor(host * host));
    const Tensor zeros = at::native::call_fallback_fn_symint<&print_call, ATEN_OP(zeros)>::call(
        c10::SymIntArrayRef(), at::kLong, std::nullopt, kDevice, std::nullopt);
    CHECK_THAT(on_cpu(zeros), EqualsTensor(at::zeros({}, at::kLong)));
  }
  SECTION("views cannot be made there") {
    CHECK_THROWS_MATCHES(
        (at::native::call_fallback_fn<&print_call, ATEN_OP(t)>::call(a)), c10::Error,
        Says("returns a view of its argument"));
  }
}

TEST_CASE("gradients of the toy", "[backend][fallback]") {
  const toy::CpuFallback fallback;
  const Tensor host = torch::tensor({{1.0, -2.0}, {3.0, 0.5}}, at::kDouble);
  const auto loss = [](const Tensor& x) { return ((x * x + x).matmul(x).sin() + x.t()).pow(2).mean(); };

  Tensor want = host.clone().requires_grad_();
  loss(want).backward();
  Tensor x = on_toy(host).requires_grad_();
  Tensor y = loss(x);
  CHECK(y.device() == kDevice);
  y.backward();
  REQUIRE(x.grad().defined());
  CHECK_THAT(on_cpu(x.grad()), AllClose(want.grad()));

  SECTION("through a copy between devices") {
    Tensor leaf = host.clone().requires_grad_();
    (on_toy(leaf) + 1).to(at::kCPU).sum().backward();
    CHECK_THAT(leaf.grad(), EqualsTensor(at::ones({2, 2}, at::kDouble)));
  }
  SECTION("through views and in-place changes") {
    const auto changed = [](Tensor t) {
      Tensor z = t * 2;
      z[0].mul_(3);
      return z.sum();
    };
    Tensor leaf = on_toy(host).requires_grad_();
    changed(leaf).backward();
    CHECK_THAT(on_cpu(leaf.grad()), EqualsTensor(torch::tensor({{6.0, 6.0}, {2.0, 2.0}}, at::kDouble)));
  }
  SECTION("of second order") {
    Tensor leaf = on_toy(host).requires_grad_();
    const Tensor first = torch::autograd::grad({leaf.pow(3).sum()}, {leaf}, {}, std::nullopt, true)[0];
    const Tensor second = torch::autograd::grad({first.sum()}, {leaf})[0];
    CHECK_THAT(on_cpu(second), AllClose(host * 6));
  }
  SECTION("with the kernel alone") {
    Tensor leaf = on_toy(host).requires_grad_();
    (leaf + leaf).backward(on_toy(at::ones({2, 2}, at::kDouble)));
    CHECK_THAT(on_cpu(leaf.grad()), EqualsTensor(at::full({2, 2}, 2, at::kDouble)));
  }
}

TEST_CASE("the toy's devices", "[backend]") {
  CHECK(at::getAccelerator() == toy::kToy);
  CHECK(at::accelerator::deviceCount() == toy::kDevices);
  CHECK(at::accelerator::getDeviceIndex() == 0);
  {
    const c10::DeviceGuard guard(toy::device(1));
    CHECK(at::accelerator::getDeviceIndex() == 1);
    CHECK(at::ones({1}, at::TensorOptions(toy::kToy)).device() == toy::device(1));
    at::accelerator::synchronizeDevice(1);
  }
  CHECK(at::accelerator::getDeviceIndex() == 0);
  CHECK(at::accelerator::getMemoryInfo(0) == std::pair<size_t, size_t>(toy::kMemory / 2, toy::kMemory));
  const int64_t before = at::accelerator::getDeviceStats(0).allocation[0].current;
  const Tensor held = on_toy(at::ones({2}));
  CHECK(at::accelerator::getDeviceStats(0).allocation[0].current == before + 1);
  at::accelerator::emptyCache();
  at::accelerator::resetPeakStats(0);
  at::accelerator::resetAccumulatedStats(0);
  CHECK(at::accelerator::getDefaultGenerator(0) == at::globalContext().defaultGenerator(kDevice));

  const Tensor other = at::ones({2}).to(toy::device(1));
  CHECK(other.device() == toy::device(1));
  CHECK_THAT(other.to(kDevice).to(at::kCPU), EqualsTensor({1, 1}));
  CHECK_THROWS_MATCHES(
      other + on_toy(at::ones({2})), c10::Error,
      Says("Expected all tensors to be on the same device") && Says("toy:1"));
  CHECK_THROWS_MATCHES(
      at::empty({1}, at::TensorOptions(at::Device("toy:2"))), c10::Error, Says("there is no device toy:2"));
}

TEST_CASE("random numbers of the toy are its generator's", "[backend]") {
  const auto options = at::TensorOptions(kDevice).dtype(at::kDouble);
  at::manual_seed(5);
  CHECK_THAT(on_cpu(at::rand({3}, options)), AllClose(torch::tensor({0.05, 0.06, 0.07}, at::kDouble)));
  CHECK(at::globalContext().defaultGenerator(kDevice).current_seed() == 5);
  at::Generator own = at::globalContext().getAcceleratorHooksInterface(toy::kToy).getNewGenerator(0);
  own.set_current_seed(40);
  CHECK_THAT(on_cpu(at::rand({2}, own, options)), AllClose(torch::tensor({0.4, 0.41}, at::kDouble)));
}

TEST_CASE("printing a tensor of the toy", "[backend]") {
  std::ostringstream out;
  out << on_toy(torch::tensor({0.5, 1.5})) << "\n"
      << on_toy(at::ones({}, at::kLong)) << "\n"
      << on_toy(at::zeros({2, 0}));
  CHECK(out.str() == " 0.5000\n 1.5000\n[ toyFloatType{2} ]\n1\n[ toyLongType{} ]\n[ toyFloatType{2,0} ]");
}

TEST_CASE("storages of the toy are resized by its allocator", "[backend]") {
  Tensor t = on_toy(torch::tensor({1, 2, 3}));
  t.resize_({2, 4});
  CHECK(t.device() == kDevice);
  CHECK_THAT(on_cpu(t.view(-1).slice(0, 0, 3)), EqualsTensor({1, 2, 3}));
  Tensor u = at::empty({0}, t.options());
  u.set_(t);
  CHECK(u.is_alias_of(t));
}
