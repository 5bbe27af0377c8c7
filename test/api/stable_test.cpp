// Operators written against <torch/csrc/stable/...> alone. test/peer/stable.cpp compares more of it with libtorch.
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/core/TensorAccessor.h>
#include <torch/headeronly/util/shim_utils.h>
#include <torch/torch.h>
#include <torch/version.h>

#include <catch2/catch.hpp>

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

static_assert(TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR == 15);
static_assert(TORCH_ABI_VERSION == TORCH_VERSION_2_15_0, "the stable interface is that of the release");

namespace {

using torch::headeronly::IntHeaderOnlyArrayRef;
using torch::headeronly::ScalarType;
using torch::stable::Tensor;

Tensor doubled(const Tensor& x) {
  Tensor out = torch::stable::empty_like(x);
  THO_DISPATCH_V2(
      x.scalar_type(), "doubled", AT_WRAP([&] {
        const torch::headeronly::HeaderOnlyTensorAccessor<const scalar_t, 1> from(
            x.const_data_ptr<scalar_t>(), x.sizes().data(), x.strides().data());
        torch::headeronly::HeaderOnlyTensorAccessor<scalar_t, 1> to(
            out.mutable_data_ptr<scalar_t>(), out.sizes().data(), out.strides().data());
        torch::stable::parallel_for(0, x.numel(), 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            to[i] = from[i] * 2;
          }
        });
      }),
      AT_EXPAND(AT_FLOATING_TYPES));
  return out;
}

std::tuple<Tensor, int64_t, std::string, double> mixed(
    std::vector<Tensor> tensors,
    std::optional<double> scale,
    IntHeaderOnlyArrayRef dims,
    const std::string& text,
    bool flag,
    std::optional<IntHeaderOnlyArrayRef> more) {
  Tensor sum = torch::stable::sum(tensors.at(0), dims);
  const auto extra = more ? static_cast<int64_t>(more->size()) : -1;
  return {sum, extra, text + (flag ? "!" : "?"), scale.value_or(-1.5)};
}

torch::stable::Device device_of(const Tensor& x, ScalarType dtype) {
  STD_TORCH_CHECK(dtype == ScalarType::Half, "device_of: Half is needed");
  return x.device();
}

void fill_seven(Tensor x) {
  torch::stable::fill_(x, 7);
}

std::vector<c10::IValue> run(const char* name, std::vector<c10::IValue> stack) {
  c10::Dispatcher::singleton().findSchemaOrThrow((std::string("stable_test::") + name).c_str(), "").callBoxed(stack);
  return stack;
}

} // namespace

STABLE_TORCH_LIBRARY(stable_test, m) {
  m.def("doubled(Tensor x) -> Tensor");
  m.def(
      "mixed(Tensor[] tensors, float? scale, int[] dims, str text, bool flag, int[]? more) -> (Tensor, int, str, "
      "float)");
  m.def("device_of(Tensor x, ScalarType dtype) -> Device");
}
STABLE_TORCH_LIBRARY_FRAGMENT(stable_test, m) {
  m.def("fill_seven(Tensor(a!) x) -> ()", {at::Tag::pt2_compliant_tag});
  m.def("miscounted(Tensor x, int i) -> Tensor");
  m.def("scalars(Scalar s) -> Tensor");
}
STABLE_TORCH_LIBRARY_IMPL(stable_test, CPU, m) {
  m.impl("doubled", TORCH_BOX(&doubled));
  m.impl("fill_seven", TORCH_BOX(&fill_seven));
  m.impl("miscounted", TORCH_BOX(&doubled));
}
STABLE_TORCH_LIBRARY_IMPL(stable_test, CompositeExplicitAutograd, m) {
  m.impl("mixed", TORCH_BOX(&mixed));
  m.impl("device_of", TORCH_BOX(&device_of));
  m.impl("scalars", TORCH_BOX(&doubled));
}

TEST_CASE("kernels of the stable interface are called by the dispatcher", "[api][stable]") {
  const auto x = torch::arange(4, torch::kDouble);
  CHECK(torch::equal(run("doubled", {x})[0].toTensor(), x * 2));
  const auto typed =
      c10::Dispatcher::singleton().findSchemaOrThrow("stable_test::doubled", "").typed<at::Tensor(const at::Tensor&)>();
  CHECK(torch::equal(typed.call(x.to(torch::kFloat)), x.to(torch::kFloat) * 2));
  CHECK_THROWS_AS(run("doubled", {x.to(torch::kInt)}), c10::Error);

  auto results = run(
      "mixed", {std::vector<torch::Tensor>{x}, 2.5, std::vector<int64_t>{0}, "text", true, std::vector<int64_t>{1, 2}});
  REQUIRE(results.size() == 4);
  CHECK(results[0].toTensor().item<double>() == 6);
  CHECK(results[1].toInt() == 2);
  CHECK(results[2].toStringRef() == "text!");
  CHECK(results[3].toDouble() == 2.5);
  results =
      run("mixed", {std::vector<torch::Tensor>{x}, c10::IValue(), std::vector<int64_t>{}, "", false, c10::IValue()});
  CHECK(results[1].toInt() == -1);
  CHECK(results[2].toStringRef() == "?");
  CHECK(results[3].toDouble() == -1.5);

  CHECK(run("device_of", {x, torch::kHalf})[0].toDevice() == torch::Device("cpu"));
  CHECK_THROWS_WITH(run("device_of", {x, torch::kInt}), Catch::Contains("Half is needed"));
  CHECK(run("fill_seven", {x}).empty());
  CHECK(torch::equal(x, torch::full({4}, 7, torch::kDouble)));
  CHECK(
      c10::Dispatcher::singleton().findSchemaOrThrow("stable_test::fill_seven", "").hasTag(at::Tag::pt2_compliant_tag));
  CHECK_THROWS_WITH(run("miscounted", {x, 1}), Catch::Contains("the schema has 2 arguments, but the kernel has 1"));
  CHECK_THROWS_WITH(run("scalars", {1}), Catch::Contains("cannot carry a value of type number"));
}

TEST_CASE("the stable interface calls operators by name", "[api][stable]") {
  using torch::stable::detail::from;
  using torch::stable::detail::to;
  const Tensor x = torch::stable::full({2, 3}, 1.5);
  std::array<StableIValue, 4> stack{
      from(x), from(std::optional(std::vector<int64_t>{1})), from(true), from(std::nullopt)};
  REQUIRE(torch_call_dispatcher("aten::sum", "dim_IntList", stack.data(), TORCH_ABI_VERSION) == TORCH_SUCCESS);
  const auto sum = to<Tensor>(stack[0]);
  CHECK(sum.sizes() == IntHeaderOnlyArrayRef({2, 1}));
  CHECK(sum.const_data_ptr<float>()[0] == 4.5f);
  CHECK_THROWS_AS(sum.const_data_ptr<int>(), c10::Error);

  CHECK(torch_call_dispatcher("aten::no_such", "", stack.data(), TORCH_ABI_VERSION) == TORCH_FAILURE);
  CHECK_THAT(torch_exception_get_what_without_backtrace(), Catch::Contains("no_such"));
  const auto size_beyond = [&] {
    TORCH_ERROR_CODE_CHECK(aoti_torch_get_size(x.get(), 5, reinterpret_cast<int64_t*>(stack.data())));
  };
  CHECK_THROWS_AS(size_beyond(), std::runtime_error);
  CHECK(aoti_torch_get_dim(nullptr, reinterpret_cast<int64_t*>(stack.data())) == TORCH_FAILURE);
  CHECK(to<std::optional<std::string>>(from(std::optional<std::string>("held"))) == "held");
  CHECK(to<int32_t>(from(int32_t{-3})) == -3);
  CHECK(to<torch::stable::Device>(from(torch::stable::Device("cuda:1"))).index() == 1);
  CHECK_THROWS_AS(torch::stable::Device("nothing"), std::runtime_error);
  CHECK_THROWS_AS(torch::stable::matmul(x, x), c10::Error);
}

TEST_CASE("a stable tensor may lie in the caller's memory", "[api][stable]") {
  std::array<float, 6> numbers{1, 2, 3, 4, 5, 6};
  int deleted = 0;
  {
    const Tensor t = torch::stable::from_blob(
        numbers.data(), {3, 2}, {1, 3}, torch::stable::Device(torch::headeronly::DeviceType::CPU), ScalarType::Float,
        [&](void* data) { deleted += data == numbers.data(); });
    CHECK(t.data_ptr() == numbers.data());
    CHECK(!t.is_contiguous());
    CHECK(torch::stable::contiguous(t).const_data_ptr<float>()[1] == 4);
    const Tensor shared = t;
    CHECK(shared.get() == t.get());
    CHECK(!Tensor().defined());
  }
  CHECK(deleted == 1);
  CHECK_THROWS(torch::stable::from_blob(numbers.data(), {2}, {1, 1}, torch::stable::Device("cpu"), ScalarType::Float));
}
