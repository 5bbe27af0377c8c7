// Small datasets, and what loaders make of them.
#pragma once

#include <torch/data.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace test {

/// 0, 10, 20, ...
struct Tens : torch::data::datasets::Dataset<Tens, int> {
  explicit Tens(size_t count) : count(count) {}
  int get(size_t index) override {
    return static_cast<int>(index) * 10;
  }
  std::optional<size_t> size() const override {
    return count;
  }
  size_t count;
};

using Batches = std::vector<std::vector<int>>;

/// The batches of one pass.
template <class Loader>
Batches pass(Loader& loader) {
  Batches batches;
  for (auto& batch : loader) {
    batches.push_back(batch);
  }
  return batches;
}

/// What a sampler gives until its end.
template <class Sampler>
std::vector<std::vector<size_t>> pass_of_sampler(Sampler& sampler, size_t batch_size) {
  std::vector<std::vector<size_t>> batches;
  while (auto batch = sampler.next(batch_size)) {
    batches.push_back(*batch);
  }
  return batches;
}

/// A folder that is gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "libtensor_data_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::filesystem::remove_all(path_);
  }
  const std::string& path() const {
    return path_;
  }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    return file.string();
  }
  static std::string read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  std::string path_;
};

} // namespace test
