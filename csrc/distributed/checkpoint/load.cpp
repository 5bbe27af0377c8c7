// Reading a checkpoint: each rank copies what its parts and those of the files have in common.
#include <csrc/distributed/checkpoint/checkpoint.h>

#include <aten/Functions.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/serialize/file_bytes.h>
#include <csrc/serialize/tensor_file.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <unordered_map>

namespace torch::distributed::checkpoint {

namespace {

using c10::IValue;
using c10::impl::GenericDict;
namespace fs = std::filesystem;

class Folder {
 public:
  explicit Folder(const std::string& folder) : folder_(folder) {
    std::error_code error;
    fs::path path = fs::absolute(folder).lexically_normal();
    path = path.has_filename() ? path : path.parent_path();
    const fs::path old = path.parent_path() / ("." + path.filename().string() + ".old");
    if (!fs::exists(path, error) && fs::exists(old / ".metadata", error)) {
      path = old; // a save ended between two renames
    }
    folder_ = path.string();
    TORCH_CHECK(
        fs::exists(path / ".metadata", error), "checkpoint::load: '", folder,
        "' is no checkpoint: it has no file .metadata");
    const auto bytes = serialize::FileBytes::map(folder_ + "/.metadata");
    metadata_ = read_metadata(
        std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), folder_ + "/.metadata");
    for (const auto& entry : metadata_.entries) {
      by_name_[entry.name] = &entry;
    }
  }

  const StoredEntry* find(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const StoredEntry& at(const std::string& name) const {
    const auto* entry = find(name);
    TORCH_CHECK(entry != nullptr, "Missing key in checkpoint state_dict: ", name, ".");
    return *entry;
  }
  const Metadata& metadata() const {
    return metadata_;
  }

  IValue read(const StoredBytes& place) {
    auto found = files_.find(place.file);
    if (found == files_.end()) {
      found = files_.emplace(place.file, serialize::FileBytes::map(folder_ + "/" + place.file)).first;
    }
    const auto& file = found->second;
    const auto size = static_cast<int64_t>(file.size());
    TORCH_CHECK(
        place.offset <= size && place.length <= size - place.offset, file.name(), ": it has ", size,
        " bytes, but bytes ", place.offset, " to ", place.offset + place.length, " are wanted: it is cut off");
    return serialize::read_tensor_file(
               serialize::FileBytes::view(file.data() + place.offset, static_cast<size_t>(place.length)), c10::kCPU,
               /*verify=*/true)
        .value;
  }

  // The box of the stored tensor that begins at `offsets`, into `to`.
  void read_box(const StoredEntry& entry, c10::IntArrayRef offsets, at::Tensor to) {
    const auto& stored = std::get<StoredTensor>(entry.content);
    int64_t copied = 0;
    for (const auto& chunk : stored.chunks) {
      std::vector<int64_t> begin(offsets.size()), length(offsets.size());
      bool meets = true;
      for (size_t d = 0; d < offsets.size(); ++d) {
        begin[d] = std::max(offsets[d], chunk.offsets[d]);
        length[d] =
            std::min(offsets[d] + to.size(static_cast<int64_t>(d)), chunk.offsets[d] + chunk.sizes[d]) - begin[d];
        meets = meets && length[d] > 0;
      }
      if (!meets) {
        continue;
      }
      const IValue value = read(chunk.bytes);
      TORCH_CHECK(
          value.isTensor() && value.toTensor().sizes() == c10::IntArrayRef(chunk.sizes), folder_, ": ",
          chunk.bytes.file, " has at ", chunk.bytes.offset, " no tensor of sizes ", c10::IntArrayRef(chunk.sizes),
          " for ", entry.name);
      at::Tensor source = value.toTensor();
      at::Tensor target = to;
      for (size_t d = 0; d < offsets.size(); ++d) {
        const auto dim = static_cast<int64_t>(d);
        source = source.narrow(dim, begin[d] - chunk.offsets[d], length[d]);
        target = target.narrow(dim, begin[d] - offsets[d], length[d]);
      }
      target.copy_(source);
      copied += source.numel();
    }
    TORCH_CHECK(
        copied >= to.numel(), folder_, ": the parts of ", entry.name, " that are there do not fill ", to.sizes(),
        ": only ", copied, " of ", to.numel(), " elements");
  }

 private:
  std::string folder_;
  Metadata metadata_;
  std::unordered_map<std::string, const StoredEntry*> by_name_;
  std::map<std::string, serialize::FileBytes> files_;
};

const StoredTensor& tensor_of(const StoredEntry& entry) {
  const auto* tensor = std::get_if<StoredTensor>(&entry.content);
  TORCH_CHECK(tensor != nullptr, "checkpoint::load: ", entry.name, " is no tensor in the checkpoint");
  return *tensor;
}

void check_sizes(const StoredEntry& entry, c10::IntArrayRef wanted) {
  const auto& stored = tensor_of(entry);
  TORCH_CHECK_VALUE(
      c10::IntArrayRef(stored.sizes) == wanted, "Size mismatch between saved ", c10::IntArrayRef(stored.sizes),
      " and current: ", wanted, " for ", entry.name);
}

// A field of a parameter's state: cut as the parameter is, where it has its sizes.
at::Tensor read_field(Folder& folder, const StoredEntry& entry, const at::Tensor& param) {
  const auto& stored = tensor_of(entry);
  const auto shard = dtensor_of(param);
  std::vector<int64_t> offsets(stored.sizes.size(), 0);
  std::vector<int64_t> sizes = stored.sizes;
  if (shard && shard->sizes() == c10::IntArrayRef(stored.sizes)) {
    const auto part = shard->part();
    offsets = part.offsets;
    sizes = part.sizes;
  }
  // As large as a parameter or of one element: a file that says more is refused before memory is asked for.
  TORCH_CHECK_VALUE(
      c10::IntArrayRef(sizes) == param.sizes() || c10::multiply_integers(sizes) <= std::max<int64_t>(1, param.numel()),
      "Size mismatch between saved ", c10::IntArrayRef(stored.sizes), " and current: ", param.sizes(), " for ",
      entry.name);
  auto value = at::empty(sizes, at::TensorOptions(stored.dtype));
  folder.read_box(entry, offsets, value);
  return value;
}

IValue read_optimizer(Folder& folder, const State::OptimizerEntry& of) {
  std::unordered_map<std::string, std::vector<const StoredEntry*>> by_parameter;
  for (const auto& entry : folder.metadata().entries) {
    const std::string prefix = of.name + ".state.";
    const size_t dot = entry.name.rfind('.');
    if (entry.name.rfind(prefix, 0) == 0 && dot >= prefix.size()) {
      by_parameter[entry.name.substr(prefix.size(), dot - prefix.size())].push_back(&entry);
    }
  }
  GenericDict state(c10::IntType::get(), c10::AnyType::get());
  c10::impl::GenericList groups(c10::AnyType::get());
  size_t number = 0;
  for (const auto& group : of.optimizer->param_groups()) {
    c10::List<int64_t> numbers;
    for (const auto& param : group.params()) {
      GenericDict fields(c10::StringType::get(), c10::AnyType::get());
      for (const auto* entry : by_parameter[of.parameters[number]]) {
        const std::string key = entry->name.substr(entry->name.rfind('.') + 1);
        const auto* bytes = std::get_if<StoredBytes>(&entry->content);
        fields.insert(key, bytes ? folder.read(*bytes) : IValue(read_field(folder, *entry, param)));
      }
      if (!fields.empty()) {
        state.insert(static_cast<int64_t>(number), fields);
      }
      numbers.push_back(static_cast<int64_t>(number++));
    }
    const IValue options = group.options().state_dict();
    options.toGenericDict().insert(std::string("params"), numbers);
    groups.push_back(options);
  }
  if (const auto* entry = folder.find(of.name + ".param_groups")) {
    const IValue saved = folder.read(std::get<StoredBytes>(entry->content));
    TORCH_CHECK_VALUE(
        saved.isList() && saved.toListRef().size() == groups.size(),
        "loaded state dict has a different number of parameter groups: ", of.name, " has ", groups.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto fields = saved.toListRef()[g].toGenericDict().copy();
      fields.insert_or_assign(std::string("params"), groups.get(g).toGenericDict().at(std::string("params")));
      groups.set(g, fields);
    }
  }
  GenericDict whole(c10::StringType::get(), c10::AnyType::get());
  whole.insert(std::string("state"), state);
  whole.insert(std::string("param_groups"), groups);
  return whole;
}

} // namespace

void load(const State& state, const std::string& path) {
  const c10::NoGradGuard no_grad;
  Folder folder(path);
  for (const auto& entry : state.entries()) {
    const auto& stored = folder.at(entry.name);
    if (const auto* tensor = std::get_if<at::Tensor>(&entry.content)) {
      check_sizes(stored, tensor->sizes());
    } else if (const auto* part = std::get_if<DTensor>(&entry.content)) {
      check_sizes(stored, part->sizes());
    } else {
      TORCH_CHECK(
          std::holds_alternative<StoredBytes>(stored.content), "checkpoint::load: ", entry.name,
          " is a tensor in the checkpoint");
    }
  }
  std::vector<IValue> optimizers;
  for (const auto& optimizer : state.optimizers()) {
    optimizers.push_back(read_optimizer(folder, optimizer));
  }
  for (const auto& entry : state.entries()) {
    const auto& stored = folder.at(entry.name);
    if (const auto* tensor = std::get_if<at::Tensor>(&entry.content)) {
      folder.read_box(stored, std::vector<int64_t>(static_cast<size_t>(tensor->dim()), 0), tensor->detach());
    } else if (const auto* part = std::get_if<DTensor>(&entry.content)) {
      folder.read_box(stored, part->part().offsets, part->to_local().detach());
    } else {
      *std::get<IValue*>(entry.content) = folder.read(std::get<StoredBytes>(stored.content));
    }
  }
  for (size_t i = 0; i < optimizers.size(); ++i) {
    state.optimizers()[i].optimizer->load_state_dict(optimizers[i]);
  }
}

} // namespace torch::distributed::checkpoint
