#include <csrc/serialize/read_archive.h>

#include <csrc/serialize/tensor_file.h>
#include <csrc/serialize/unpickler.h>

#include <c10/core/Storage.h>
#include <c10/util/Exception.h>

#include <string_view>
#include <unordered_map>

namespace torch::jit {

c10::IValue readArchiveAndTensors(
    const std::string& archive_name,
    const std::string& pickle_prefix,
    const std::string& tensor_prefix,
    std::optional<TypeResolver> /*type_resolver*/,
    std::optional<ObjLoader> /*obj_loader*/,
    std::optional<at::Device> device,
    caffe2::serialize::PyTorchStreamReader& stream_reader) {
  const std::string name = pickle_prefix + archive_name + ".pkl";
  const std::string folder = tensor_prefix.empty() ? archive_name + "/" : tensor_prefix;
  const auto [pickle, size] = stream_reader.getRecord(name);
  std::unordered_map<std::string, c10::Storage> loaded;
  const auto load = [&](const std::string& key, const std::string& location, uint64_t nbytes) {
    auto found = loaded.find(key);
    if (found == loaded.end()) {
      auto [data, bytes] = stream_reader.getRecord(folder + key);
      const c10::Storage storage(
          c10::Storage::use_byte_size_t(), bytes, std::move(data), /*allocator=*/nullptr, /*resizable=*/false);
      found = loaded.emplace(key, serialize::move_storage(storage, device.value_or(c10::Device(location)))).first;
    }
    TORCH_CHECK(
        nbytes <= found->second.nbytes(), "record ", folder, key, " has ", found->second.nbytes(),
        " bytes, but its tensors need ", nbytes);
    return found->second;
  };
  const std::string_view text(static_cast<const char*>(pickle.get()), size);
  return serialize::Unpickler(text, "record " + name, serialize::Unpickler::Style::Python, load).parse();
}

} // namespace torch::jit
