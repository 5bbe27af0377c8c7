#include "dispatcher_support.h"

#include <aten/core/IListRef.h>
#include <aten/library/custom_class.h>
#include <c10/core/Stream.h>

using namespace dispatcher_test;
using at::Tensor;
using c10::DispatchKey;
using c10::IValue;

// Every type of the schema language goes through all four ways: unboxed call to an unboxed kernel, boxed to unboxed,
// boxed to boxed, and unboxed to boxed.

namespace {

struct Thing : torch::CustomClassHolder {
  int64_t n = 3;
};

// An identity operator: returns its argument.
void identity_boxed(const c10::OperatorHandle&, torch::jit::Stack*) {}

int g_case = 0;

// `Param` is the kernel's parameter type, `Result` what it returns; `check` compares a result with the value.
template <class Param, class Result, class Check>
void through_all_ways(const char* type, const char* result_type, Param value, Result (*kernel)(Param), Check check) {
  const std::string name = "op" + std::to_string(g_case++);
  CAPTURE(type, name);
  torch::Library defs(torch::Library::FRAGMENT, "ways", std::nullopt, "ways.cpp", 1);
  defs.def(name + "(" + type + " x) -> " + result_type);
  const c10::OperatorHandle op = find(("ways::" + name).c_str());
  const auto with_kernel = [&](torch::CppFunction&& f) {
    torch::Library impl(torch::Library::FRAGMENT, "ways", std::nullopt, "ways.cpp", 2);
    impl.impl(name.c_str(), torch::dispatch(DispatchKey::CompositeExplicitAutograd, std::move(f)));
    check(op.typed<Result(Param)>().call(value));
    torch::jit::Stack stack;
    c10::impl::box_one<std::decay_t<Param>>(stack, value);
    op.callBoxed(&stack);
    REQUIRE(stack.size() == 1);
    check(std::move(stack[0]).to<Result>());
  };
  with_kernel(torch::CppFunction(kernel));
  with_kernel(torch::CppFunction::makeFromBoxedFunction<&identity_boxed>());
}

} // namespace

static auto thing_class = torch::class_<Thing>("ways", "Thing").def(torch::init<>());

TEST_CASE("every argument type boxes and unboxes", "[dispatcher][boxing]") {
  const Tensor t = cpu_tensor();
  const auto same = [&](const Tensor& got) { CHECK(got.is_same(t)); };
  const auto equals = [](auto expected) { return [expected](const auto& got) { CHECK(got == expected); }; };

  through_all_ways<const Tensor&, Tensor>(
      "Tensor", "Tensor", t, [](const Tensor& x) { return x; }, same);
  through_all_ways<Tensor, Tensor>(
      "Tensor", "Tensor", t, [](Tensor x) { return x; }, same);
  through_all_ways<const std::optional<Tensor>&, std::optional<Tensor>>(
      "Tensor?", "Tensor?", std::optional<Tensor>(t), [](const std::optional<Tensor>& x) { return x; },
      [&](const std::optional<Tensor>& got) { same(*got); });
  through_all_ways<const std::optional<Tensor>&, std::optional<Tensor>>(
      "Tensor?", "Tensor?", std::nullopt, [](const std::optional<Tensor>& x) { return x; },
      [&](const std::optional<Tensor>& got) { CHECK_FALSE(got.has_value()); });
  const std::vector<Tensor> tensors{t, t};
  const auto same_list = [&](const std::vector<Tensor>& got) {
    REQUIRE(got.size() == 2);
    same(got[1]);
  };
  through_all_ways<at::TensorList, std::vector<Tensor>>(
      "Tensor[]", "Tensor[]", tensors, [](at::TensorList x) { return x.vec(); }, same_list);
  through_all_ways<const at::ITensorListRef&, std::vector<Tensor>>(
      "Tensor[]", "Tensor[]", at::ITensorListRef(tensors),
      [](const at::ITensorListRef& x) {
        std::vector<Tensor> out;
        for (const Tensor& element : x) {
          out.push_back(element);
        }
        return out;
      },
      same_list);
  through_all_ways<c10::List<Tensor>, c10::List<Tensor>>(
      "Tensor[]", "Tensor[]", c10::List<Tensor>({t, t}), [](c10::List<Tensor> x) { return x; },
      [&](const c10::List<Tensor>& got) { same(got.get(1)); });
  const c10::List<std::optional<Tensor>> optionals{t, std::nullopt};
  through_all_ways<const c10::List<std::optional<Tensor>>&, c10::List<std::optional<Tensor>>>(
      "Tensor?[]", "Tensor?[]", optionals, [](const c10::List<std::optional<Tensor>>& x) { return x; },
      [&](const c10::List<std::optional<Tensor>>& got) {
        same(*got.get(0));
        CHECK_FALSE(got.get(1).has_value());
      });

  through_all_ways<int64_t, int64_t>(
      "int", "int", -4, [](int64_t x) { return x; }, equals(int64_t{-4}));
  through_all_ways<double, double>(
      "float", "float", 2.5, [](double x) { return x; }, equals(2.5));
  through_all_ways<bool, bool>(
      "bool", "bool", true, [](bool x) { return x; }, equals(true));
  through_all_ways<c10::complex<double>, c10::complex<double>>(
      "complex", "complex", {1, 2}, [](c10::complex<double> x) { return x; }, equals(c10::complex<double>(1, 2)));
  through_all_ways<const c10::Scalar&, c10::Scalar>(
      "Scalar", "Scalar", c10::Scalar(2.5), [](const c10::Scalar& x) { return x; },
      [](const c10::Scalar& got) { CHECK(got.toDouble() == 2.5); });
  through_all_ways<const std::optional<c10::Scalar>&, std::optional<c10::Scalar>>(
      "Scalar?", "Scalar?", c10::Scalar(3), [](const std::optional<c10::Scalar>& x) { return x; },
      [](const std::optional<c10::Scalar>& got) { CHECK(got->toLong() == 3); });
  through_all_ways<c10::SymInt, c10::SymInt>(
      "SymInt", "SymInt", 5, [](c10::SymInt x) { return x; }, equals(c10::SymInt(5)));
  through_all_ways<std::string_view, std::string>(
      "str", "str", "abc", [](std::string_view x) { return std::string(x); }, equals(std::string("abc")));
  through_all_ways<const std::string&, std::string>(
      "str", "str", "abc", [](const std::string& x) { return x; }, equals(std::string("abc")));
  through_all_ways<std::optional<std::string_view>, std::optional<std::string>>(
      "str?", "str?", "abc",
      [](std::optional<std::string_view> x) { return x ? std::optional<std::string>(*x) : std::nullopt; },
      equals(std::optional<std::string>("abc")));

  const std::vector<int64_t> ints{1, 2, 3};
  through_all_ways<c10::IntArrayRef, std::vector<int64_t>>(
      "int[]", "int[]", ints, [](c10::IntArrayRef x) { return x.vec(); }, equals(ints));
  through_all_ways<c10::IntArrayRef, std::vector<int64_t>>(
      "int[3]", "int[]", ints, [](c10::IntArrayRef x) { return x.vec(); }, equals(ints));
  through_all_ways<c10::OptionalIntArrayRef, std::optional<std::vector<int64_t>>>(
      "int[]?", "int[]?", c10::OptionalIntArrayRef(ints),
      [](c10::OptionalIntArrayRef x) {
        return x.has_value() ? std::optional<std::vector<int64_t>>(x->vec()) : std::nullopt;
      },
      equals(std::optional<std::vector<int64_t>>(ints)));
  through_all_ways<std::optional<c10::IntArrayRef>, std::optional<std::vector<int64_t>>>(
      "int[]?", "int[]?", std::nullopt,
      [](std::optional<c10::IntArrayRef> x) {
        return x.has_value() ? std::optional<std::vector<int64_t>>(x->vec()) : std::nullopt;
      },
      equals(std::optional<std::vector<int64_t>>()));
  const std::vector<c10::SymInt> syms{1, 2};
  through_all_ways<c10::SymIntArrayRef, std::vector<c10::SymInt>>(
      "SymInt[]", "SymInt[]", syms, [](c10::SymIntArrayRef x) { return x.vec(); }, equals(syms));
  through_all_ways<c10::ArrayRef<double>, std::vector<double>>(
      "float[]", "float[]", std::vector<double>{1, 2.5}, [](c10::ArrayRef<double> x) { return x.vec(); },
      [](const std::vector<double>& got) {
        CHECK(got == std::vector<double>{1, 2.5});
      });
  through_all_ways<std::vector<bool>, std::vector<bool>>(
      "bool[]", "bool[]", {true, false}, [](std::vector<bool> x) { return x; }, equals(std::vector<bool>{true, false}));
  through_all_ways<std::array<bool, 2>, std::array<bool, 2>>(
      "bool[2]", "bool[]", {true, false}, [](std::array<bool, 2> x) { return x; },
      equals(std::array<bool, 2>{true, false}));
  through_all_ways<std::vector<std::string>, std::vector<std::string>>(
      "str[]", "str[]", {"a", "b"}, [](std::vector<std::string> x) { return x; },
      equals(std::vector<std::string>{"a", "b"}));
  through_all_ways<std::vector<std::vector<int64_t>>, std::vector<std::vector<int64_t>>>(
      "int[][]", "int[][]", {{1}, {2, 3}}, [](std::vector<std::vector<int64_t>> x) { return x; },
      equals(std::vector<std::vector<int64_t>>{{1}, {2, 3}}));

  through_all_ways<c10::ScalarType, c10::ScalarType>(
      "ScalarType", "ScalarType", c10::kHalf, [](c10::ScalarType x) { return x; }, equals(c10::kHalf));
  through_all_ways<std::optional<c10::ScalarType>, std::optional<c10::ScalarType>>(
      "ScalarType?", "ScalarType?", c10::kHalf, [](std::optional<c10::ScalarType> x) { return x; },
      equals(std::optional<c10::ScalarType>(c10::kHalf)));
  through_all_ways<c10::Layout, c10::Layout>(
      "Layout", "Layout", c10::kSparse, [](c10::Layout x) { return x; }, equals(c10::Layout(c10::kSparse)));
  through_all_ways<c10::MemoryFormat, c10::MemoryFormat>(
      "MemoryFormat", "MemoryFormat", c10::MemoryFormat::ChannelsLast, [](c10::MemoryFormat x) { return x; },
      equals(c10::MemoryFormat::ChannelsLast));
  through_all_ways<c10::Device, c10::Device>(
      "Device", "Device", c10::Device(c10::kCUDA, 2), [](c10::Device x) { return x; },
      equals(c10::Device(c10::kCUDA, 2)));
  through_all_ways<c10::Stream, c10::Stream>(
      "Stream", "Stream", c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU)), [](c10::Stream x) { return x; },
      equals(c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU))));
  through_all_ways<const std::optional<at::Generator>&, std::optional<at::Generator>>(
      "Generator?", "Generator?", std::nullopt, [](const std::optional<at::Generator>& x) { return x; },
      [](const std::optional<at::Generator>& got) { CHECK_FALSE(got.has_value()); });
  c10::Dict<std::string, int64_t> dict;
  dict.insert("a", 1);
  through_all_ways<c10::Dict<std::string, int64_t>, c10::Dict<std::string, int64_t>>(
      "Dict(str, int)", "Dict(str, int)", dict, [](c10::Dict<std::string, int64_t> x) { return x; }, equals(dict));
  through_all_ways<std::unordered_map<std::string, int64_t>, std::unordered_map<std::string, int64_t>>(
      "Dict(str, int)", "Dict(str, int)", {{"a", 1}}, [](std::unordered_map<std::string, int64_t> x) { return x; },
      equals(std::unordered_map<std::string, int64_t>{{"a", 1}}));
  const auto thing = c10::make_intrusive<Thing>();
  through_all_ways<const c10::intrusive_ptr<Thing>&, c10::intrusive_ptr<Thing>>(
      "__torch__.torch.classes.ways.Thing", "__torch__.torch.classes.ways.Thing", thing,
      [](const c10::intrusive_ptr<Thing>& x) { return x; }, equals(thing));
  through_all_ways<IValue, IValue>(
      "Any", "Any", IValue("x"), [](IValue x) { return x; }, equals(IValue("x")));
}

TEST_CASE("TensorOptions travel as four arguments", "[dispatcher][boxing]") {
  const auto stack = c10::impl::boxArgs(int64_t{1}, c10::TensorOptions().dtype(c10::kDouble).device(c10::kCUDA));
  REQUIRE(stack.size() == 5);
  CHECK(stack[1].toScalarType() == c10::kDouble);
  CHECK(stack[2].isNone());
  CHECK(stack[3].toDevice() == c10::Device(c10::kCUDA));
  CHECK(stack[4].isNone());
}

TEST_CASE("a boxed kernel that leaves the wrong number of results is caught", "[dispatcher][boxing]") {
  auto defs = define("counts");
  defs.def("two(Tensor a) -> (Tensor, Tensor)", torch::CppFunction::makeFromBoxedFunction<&identity_boxed>());
  const auto op = typed<std::tuple<Tensor, Tensor>(const Tensor&)>("counts::two");
  CHECK_THROWS_WITH(
      op.call(cpu_tensor()),
      Catch::Matchers::Contains("expected to return 2 values on the stack, but instead returned 1"));
}
