#include <csrc/serialize/tensor_file.h>

#include <csrc/serialize/unpickler.h>
#include <csrc/serialize/zip_reader.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

namespace torch::serialize {

namespace {

// Enough for every dtype.
constexpr size_t kStorageAlignment = 16;

class StorageLoader {
 public:
  StorageLoader(ZipReader& zip, std::string folder, std::optional<c10::Device> device)
      : zip_(zip), folder_(std::move(folder)), device_(device) {}

  c10::Storage load(const std::string& key, const std::string& location, uint64_t nbytes) {
    const std::string name = folder_ + "/data/" + key;
    auto found = loaded_.find(key);
    if (found == loaded_.end() && location == "meta") {
      found = loaded_.emplace(key, meta_storage(nbytes, zip_.where(name))).first;
    } else if (found == loaded_.end()) {
      const ZipReader::Entry& entry = zip_.entry(name);
      c10::Storage storage = zip_.bytes().storage(entry.data_offset, entry.size, kStorageAlignment);
      found = loaded_.emplace(key, place_storage(std::move(storage), device_, location, zip_.where(name))).first;
    }
    TORCH_CHECK(
        nbytes <= found->second.nbytes(), zip_.where(name), " has ", found->second.nbytes(),
        " bytes, but its tensors need ", nbytes);
    return found->second;
  }

 private:
  ZipReader& zip_;
  std::string folder_;
  std::optional<c10::Device> device_;
  std::unordered_map<std::string, c10::Storage> loaded_;
};

void check_is_zip(const FileBytes& bytes) {
  if (ZipReader::looks_like_zip(bytes)) {
    return;
  }
  const bool legacy = bytes.size() >= 2 && bytes.data()[0] == 0x80;
  const bool safetensors = bytes.size() > 8 && bytes.data()[8] == '{';
  TORCH_CHECK(
      !legacy, bytes.name(), " is a pickle without a ZIP file around it, as torch.save wrote before version 1.6: load ",
      "it in Python and save it again");
  TORCH_CHECK(!safetensors, bytes.name(), " is not a .pt file, but may be a safetensors file: see load_safetensors");
  TORCH_CHECK(
      false, "failed reading zip archive: ", bytes.name(), " (", bytes.size(), " bytes) does not begin as a ZIP file ",
      "does: it is not a .pt file, or damaged");
}

} // namespace

// Tensors on the meta device have sizes alone. They go to no other device.
c10::Storage meta_storage(uint64_t nbytes, const std::string& where) {
  TORCH_CHECK(nbytes <= static_cast<uint64_t>(INT64_MAX), where, " cannot have ", nbytes, " bytes");
  return at::empty({static_cast<int64_t>(nbytes)}, at::TensorOptions(c10::kByte).device(c10::kMeta)).storage();
}

c10::Storage place_storage(
    c10::Storage storage, std::optional<c10::Device> device, const std::string& location, const std::string& where) {
  if (device) {
    return move_storage(storage, *device);
  }
  if (location == "cpu") {
    return storage;
  }
  try {
    return move_storage(storage, c10::Device(location));
  } catch (const c10::Error& error) {
    TORCH_CHECK(
        false, where, ": the tensor was saved from device '", location,
        "', which cannot be used here: give the device that it shall be loaded to, such as torch::kCPU. (",
        error.what_without_backtrace(), ")");
  }
}

c10::Storage move_storage(const c10::Storage& storage, c10::Device device) {
  if (storage.device() == device || (device.is_cpu() && storage.device().is_cpu())) {
    return storage;
  }
  at::Tensor bytes = at::empty({0}, at::TensorOptions(c10::kByte).device(storage.device()));
  bytes.set_(storage, 0, {static_cast<int64_t>(storage.nbytes())}, {1});
  return bytes.to(device).storage();
}

TensorFile read_tensor_file(FileBytes bytes, std::optional<c10::Device> device, bool verify, ProgramClasses* classes) {
  check_is_zip(bytes);
  ZipReader zip(std::move(bytes), verify);
  const std::string folder = zip.folder();
  if (const std::string name = folder + "/byteorder"; zip.has(name)) {
    const std::string_view order = zip.read(name);
    TORCH_CHECK(order == "little", zip.where(name), ": byte order '", order, "' is not supported, 'little' is");
  }
  const bool is_torchscript = zip.has(folder + "/constants.pkl");
  const std::string name = folder + "/data.pkl";
  StorageLoader storages(zip, folder, device);
  Unpickler unpickler(
      zip.read(name), zip.where(name),
      is_torchscript || classes ? Unpickler::Style::TorchScript : Unpickler::Style::Python,
      [&](const std::string& key, const std::string& location, uint64_t nbytes) {
        return storages.load(key, location, nbytes);
      },
      {}, classes);
  return TensorFile{unpickler.parse(), is_torchscript};
}

} // namespace torch::serialize
