#include <csrc/program/read_weights.h>

#include <csrc/program/schema_numbers.h>
#include <csrc/serialize/bound_objects.h>
#include <csrc/serialize/tensor_file.h>
#include <aten/Functions.h>
#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <unordered_map>

namespace torch::program {

namespace {

// Enough for every dtype.
constexpr size_t kWeightAlignment = 16;

std::vector<int64_t> concrete_sizes(const Json& json) {
  std::vector<int64_t> sizes;
  for (const Json& size : json.items()) {
    sizes.push_back(size.at("as_int").as_int());
  }
  return sizes;
}

/// A tensor's place in its record.
struct Placement {
  c10::ScalarType dtype;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset;

  explicit Placement(const Json& meta)
      : dtype(dtype_from_number(meta.at("dtype").as_int())),
        sizes(concrete_sizes(meta.at("sizes"))),
        strides(concrete_sizes(meta.at("strides"))),
        offset(meta.at("storage_offset").at("as_int").as_int()) {
    TORCH_CHECK(
        layout_from_number(meta.at("layout").as_int()) == c10::kStrided, "only dense tensors are stored as bytes");
    TORCH_CHECK(sizes.size() == strides.size(), "as many strides as sizes must be given");
  }

  /// Throws unless all elements lie in `bytes`.
  void check_inside(uint64_t bytes) const {
    uint64_t last = 0;
    bool is_empty = false, is_bad = offset < 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      is_bad = is_bad || sizes[i] < 0 || strides[i] < 0;
      is_empty = is_empty || sizes[i] == 0;
    }
    for (size_t i = 0; i < sizes.size() && !is_bad && !is_empty; ++i) {
      uint64_t reach = 0;
      is_bad = __builtin_mul_overflow(static_cast<uint64_t>(sizes[i] - 1), static_cast<uint64_t>(strides[i]), &reach) ||
          __builtin_add_overflow(last, reach, &last);
    }
    if (!is_bad && !is_empty) {
      is_bad = __builtin_add_overflow(last, static_cast<uint64_t>(offset) + 1, &last) ||
          __builtin_mul_overflow(last, static_cast<uint64_t>(c10::elementSize(dtype)), &last) || last > bytes;
    }
    TORCH_CHECK(
        !is_bad,
        fmt::format(
            "sizes [{}], strides [{}] and offset {} do not fit into {} bytes", fmt::join(sizes, ", "),
            fmt::join(strides, ", "), offset, bytes));
  }
};

class PayloadReader {
 public:
  PayloadReader(serialize::ZipReader& zip, std::string folder, std::optional<c10::Device> device)
      : zip_(zip), folder_(std::move(folder)), device_(device) {}

  c10::IValue read(const Json& payload) {
    const std::string& name = payload.at("path_name").as_string();
    const std::string record = folder_ + name;
    if (name.compare(0, kObjectPrefix.size(), kObjectPrefix) == 0) {
      std::string unpacked;
      const std::string_view bytes = zip_.read(record, unpacked);
      return serialize::read_bound_object(serialize::FileBytes::view(bytes.data(), bytes.size()), device_);
    }
    if (payload.at("use_pickle").as_bool()) {
      return read_pickled(record);
    }
    const Json& meta = payload.at("tensor_meta");
    const Placement place(meta);
    const c10::Storage storage = load(record, meta);
    place.check_inside(storage.nbytes());
    auto options = at::TensorOptions(place.dtype).device(storage.device());
    at::Tensor tensor = at::empty({0}, options);
    tensor.set_(storage, place.offset, place.sizes, place.strides);
    if (meta.at("requires_grad").as_bool()) {
      tensor.set_requires_grad(true);
    }
    return tensor;
  }

 private:
  at::Tensor read_pickled(const std::string& record) {
    std::string unpacked;
    const std::string_view bytes = zip_.read(record, unpacked);
    const auto file =
        serialize::read_tensor_file(serialize::FileBytes::view(bytes.data(), bytes.size()), device_, /*verify=*/true);
    TORCH_CHECK(file.value.isTensor(), "the record must hold a tensor, holds a ", file.value.tagKind());
    return file.value.toTensor();
  }

  c10::Storage load(const std::string& record, const Json& meta) {
    const auto found = storages_.find(record);
    if (found != storages_.end()) {
      return found->second;
    }
    // A record without bytes is of an empty tensor, or was written without its data.
    const auto& entry = zip_.bytes().is_mapped() ? zip_.stored_entry(record) : zip_.entry(record);
    c10::Storage storage = zip_.bytes().storage(entry.data_offset, entry.size, kWeightAlignment);
    const Json& device = meta.at("device");
    storage = serialize::place_storage(std::move(storage), device_, device.at("type").as_string(), zip_.where(record));
    return storages_.emplace(record, std::move(storage)).first->second;
  }

  serialize::ZipReader& zip_;
  std::string folder_;
  std::optional<c10::Device> device_;
  std::unordered_map<std::string, c10::Storage> storages_;
};

} // namespace

Json read_json(serialize::ZipReader& zip, const std::string& record) {
  std::string unpacked;
  return Json::parse(zip.read(record, unpacked), zip.where(record));
}

StoredValues read_payload(
    serialize::ZipReader& zip,
    const std::string& config,
    const std::string& folder,
    std::optional<c10::Device> device) {
  PayloadReader reader(zip, folder, device);
  const Json json = read_json(zip, config);
  StoredValues tensors;
  for (const auto& [name, payload] : json.at("config").members()) {
    try {
      tensors[name] = {reader.read(payload), payload.at("is_param").as_bool()};
    } catch (const c10::Error& e) {
      TORCH_CHECK(false, zip.where(config), ", '", name, "': ", e.what_without_backtrace());
    }
  }
  return tensors;
}

StoredValues read_saved_dict(serialize::ZipReader& zip, const std::string& record, std::optional<c10::Device> device) {
  std::string unpacked;
  const std::string_view bytes = zip.read(record, unpacked);
  StoredValues tensors;
  if (bytes.empty()) {
    return tensors; // nothing was there to be saved
  }
  const auto file =
      serialize::read_tensor_file(serialize::FileBytes::view(bytes.data(), bytes.size()), device, /*verify=*/true);
  TORCH_CHECK(
      file.value.isGenericDict(), zip.where(record), " must hold a dict of tensors, holds a ", file.value.tagKind());
  for (const auto& entry : file.value.toGenericDict()) {
    TORCH_CHECK(entry.key().isString(), zip.where(record), " must hold a dict with names as keys");
    TORCH_CHECK(
        entry.value().isTensor(), zip.where(record), ": '", entry.key().toStringRef(), "' is no tensor but a ",
        entry.value().tagKind(), ", which exported programs do not support");
    tensors[entry.key().toStringRef()] = {entry.value().toTensor(), std::nullopt};
  }
  return tensors;
}

} // namespace torch::program
