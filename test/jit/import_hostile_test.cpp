// torch::jit::load of archives that are wrong.
#include <catch2/catch.hpp>

#include <torch/script.h>

#include <csrc/serialize/stream_writer.h>

#include <sstream>
#include <string>

namespace {

using Catch::Matchers::Contains;
using torch::jit::Module;

// An archive with this source and this pickle.
std::string archive(const std::string& source, const std::string& data) {
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* part, size_t size) {
    bytes.append(static_cast<const char*>(part), size);
    return size;
  });
  const std::string constants("\x80\x02).", 4);
  writer.writeRecord("data.pkl", data.data(), data.size());
  writer.writeRecord("code/__torch__.py", source.data(), source.size());
  writer.writeRecord("constants.pkl", constants.data(), constants.size());
  writer.writeEndOfFile();
  return bytes;
}

std::string text(const std::string& value) {
  return std::string("X") + static_cast<char>(value.size()) + std::string(3, '\0') + value;
}

// The pickle of an object whose state is a dict of these items.
std::string object(const std::string& name, const std::string& items) {
  return std::string("\x80\x02", 2) + "c__torch__\n" + name + "\n)\x81}(" + items + "ub.";
}

Module load(const std::string& source, const std::string& data) {
  std::istringstream stream(archive(source, data));
  return torch::jit::load(stream);
}

std::string load_error(const std::string& source, const std::string& data) {
  try {
    load(source, data);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

std::string call_error(Module module) {
  try {
    module.forward({});
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "";
}

constexpr const char* kClass = "class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  n : int\n";

TEST_CASE("An archive made by hand loads", "[jit]") {
  const Module module = load(kClass, object("M", text("n") + "K\x05"));
  CHECK(module.attr("n").toInt() == 5);
}

TEST_CASE("A pickle must give each attribute a value of its type", "[jit]") {
  CHECK_THAT(load_error(kClass, object("M", "")), Contains("has no value for its attribute 'n'"));
  CHECK_THAT(
      load_error(kClass, object("M", text("n") + text("five"))),
      Contains("attribute 'n'") && Contains("expected a value of type int"));
  const std::string list = "class M(Module):\n  n : List[Tuple[int, str]]\n";
  // [(1, 2)]
  CHECK_THAT(
      load_error(
          list,
          object(
              "M",
              text("n") +
                  "](K\x01K\x02\x86"
                  "e")),
      Contains("attribute 'n'"));
}

TEST_CASE("A pickle must not name what the source does not define", "[jit]") {
  CHECK_THAT(load_error(kClass, object("Other", "")), Contains("Unknown type name '__torch__.Other'"));
  CHECK_THAT(
      load_error("class M(Module):\n  n : __torch__.a.b.C\n", object("M", "")),
      Contains("Unknown type name '__torch__.a.b.C'"));
}

TEST_CASE("A pickle must hold a module", "[jit]") {
  CHECK_THAT(load_error(kClass, std::string("\x80\x02K\x01.", 5)), Contains("must hold a module"));
  CHECK_THAT(load_error("class M:\n  n : int\n", object("M", text("n") + "K\x01")), Contains("must hold a module"));
}

TEST_CASE("An object cannot contain itself", "[jit]") {
  const std::string source = "class M(Module):\n  n : Optional[__torch__.M]\n";
  const std::string data = std::string("\x80\x02", 2) + "c__torch__\nM\n)\x81q\x01}(" + text("n") + "h\x01ub.";
  CHECK_THAT(load_error(source, data), Contains("stands where a value must stand"));
}

TEST_CASE("Code that does not parse is an error of the call", "[jit]") {
  const std::string source = std::string(kClass) + "  def forward(self: __torch__.M) -> int:\n    return (1 +\n";
  CHECK(!call_error(load(source, object("M", text("n") + "K\x01"))).empty());
  CHECK(!load_error("class M(Module:\n", object("M", "")).empty());
  CHECK_THAT(load_error("something\n", object("M", "")), Contains("begins with a class or a function"));
}

TEST_CASE("A method that failed to compile fails again in the same words", "[jit]") {
  const std::string source =
      std::string(kClass) + "  def forward(self: __torch__.M) -> int:\n    return torch.no_such_operator(1)\n";
  const Module module = load(source, object("M", text("n") + "K\x01"));
  const std::string first = call_error(module);
  CHECK_THAT(first, Contains("no_such_operator") && Contains("code/__torch__.py"));
  CHECK(call_error(module) == first);
}

TEST_CASE("Functions that call each other end in an error", "[jit]") {
  std::string source = std::string(kClass) + "  def forward(self: __torch__.M) -> int:\n    return __torch__.f0(1)\n";
  SECTION("in a circle") {
    source += "def f0(n: int) -> int:\n  return __torch__.f1(n)\ndef f1(n: int) -> int:\n  return __torch__.f0(n)\n";
    CHECK_THAT(call_error(load(source, object("M", text("n") + "K\x01"))), Contains("called recursively"));
  }
  SECTION("in a long chain") {
    for (int i = 0; i < 30000; ++i) {
      const std::string name = "f" + std::to_string(i), next = "f" + std::to_string(i + 1);
      source += "def " + name + "(n: int) -> int:\n  return __torch__." + next + "(n)\n";
    }
    CHECK_THAT(call_error(load(source, object("M", text("n") + "K\x01"))), Contains("nested too deeply"));
  }
}

TEST_CASE("Classes that name each other in a long chain end in an error", "[jit]") {
  std::string source = "class M(Module):\n  n : __torch__.C0\n";
  for (int i = 0; i < 100000; ++i) {
    source += "class C" + std::to_string(i) + ":\n  n : __torch__.C" + std::to_string(i + 1) + "\n";
  }
  CHECK_THAT(load_error(source, object("M", "")), Contains("nested too deeply"));
}

TEST_CASE("A class with very many attributes takes no time to speak of", "[jit]") {
  std::string source = "class M(Module):\n";
  for (int i = 0; i < 100000; ++i) {
    source += "  a" + std::to_string(i) + " : int\n";
  }
  CHECK_THAT(load_error(source, object("M", "")), Contains("far more work than its length explains"));
}

} // namespace

TEST_CASE("Archives of PyTorch 1.0 to 1.3 are refused in PyTorch's words", "[jit]") {
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* part, size_t size) {
    bytes.append(static_cast<const char*>(part), size);
    return size;
  });
  const std::string model = R"({"protoVersion":"1","mainModule":{"torchscriptArena":{"key":"code/m.py"},"name":"M"}})";
  writer.writeRecord("model.json", model.data(), model.size());
  writer.writeEndOfFile();
  std::istringstream stream(bytes);
  CHECK_THROWS_WITH(torch::jit::load(stream), Contains("Legacy model format is not supported on mobile."));
}
