// Operators on files and accelerators in programs.
#include <catch2/catch.hpp>

#include <csrc/serialize/pickle_file.h>
#include <torch/script.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

TEST_CASE("Programs save values, and packed sequences keep their fields", "[jit][ops]") {
  const auto unit = torch::jit::compile(R"(
def store(x: Tensor, file: str) -> int:
    torch.save({"x": x, "y": x + 1}, file)
    return 1
def packed(x: Tensor, sizes: Tensor):
    return torch._pack_sequence(x, sizes, None, None)
)");
  const std::string file =
      (std::filesystem::temp_directory_path() / ("saved_by_program_" + std::to_string(::getpid()) + ".pt")).string();
  const torch::Tensor x = torch::rand({3});
  CHECK(unit->run_method("store", x, file).toInt() == 1);
  const c10::IValue loaded = torch::serialize::load_pickle(file);
  std::remove(file.c_str());
  CHECK(torch::equal(loaded.toGenericDict().at("y").toTensor(), x + 1));

  const auto fields = unit->run_method("packed", x, torch::ones({3}, torch::kLong)).toTupleRef().elements();
  REQUIRE(fields.size() == 4);
  CHECK(torch::equal(fields[0].toTensor(), x));
  CHECK(fields[3].isNone());
}

TEST_CASE("Operators on CUDA devices have schemas and refuse in words without one", "[jit][ops]") {
  for (const char* name : {"_current_device", "_set_device", "synchronize", "device_count", "device_index"}) {
    CAPTURE(name);
    CHECK_FALSE(torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(std::string("cuda::") + name)).empty());
  }
  const auto ops = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString("cuda::_current_device"));
  if (!torch::cuda::is_available()) {
    torch::jit::Stack stack;
    CHECK_THROWS_AS(ops.at(0)->getOperation()(stack), c10::Error);
  }
}
