// Folders that are not as they should be.
#include <catch2/catch.hpp>

#include <test/llm/support.h>
#include <csrc/serialize/safetensors.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <unistd.h>

using namespace torch::llm;
namespace fs = std::filesystem;

namespace {

// A copy of a recorded model's folder, to be changed.
class FolderCopy {
 public:
  explicit FolderCopy(const std::string& name) : path_("/tmp/checkpoint_test." + std::to_string(getpid())) {
    fs::remove_all(path_);
    fs::copy(test::model_folder(name), path_);
  }
  ~FolderCopy() {
    fs::remove_all(path_);
  }

  std::string read(const std::string& file) const {
    std::ifstream stream(path_ / file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file, std::ios::binary) << text;
  }
  // Tensors of the file, changed and written back.
  template <class Change>
  void change_tensors(const Change& change) const {
    const std::string file = (path_ / "model.safetensors").string();
    torch::serialize::LoadOptions options;
    options.map = false;
    auto tensors = torch::serialize::load_safetensors(file, options).tensors.copy();
    change(tensors);
    torch::serialize::save_safetensors(tensors, file);
  }
  std::string message(const LoadOptions& options = {}) const {
    return test::message_of([&] { load(path_.string(), options); });
  }
  const fs::path& path() const {
    return path_;
  }

 private:
  fs::path path_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t place = text.find(from);
  REQUIRE(place != std::string::npos);
  return text.replace(place, from.size(), to);
}

} // namespace

using Catch::Contains;

TEST_CASE("missing and unexpected tensors are named", "[llm][checkpoint]") {
  const FolderCopy folder("llama");
  folder.change_tensors([](auto& tensors) {
    tensors.erase("model.layers.1.mlp.up_proj.weight");
    tensors.erase("model.norm.weight");
  });
  CHECK_THAT(
      folder.message(), Contains("lacks tensors") && Contains("model.layers.1.mlp.up_proj.weight, model.norm.weight"));
}

TEST_CASE("unexpected tensors are refused unless loading is not strict", "[llm][checkpoint]") {
  const FolderCopy folder("llama");
  folder.change_tensors([](auto& tensors) {
    tensors.insert("model.layers.0.extra", at::zeros({2}));
    tensors.insert("model.layers.0.self_attn.rotary_emb.inv_freq", at::zeros({3})); // of old files
  });
  CHECK_THAT(folder.message(), Contains("does not: model.layers.0.extra. LoadOptions::strict"));
  LoadOptions options;
  options.strict = false;
  CHECK(folder.message(options).empty());
}

TEST_CASE("tensors of another shape or dtype are refused by name", "[llm][checkpoint]") {
  const FolderCopy folder("llama");
  SECTION("shape") {
    folder.change_tensors([](auto& tensors) { tensors.insert_or_assign("model.norm.weight", at::zeros({23})); });
    CHECK_THAT(folder.message(), Contains("'model.norm.weight' has shape [23]") && Contains("[24]"));
  }
  SECTION("integers") {
    folder.change_tensors([](auto& tensors) {
      tensors.insert_or_assign("model.norm.weight", at::zeros({24}, at::TensorOptions(at::kInt)));
    });
    CHECK_THAT(folder.message(), Contains("must be floating point"));
  }
  SECTION("double needs a choice") {
    folder.change_tensors([](auto& tensors) {
      tensors.insert_or_assign("model.norm.weight", at::zeros({24}, at::TensorOptions(at::kDouble)));
    });
    CHECK_THAT(folder.message(), Contains("choose one with LoadOptions::dtype"));
    LoadOptions options;
    options.dtype = at::kFloat;
    CHECK(folder.message(options).empty());
  }
}

TEST_CASE("an index may not lead out of the folder", "[llm][checkpoint]") {
  const FolderCopy folder("llama_sharded");
  const std::string index = folder.read("model.safetensors.index.json");
  CHECK(folder.message().empty());
  const auto with = [&](const std::string& file) {
    folder.write("model.safetensors.index.json", replaced(index, "model-00001-of-0000", file));
    return folder.message();
  };
  CHECK_THAT(with("../model-00001-of-0000"), Contains("a shard must lie in the folder itself"));
  CHECK_THAT(with("/etc/model-00001-of-0000"), Contains("a shard must lie in the folder itself"));
  CHECK_FALSE(with("other-00001-of-0000").empty());
  folder.write("model.safetensors.index.json", R"({"weight_map": []})");
  CHECK_THAT(folder.message(), Contains("'weight_map' must be an object"));
}

TEST_CASE("an empty folder is refused with what it should hold", "[llm][checkpoint]") {
  const FolderCopy folder("llama");
  fs::remove(folder.path() / "model.safetensors");
  CHECK_THAT(folder.message(), Contains("neither model.safetensors nor"));
  fs::remove(folder.path() / "config.json");
  CHECK_THAT(folder.message(), Contains("a model's folder holds config.json"));
}

TEST_CASE("progress goes up to one", "[llm][checkpoint]") {
  std::vector<double> shares;
  LoadOptions options;
  options.progress = [&](double share) { shares.push_back(share); };
  test::load_recorded("llama", options);
  CHECK(shares == std::vector<double>{0.5, 1});
}

// Each mutation gives a model that runs or a c10::Error.
TEST_CASE("mutated folders give errors", "[llm][checkpoint]") {
  const std::string name = GENERATE("llama", "gemma3", "llama_sharded");
  const FolderCopy folder(name);
  const std::string file = GENERATE_COPY(
      std::string("config.json"),
      std::string(name == "llama_sharded" ? "model.safetensors.index.json" : "model.safetensors"));
  const std::string whole = folder.read(file);
  std::mt19937 random(11);
  const size_t reach = std::min<size_t>(whole.size(), 3000); // the header of safetensors
  int loaded = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text = whole;
    for (uint32_t i = 1 + random() % 3; i > 0; --i) {
      const size_t place = random() % reach;
      switch (random() % 4) {
        case 0:
          text[place] = static_cast<char>(random());
          break;
        case 1:
          text.erase(place, 1 + random() % 8);
          break;
        case 2:
          text.insert(place, std::string(1 + random() % 3, "0123456789-.e\"{}[],:n"[random() % 21]));
          break;
        default:
          text.resize(random() % 8 == 0 ? place : text.size());
      }
      text.resize(std::max(text.size(), reach), ' ');
    }
    fs::remove(folder.path() / file);
    folder.write(file, text);
    try {
      const auto model = load(folder.path().string());
      KVCache cache = model->make_cache();
      model->forward({1, 2, 3}, cache);
      ++loaded;
    } catch (const c10::Error&) {
    }
  }
  INFO(name << " " << file << ": " << loaded << " loaded");
  CHECK(loaded < 300);
}
