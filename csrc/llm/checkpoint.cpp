#include <csrc/llm/checkpoint.h>

#include <csrc/program/json.h>
#include <csrc/serialize/safetensors.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace torch::llm {

namespace {

namespace fs = std::filesystem;

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

using Tensors = std::map<std::string, at::Tensor>;

Tensors read_file(const fs::path& path) {
  const serialize::Safetensors file = serialize::load_safetensors(path.string());
  Tensors tensors;
  for (const auto& entry : file.tensors) {
    tensors.emplace(entry.key(), entry.value());
  }
  return tensors;
}

Tensors read_shards(const fs::path& folder, const fs::path& index) {
  std::ifstream stream(index, std::ios::binary);
  TORCH_CHECK(stream, "cannot read ", index.string());
  const auto json = program::Json::parse(std::string(std::istreambuf_iterator<char>(stream), {}), index.string());
  const program::Json* const map = json.find("weight_map");
  TORCH_CHECK(
      map && map->is_object(), index.string(), ": 'weight_map' must be an object of names of tensors and files");
  std::map<std::string, Tensors> shards;
  Tensors tensors;
  for (const auto& [name, value] : map->members()) {
    TORCH_CHECK(value.is_string(), index.string(), ": the file of '", name, "' must be a string");
    const std::string& file = value.as_string();
    TORCH_CHECK(
        !file.empty() && file.find('/') == std::string::npos && file.find('\0') == std::string::npos && file != "..",
        index.string(), ": '", name, "' lies in '", file, "': a shard must lie in the folder itself");
    auto shard = shards.find(file);
    if (shard == shards.end()) {
      shard = shards.emplace(file, read_file(folder / file)).first;
    }
    const auto found = shard->second.find(name);
    TORCH_CHECK(found != shard->second.end(), index.string(), ": '", name, "' is not in its shard ", file);
    tensors.emplace(name, found->second);
  }
  return tensors;
}

// The first few names, and how many more there are.
std::string list(const std::vector<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kShown ? text + " and " + std::to_string(names.size() - kShown) + " more" : text;
}

} // namespace

Checkpoint::Checkpoint(std::map<std::string, at::Tensor> tensors, std::string where) : where_(std::move(where)) {
  for (auto& [name, tensor] : tensors) {
    entries_.emplace(name, Entry{std::move(tensor), nullptr});
  }
}

void Checkpoint::add(const std::string& name, std::shared_ptr<const StoredWeight> weight) {
  entries_[name] = Entry{{}, std::move(weight)};
}

Checkpoint Checkpoint::open(const std::string& folder) {
  const fs::path root(folder), single = root / "model.safetensors", index = root / "model.safetensors.index.json";
  std::error_code error;
  if (fs::exists(single, error)) {
    return Checkpoint(read_file(single), single.string());
  }
  TORCH_CHECK(
      fs::exists(index, error), folder, " has neither model.safetensors nor model.safetensors.index.json",
      fs::exists(root / "pytorch_model.bin", error) ? ", only pytorch_model.bin: save the model as safetensors" : "");
  return Checkpoint(read_shards(root, index), index.string());
}

std::vector<std::string> Checkpoint::names_with_end(const std::string& end) const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (ends_with(name, end)) {
      names.push_back(name);
    }
  }
  return names;
}

at::Tensor Checkpoint::remove(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return {};
  }
  const at::Tensor tensor = found->second.tensor;
  entries_.erase(found);
  return tensor;
}

std::string Checkpoint::prefix_of(const std::string& suffix) const {
  for (const auto& [name, entry] : entries_) {
    if (ends_with(name, suffix) && (name.size() == suffix.size() || name[name.size() - suffix.size() - 1] == '.')) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  TORCH_CHECK(false, where_, " has no tensor whose name ends with '", suffix, "'");
}

const Checkpoint::Entry* Checkpoint::find(const std::string& name, at::IntArrayRef shape) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    return nullptr;
  }
  const Entry& entry = found->second;
  const std::vector<int64_t> sizes = entry.stored ? entry.stored->sizes() : entry.tensor.sizes().vec();
  TORCH_CHECK(
      at::IntArrayRef(sizes) == shape, where_, ", tensor '", name, "' has shape ", at::IntArrayRef(sizes),
      ": the config asks for ", shape);
  taken_.insert(name);
  return &entry;
}

at::Tensor Checkpoint::take(const std::string& name, at::IntArrayRef shape) {
  const Entry* const entry = find(name, shape);
  if (!entry) {
    missing_.push_back(name);
    return {};
  }
  at::Tensor tensor = entry->stored ? entry->stored->tensor() : entry->tensor;
  TORCH_CHECK(
      tensor.is_floating_point(), where_, ", tensor '", name, "' has dtype ", tensor.scalar_type(),
      ": it must be floating point");
  return tensor;
}

at::quantized::PackedWeight Checkpoint::take_packed(const std::string& name, at::IntArrayRef shape) {
  const Entry* const entry = find(name, shape);
  return entry && entry->stored ? entry->stored->packed() : at::quantized::PackedWeight();
}

void Checkpoint::ignore(const std::string& name_or_end) {
  ignored_.push_back(name_or_end);
}

void Checkpoint::finish(const std::string& prefix, bool strict) const {
  TORCH_CHECK(missing_.empty(), where_, " lacks tensors that the model needs: ", list(missing_));
  std::vector<std::string> unexpected;
  for (const auto& [name, entry] : entries_) {
    const bool is_known = taken_.count(name) > 0 || name.compare(0, prefix.size(), prefix) != 0 ||
        std::any_of(ignored_.begin(), ignored_.end(), [&](const std::string& end) { return ends_with(name, end); });
    if (!is_known) {
      unexpected.push_back(name);
    }
  }
  TORCH_CHECK(
      !strict || unexpected.empty(), where_, " has tensors that a model of this config does not: ", list(unexpected),
      ". LoadOptions::strict = false ignores them");
}

} // namespace torch::llm
