// torch::jit::load of archives that PyTorch wrote: tools/peer/torchscript_fixtures makes them.
#include <catch2/catch.hpp>

#include <torch/script.h>

#include <csrc/jit/serialize/storage_context.h>
#include <csrc/serialize/stream_reader.h>
#include <csrc/serialize/stream_writer.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <thread>

namespace {

using Catch::Matchers::Contains;
using torch::IValue;
using torch::jit::ExtraFilesMap;
using torch::jit::Module;

std::string archive(const std::string& name) {
  return std::string(TEST_JIT_DATA) + "/import/" + name + ".pt";
}

bool same(const torch::Tensor& got, const torch::Tensor& want) {
  return got.scalar_type() == want.scalar_type() && torch::equal(got, want);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("A loaded module has its parameters, buffers, constants and modules", "[jit]") {
  const Module module = torch::jit::load(archive("kinds"));
  CHECK(module.type()->name()->qualifiedName() == "__torch__.Kinds");
  std::vector<std::string> names;
  for (const auto& parameter : module.named_parameters()) {
    names.push_back(parameter.name);
    CHECK(parameter.value.requires_grad());
  }
  CHECK(names == std::vector<std::string>{"hooked.weight", "layers.0.weight", "layers.1.weight"});
  CHECK(module.buffers().size() == 3);
  CHECK(module.is_training());
  CHECK(module.attr("sizes").toTupleRef().elements()[1].toInt() == 2);
  CHECK(module.attr("limit").toDouble() == std::numeric_limits<double>::infinity());
  CHECK(module.attr("target").toDevice() == torch::kCPU);
  CHECK(module.attr("color").toEnumHolder()->name() == "GREEN");
  CHECK(Module(module.attr("hooked").toObject()).attr("k").toInt() == 7);
}

TEST_CASE("A loaded method runs: hooks, classes, properties, interfaces, enumerations, named tuples, fork", "[jit]") {
  Module module = torch::jit::load(archive("kinds"));
  const IValue result = module.forward({torch::tensor({1.0, 2.0}, torch::kFloat)});
  const auto& elements = result.toTupleRef().elements();
  CHECK(same(elements[0].toTensor(), torch::tensor({58.5, 152.0}, torch::kFloat)));
  CHECK(elements[1].toTupleRef().type()->annotation_str() == "__torch__.Point");
  CHECK(elements[1].toTupleRef().elements()[2].toStringRef() == "second");
  CHECK(elements[2].toEnumHolder()->qualifiedClassName() == "__torch__.Color");
  CHECK(module.run_method("text").toStringRef() == "5");
  CHECK(module.get_method("text")({IValue(3)}, {{"s", IValue("q")}}).toStringRef() == "q");
  CHECK(Module(module.attr("hooked").toObject()).type()->getForwardHooks().size() == 2);
}

TEST_CASE("Attributes have the types of their class, and what was shared is shared", "[jit]") {
  Module module = torch::jit::load(archive("values"));
  CHECK(module.attr("ints").type()->annotation_str() == "List[int]");
  CHECK(module.attr("nested").type()->annotation_str() == "Dict[str, List[Tuple[int, str]]]");
  CHECK(module.attr("mixed").toTupleRef().elements()[3].toComplexDouble() == c10::complex<double>(0, 4));
  const IValue result = module.forward({});
  const auto& elements = result.toTupleRef().elements();
  CHECK(elements[0].toInt() == 3);
  CHECK(elements[1].toInt() == 21);
  CHECK(elements[2].toStringRef() == "p");
  CHECK(module.attr("tensors").toTensorVector()[3].sizes() == torch::IntArrayRef{0});
}

TEST_CASE("__setstate__ makes an object from what __getstate__ gave", "[jit]") {
  Module module = torch::jit::load(archive("packed"));
  CHECK(module.attr("count").toInt() == 4);
  CHECK(same(module.forward({}).toTensor(), torch::full({2}, 4.0f)));
}

TEST_CASE("Constants of a program come from its table", "[jit]") {
  Module module = torch::jit::load(archive("constant"));
  CHECK(same(module.forward({torch::ones(2)}).toTensor(), torch::tensor({11.0, 21.0}, torch::kFloat)));
}

TEST_CASE("Operators of an old archive do what they did when it was written", "[jit]") {
  Module module = torch::jit::load(archive("version_3"));
  const IValue result = module.forward({torch::tensor({7, -7}), torch::tensor({2, 2})});
  const auto& elements = result.toTupleRef().elements();
  CHECK(same(elements[0].toTensor(), torch::tensor({3, -3})));
  CHECK(same(elements[1].toTensor(), torch::tensor({3, -3})));
  CHECK(same(elements[2].toTensor(), torch::ones(2)));
  CHECK(torch::allclose(elements[3].toTensor(), torch::tensor({7.0, 0.0}, torch::kFloat)));
  CHECK(elements[4].toDouble() == 2.5);
  CHECK(same(elements[5].toTensor(), torch::tensor({3, -4})));
}

TEST_CASE("An error of a loaded program shows its code and where that came from", "[jit]") {
  Module module = torch::jit::load(archive("raises"));
  const std::string message = error_of([&] { module.forward({IValue(3)}); });
  CHECK_THAT(message, Contains("Traceback of TorchScript, serialized code (most recent call last):"));
  CHECK_THAT(message, Contains("  File \"code/__torch__.py\", line 12, in "));
  CHECK_THAT(message, Contains("Traceback of TorchScript, original code (most recent call last):"));
  CHECK_THAT(message, Contains("raise ValueError(f\"too many: {n}\")"));
  CHECK_THAT(message, Contains("builtins.ValueError: too many: 3"));

  Module without = torch::jit::load(archive("raises"), torch::kCPU, /*load_debug_files=*/false);
  const std::string shorter = error_of([&] { without.forward({IValue(3)}); });
  CHECK_THAT(shorter, Contains("Traceback of TorchScript (most recent call last):"));
  CHECK_THAT(shorter, !Contains("original code"));
}

TEST_CASE("Files beside the program are read by name", "[jit]") {
  ExtraFilesMap files{{"notes.txt", ""}, {"other.txt", "as it was"}};
  torch::jit::load(archive("kinds"), std::nullopt, files);
  CHECK(files["notes.txt"] == "some notes");
  CHECK(files["other.txt"] == "as it was");
}

TEST_CASE("A stream and an adapter load as the file does", "[jit]") {
  std::optional<Module> module;
  {
    std::ifstream stream(archive("kinds"), std::ios::binary);
    module = torch::jit::load(stream);
  }
  CHECK(module->forward({torch::ones(2)}).isTuple());
  const auto adapter = std::make_shared<caffe2::serialize::FileAdapter>(archive("kinds"));
  CHECK(torch::jit::load(adapter).forward({torch::ones(2)}).isTuple());
}

TEST_CASE("Tensors go to the device that is asked for", "[jit]") {
  const Module module = torch::jit::load(archive("kinds"), torch::kMeta);
  for (const torch::Tensor& parameter : module.parameters()) {
    CHECK(parameter.is_meta());
  }
}

TEST_CASE("A file that changes in memory does not change on disk", "[jit]") {
  {
    Module module = torch::jit::load(archive("kinds"));
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& parameter : module.parameters()) {
      parameter.zero_();
    }
  }
  const Module again = torch::jit::load(archive("kinds"));
  CHECK(same(*again.parameters().begin(), torch::tensor({1.0, 2.0}, torch::kFloat)));
}

TEST_CASE("Methods are compiled by whoever calls them first, on any thread", "[jit]") {
  Module module = torch::jit::load(archive("kinds"));
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const IValue result = module.forward({torch::tensor({1.0, 2.0}, torch::kFloat)});
      good += torch::allclose(result.toTupleRef().elements()[0].toTensor(), torch::tensor({58.5f, 152.0f}));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(good == 8);
}

TEST_CASE("A program may join others in a compilation unit", "[jit]") {
  const auto unit = std::make_shared<torch::jit::CompilationUnit>();
  torch::jit::import_ir_module(unit, archive("packed"));
  CHECK(unit->get_class("__torch__.Packed"));
  CHECK(torch::jit::import_ir_module(unit, archive("raises")).get_method("forward").name() == "forward");
}

TEST_CASE("What is no archive of a module is refused in words", "[jit]") {
  const auto load_text = [](const std::string& bytes) {
    std::istringstream stream(bytes);
    torch::jit::load(stream);
  };
  CHECK_THROWS_AS(torch::jit::load("/no/such/file.pt"), c10::Error);
  CHECK_THROWS_AS(load_text(""), c10::Error);
  CHECK_THROWS_AS(load_text(std::string(1000, 'x')), c10::Error);
  const std::vector<char> pickled = torch::pickle_save(torch::ones(2));
  CHECK_THAT(
      error_of([&] { load_text(std::string(pickled.begin(), pickled.end())); }),
      Contains("failed locating file constants.pkl") && Contains("torch::pickle_load"));
}

} // namespace

TEST_CASE("Programs in a file of torch.package are read", "[jit]") {
  // A program's archive with its records where a package has them.
  Module net("Net");
  net.register_parameter("weight", torch::ones({3}), false);
  net.define("def forward(self, x: Tensor) -> Tensor:\n    return x * self.weight + torch.tensor([1., 2., 3.])\n");
  std::stringstream single;
  net.save(single);
  caffe2::serialize::PyTorchStreamReader archive(&single);
  std::string bytes;
  caffe2::serialize::PyTorchStreamWriter writer([&](const void* part, size_t size) {
    bytes.append(static_cast<const char*>(part), size);
    return size;
  });
  for (const std::string& name : archive.getAllRecords()) {
    const auto [data, size] = archive.getRecord(name);
    std::string moved = ".data/ts_code/" + name;
    if (name.rfind("data/", 0) == 0) {
      moved = ".data/" + name.substr(5);
    } else if (name.find(".pkl") != std::string::npos && name.find('/') == std::string::npos) {
      moved = ".data/ts_code/0/" + name;
    }
    if (name.rfind(".data/", 0) != 0 && name != "version" && name != "byteorder") {
      writer.writeRecord(moved, data.get(), size);
    }
  }
  writer.writeEndOfFile();
  std::istringstream package(bytes);
  const auto reader = std::make_shared<caffe2::serialize::PyTorchStreamReader>(&package);
  const auto storages = std::make_shared<torch::jit::DeserializationStorageContext>();
  Module loaded = torch::jit::import_ir_module(
      std::make_shared<torch::jit::CompilationUnit>(), reader, storages, std::nullopt, "0");
  CHECK(loaded.forward({torch::ones({3})}).toTensor().equal(torch::tensor({2.0, 3.0, 4.0})));
  CHECK_THROWS_WITH(
      torch::jit::import_ir_module(
          std::make_shared<torch::jit::CompilationUnit>(), reader, storages, std::nullopt, "1"),
      Catch::Contains("failed locating file .data/ts_code/1/data.pkl"));
}
