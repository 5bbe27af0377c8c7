#include <csrc/serialize/read_archive.h>

#include <csrc/serialize/resolved_classes.h>
#include <csrc/serialize/tensor_file.h>
#include <csrc/serialize/unpickler.h>

#include <c10/core/Storage.h>
#include <c10/util/Exception.h>

#include <string_view>
#include <unordered_map>

namespace torch::jit {

c10::IValue read_archive_value(
    const std::string& archive_name,
    const std::string& pickle_prefix,
    const std::string& tensor_prefix,
    std::optional<at::Device> device,
    caffe2::serialize::PyTorchStreamReader& stream_reader,
    serialize::ProgramClasses* classes) {
  const std::string name = pickle_prefix + archive_name + ".pkl";
  const std::string folder = tensor_prefix.empty() ? archive_name + "/" : tensor_prefix;
  const auto [pickle, size] = stream_reader.getRecord(name);
  std::unordered_map<std::string, c10::Storage> loaded;
  const auto load = [&](const std::string& key, const std::string& location, uint64_t nbytes) {
    const std::string record = folder + key;
    auto found = loaded.find(key);
    if (found == loaded.end()) {
      c10::Storage storage = location == "meta"
          ? serialize::meta_storage(nbytes, "record " + record)
          : serialize::place_storage(stream_reader.getStorage(record), device, location, "record " + record);
      found = loaded.emplace(key, std::move(storage)).first;
    }
    TORCH_CHECK(
        nbytes <= found->second.nbytes(), "record ", record, " has ", found->second.nbytes(),
        " bytes, but its tensors need ", nbytes);
    return found->second;
  };
  const std::string_view text(static_cast<const char*>(pickle.get()), size);
  const auto style = classes ? serialize::Unpickler::Style::TorchScript : serialize::Unpickler::Style::Python;
  return serialize::Unpickler(text, "record " + name, style, load, {}, classes).parse();
}

c10::IValue readArchiveAndTensors(
    const std::string& archive_name,
    const std::string& pickle_prefix,
    const std::string& tensor_prefix,
    std::optional<TypeResolver> type_resolver,
    std::optional<ObjLoader> obj_loader,
    std::optional<at::Device> device,
    caffe2::serialize::PyTorchStreamReader& stream_reader) {
  std::optional<serialize::ResolvedClasses> classes;
  if (type_resolver && *type_resolver) {
    const size_t size = stream_reader.getRecordSize(pickle_prefix + archive_name + ".pkl");
    classes.emplace(std::move(*type_resolver), std::move(obj_loader), serialize::work_for(size));
  }
  return read_archive_value(
      archive_name, pickle_prefix, tensor_prefix, device, stream_reader, classes ? &*classes : nullptr);
}

} // namespace torch::jit
