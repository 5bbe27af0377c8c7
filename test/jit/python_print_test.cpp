// Printed functions mean what they were printed from.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <csrc/jit/api/compilation_unit.h>
#include <csrc/jit/api/module.h>
#include <csrc/jit/serialize/export.h>
#include <csrc/jit/serialize/import.h>
#include <csrc/jit/serialize/python_print.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace torch::jit;
using Catch::Contains;

namespace {

std::string printed(const std::string& source) {
  const auto unit = compile(source);
  std::vector<IValue> constants;
  PrintDepsTable deps;
  PythonPrint printer(constants, deps);
  printer.printFunction(*unit->get_functions()[0]);
  return printer.str();
}

// The function as a method of a module that was saved and loaded; its printed text, too.
struct Reloaded {
  explicit Reloaded(const std::string& source) {
    Module original("M");
    original.define(source);
    std::stringstream file;
    original.save(file);
    module = load(file);
  }
  IValue operator()(std::vector<IValue> arguments) {
    return module.get_method("f")(std::move(arguments));
  }
  Module module;
};

} // namespace

TEST_CASE("expressions are printed where they are used, long ones before", "[jit]") {
  CHECK(
      printed("def f(a: Tensor, b: Tensor):\n    return a * b + torch.relu(a)\n") ==
      "def f(a: Tensor,\n    b: Tensor) -> Tensor:\n"
      "  _0 = torch.add(torch.mul(a, b), torch.relu(a))\n"
      "  return _0\n");
  CHECK(
      printed("def f(n: int):\n    return n * 2 if n > 0 else n - 1\n") ==
      "def f(n: int) -> int:\n"
      "  if torch.gt(n, 0):\n"
      "    _0 = torch.mul(n, 2)\n"
      "  else:\n"
      "    _0 = torch.sub(n, 1)\n"
      "  return _0\n");
}

TEST_CASE("names that mean something else are not used for values", "[jit]") {
  CHECK_THAT(printed("def f(ops: int, inf: int):\n    return ops + inf\n"), Contains("torch.add(ops0, inf0)"));
}

TEST_CASE("printed functions are a fixed point", "[jit]") {
  const std::vector<std::string> sources{
      "def f(self, x: Tensor, n: int):\n    y = x\n    while n > 0:\n        y = y * 2\n        n -= 1\n    return y\n",
      "def f(self, xs: List[int]):\n    out: List[Optional[int]] = []\n    for x in xs:\n        if x > 2:\n"
      "            out.append(x)\n        else:\n            out.append(None)\n    return out\n",
      "def f(self, d: Dict[str, Tuple[int, float]]):\n    s = 0.0\n    for k, v in d.items():\n        s += v[1] * "
      "v[0]\n"
      "    return s, {'a': [1.5, -0.0], 'b': [1e300]}\n",
      "def f(self, n: int):\n    for i in range(10):\n        if i > n:\n            break\n        if i % 2 == 1:\n"
      "            continue\n        n += i\n    return n\n"};
  for (const std::string& source : sources) {
    Module module("M");
    module.define(source);
    std::unordered_map<std::string, std::string> first, second;
    std::stringstream a, b;
    module.save(a);
    const Module one = load(a);
    jitModuleToPythonCodeAndConstants(one, &first, nullptr);
    one.save(b);
    jitModuleToPythonCodeAndConstants(load(b), &second, nullptr);
    CHECK(first == second);
  }
}

TEST_CASE("loops that stop early are printed as loops that count", "[jit]") {
  Reloaded f(
      "def f(self, n: int):\n    done: List[int] = []\n    for i in range(2, 20, 3):\n        if i > n:\n"
      "            break\n        done.append(i)\n    return done\n");
  CHECK(f({9}).toIntVector() == std::vector<int64_t>{2, 5, 8});
  CHECK(f({0}).toIntVector().empty());
}

TEST_CASE("a value that is None at first keeps its optional type", "[jit]") {
  Reloaded f(
      "def f(self, x: Tensor):\n    m: Optional[Tensor] = None\n    for i in range(x.size(0)):\n"
      "        if m is None:\n            m = x[i]\n        else:\n            m = torch.maximum(m, x[i])\n"
      "    assert m is not None\n    return m\n");
  CHECK(f({at::arange(4)}).toTensor().item<int64_t>() == 3);
}

TEST_CASE("evaluation keeps its order where lines are cut", "[jit]") {
  Reloaded f(
      "def f(self, xs: List[int]):\n"
      "    return [xs.pop(), xs.pop() * 1000000000 * 1000000000 + xs.pop() * 1000000000, xs.pop()]\n");
  CHECK(f({c10::List<int64_t>({4, 3, 0, 1})}).toIntVector() == std::vector<int64_t>{1, 3000000000, 4});
}

TEST_CASE("constants come back to the bit", "[jit]") {
  Reloaded f(
      "def f(self):\n"
      "    return (0.1, 1e22, 12345678901.0, -0.0, float('inf'), -9223372036854775807 - 1, 'é\\001\\n\"\\'\\\\', 1.5j, "
      "torch.device('cpu'), [1e-310], True)\n");
  const auto got = f({}).toTupleRef().elements();
  CHECK(got[0].toDouble() == 0.1);
  CHECK(got[1].toDouble() == 1e22);
  CHECK(got[2].toDouble() == 12345678901.0);
  CHECK((got[3].toDouble() == 0 && std::signbit(got[3].toDouble())));
  CHECK(std::isinf(got[4].toDouble()));
  CHECK(got[5].toInt() == std::numeric_limits<int64_t>::min());
  CHECK(got[6].toStringRef() == "é\x01\n\"'\\");
  CHECK(got[7].toComplexDouble() == c10::complex<double>(0, 1.5));
  CHECK(got[8].toDevice() == c10::Device(c10::kCPU));
  CHECK(got[9].toDoubleVector() == std::vector<double>{1e-310});
  CHECK(got[10].toBool());
}

TEST_CASE("what a program names can be asked for", "[jit]") {
  CHECK(printerHasSpecialCaseFor(c10::prim::ListConstruct));
  CHECK_FALSE(printerHasSpecialCaseFor(c10::aten::add));
}
