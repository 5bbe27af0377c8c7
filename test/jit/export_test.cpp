// Modules saved and loaded again.
#include <catch2/catch.hpp>

#include <aten/Functions.h>
#include <csrc/jit/serialize/export.h>
#include <csrc/jit/serialize/import.h>
#include <csrc/jit/serialize/save_load.h>
#include <csrc/serialize/pickle_bytes.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <streambuf>
#include <string>
#include <vector>

using namespace torch::jit;
using Catch::Contains;

namespace {

Module linear_like() {
  Module module("Scale");
  module.register_parameter("weight", at::full({2, 2}, 3.0).requires_grad_(), false);
  module.register_buffer("steps", at::zeros({}, at::kLong));
  module.register_attribute("names", c10::ListType::create(c10::StringType::get()), c10::List<std::string>({"a", "b"}));
  module.define(R"(
def forward(self, x: Tensor, k: int = 2, name: str = "quo\"te\\"):
    self.steps += 1
    y = x * self.weight
    for i in range(k):
        if i % 2 == 0:
            y = y + i
        else:
            y = y - 1.5
    return y, len(self.names), name
)");
  return module;
}

Module reloaded(const Module& module, ExtraFilesMap extra = {}) {
  std::stringstream file;
  module.save(file, extra);
  return load(file);
}

std::filesystem::path new_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "export_test.XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()));
  return pattern;
}

// Takes some bytes, then no more.
class FullBuffer : public std::streambuf {
 public:
  explicit FullBuffer(std::streamsize room) : room_(room) {}

 protected:
  std::streamsize xsputn(const char*, std::streamsize n) override {
    const std::streamsize taken = std::min(n, room_);
    room_ -= taken;
    return taken;
  }
  int overflow(int c) override {
    return room_-- > 0 ? c : traits_type::eof();
  }

 private:
  std::streamsize room_;
};

} // namespace

TEST_CASE("a saved module gives the same results", "[jit]") {
  Module module = linear_like();
  Module copy = reloaded(module);
  const at::Tensor x = at::ones({2, 2});
  const auto want = module.forward({x, 5}).toTupleRef().elements();
  const auto got = copy.forward({x, 5}).toTupleRef().elements();
  CHECK(at::equal(want[0].toTensor(), got[0].toTensor()));
  CHECK(got[1] == want[1]);
  CHECK(got[2].toStringRef() == "quo\"te\\");
  CHECK(copy.attr("weight").toTensor().requires_grad());
  CHECK(copy.attr("steps").toTensor().item<int64_t>() == 1);
  CHECK(copy.buffers().size() == 1);
}

TEST_CASE("tensors and objects that are shared stay shared in a file", "[jit]") {
  Module inner("Inner");
  const at::Tensor base = at::arange(12, at::kFloat);
  inner.register_buffer("base", base);
  inner.register_buffer("row", base.view({3, 4})[1]);
  Module outer("Outer");
  outer.register_module("first", inner);
  outer.register_module("second", inner);
  outer.register_buffer("same", base);
  const c10::List<int64_t> list({1, 2});
  outer.register_attribute("a", c10::ListType::ofInts(), list);
  outer.register_attribute("b", c10::ListType::ofInts(), list);
  const Module copy = reloaded(outer);
  const Module first(copy.attr("first").toObject()), second(copy.attr("second").toObject());
  CHECK(first == second);
  CHECK(copy.attr("same").toTensor().is_same(first.attr("base").toTensor()));
  first.attr("base").toTensor().fill_(7);
  CHECK(at::equal(first.attr("row").toTensor(), at::full({4}, 7.0f)));
  CHECK(copy.attr("a").is(copy.attr("b")));
}

TEST_CASE("files beside a program are saved with it", "[jit]") {
  std::stringstream file;
  linear_like().save(file, {{"notes.txt", "hello"}, {"a/b", std::string("\0\1", 2)}});
  ExtraFilesMap extra{{"notes.txt", ""}, {"a/b", ""}};
  load(file, std::nullopt, extra);
  CHECK(extra["notes.txt"] == "hello");
  CHECK(extra["a/b"] == std::string("\0\1", 2));
}

TEST_CASE("a stream that is full makes save() throw", "[jit]") {
  for (const std::streamsize room : {0, 1, 100, 1000}) {
    FullBuffer buffer(room);
    std::ostream stream(&buffer);
    CHECK_THROWS_WITH(linear_like().save(stream), Contains("writing to the stream failed"));
  }
  const auto refuse = [](const void*, size_t) -> size_t { return 0; };
  CHECK_THROWS_AS(ExportModule(linear_like(), refuse), c10::Error);
}

TEST_CASE("a save that fails leaves the older file as it was", "[jit]") {
  const std::filesystem::path folder = new_folder();
  const std::string path = (folder / "model.pt").string();
  torch::save(linear_like(), path);
  const auto size = std::filesystem::file_size(path);
  Module bad("Bad");
  bad.register_attribute(
      "f", c10::FutureType::create(c10::IntType::get()), c10::make_intrusive<c10::ivalue::Future>(c10::IntType::get()));
  CHECK_THROWS_WITH(torch::save(bad, path), Contains("Unknown IValue type for pickling: Future"));
  CHECK(std::filesystem::file_size(path) == size);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator()) == 1);
  Module again;
  torch::load(again, path);
  CHECK(again.hasattr("weight"));
  CHECK_THROWS_AS(linear_like().save((folder / "none" / "model.pt").string()), c10::Error);
  std::filesystem::remove_all(folder);
}

TEST_CASE("attributes whose names are no identifiers are saved", "[jit]") {
  Module list("ListOfModules");
  list.register_module("0", linear_like());
  list.register_buffer("if", at::ones({1}));
  Module copy = reloaded(list);
  CHECK(Module(copy.attr("0").toObject()).forward({at::ones({2, 2})}).isTuple());
  CHECK(copy.attr("if").toTensor().item<float>() == 1);
}

TEST_CASE("classes of one name get different ones in a file", "[jit]") {
  Module outer("Outer");
  for (int i = 0; i < 3; ++i) {
    Module inner("Inner");
    inner.register_attribute("n", c10::IntType::get(), i);
    inner.define("def forward(self):\n    return self.n * " + std::to_string(i + 1) + "\n");
    outer.register_module("m" + std::to_string(i), inner);
  }
  Module copy = reloaded(outer);
  for (int i = 0; i < 3; ++i) {
    CHECK(Module(copy.attr("m" + std::to_string(i)).toObject()).forward({}).toInt() == i * (i + 1));
  }
}

TEST_CASE("a loaded module can be saved again, and gives the same file", "[jit]") {
  std::stringstream first, second, third;
  linear_like().save(first);
  load(first).save(second);
  load(second).save(third);
  CHECK(second.str() == third.str());
}

TEST_CASE("archives for the mobile interpreter are refused", "[jit]") {
  std::stringstream file;
  CHECK_THROWS_WITH(linear_like()._save_for_mobile(file), Contains("mobile"));
  CHECK_THROWS_WITH(ExportModule(linear_like(), file, {}, true), Contains("mobile"));
}
