#include <csrc/program/write_weights.h>

#include <csrc/program/schema_numbers.h>
#include <csrc/program/write_graph.h>
#include <csrc/serialize/byte_sink.h>
#include <csrc/serialize/tensor_file.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <map>
#include <utility>

namespace torch::program {

namespace {

bool is_plain(const at::Tensor& tensor) {
  return tensor.layout() == c10::kStrided && tensor.has_storage() && !tensor.is_quantized() && !tensor.is_conj() &&
      !tensor.is_neg() && !tensor.is_meta();
}

class PayloadWriter {
 public:
  PayloadWriter(
      serialize::ZipWriter& zip, std::string folder, std::string prefix, const std::vector<NamedWeight>& weights)
      : zip_(zip), folder_(std::move(folder)), prefix_(std::move(prefix)) {
    for (const NamedWeight& weight : weights) {
      if (weight.value.isTensor() && is_plain(weight.value.toTensor())) {
        ++shares_[weight.value.toTensor().storage().unsafeGetStorageImpl()];
      }
    }
  }

  Json add(const NamedWeight& weight) {
    if (!weight.value.isTensor()) {
      const std::string record = std::string(kObjectPrefix) + std::to_string(next_object_++);
      serialize::VectorSink sink;
      serialize::write_objects(sink, "archive", weight.value);
      zip_.add(folder_ + record, sink.bytes.data(), sink.bytes.size());
      return entry(record, weight, /*use_pickle=*/true, Json());
    }
    const at::Tensor& tensor = weight.value.toTensor();
    const bool plain = is_plain(tensor);
    at::Tensor stored = tensor.detach();
    std::string record;
    if (!plain) {
      record = prefix_ + std::to_string(next_++);
      serialize::VectorSink sink;
      serialize::write_pickle(sink, record, tensor);
      zip_.add(folder_ + record, sink.bytes.data(), sink.bytes.size());
    } else if (shares_.at(tensor.storage().unsafeGetStorageImpl()) == 1) {
      // What nobody shares is stored by itself: a small part of a big memory takes little room.
      stored = stored.is_non_overlapping_and_dense() ? stored : stored.contiguous();
      record = write(first_byte(stored), static_cast<size_t>(stored.nbytes()), stored);
    } else {
      record = share(stored);
    }
    Json meta = plain ? meta_of(stored, tensor.requires_grad(), shares_.at(tensor.storage().unsafeGetStorageImpl()) > 1)
                      : Json();
    return entry(record, weight, !plain, std::move(meta));
  }

 private:
  static Json entry(const std::string& record, const NamedWeight& weight, bool use_pickle, Json meta) {
    return json_object(
        {{"path_name", Json(record)},
         {"is_param", Json(weight.is_parameter)},
         {"use_pickle", Json(use_pickle)},
         {"tensor_meta", std::move(meta)}});
  }

  static const void* first_byte(const at::Tensor& tensor) {
    return tensor.numel() == 0 ? nullptr : tensor.const_data_ptr();
  }

  std::string write(const void* data, size_t size, const at::Tensor& tensor) {
    const std::string record = prefix_ + std::to_string(next_++);
    if (tensor.is_cpu() || size == 0) {
      zip_.add(folder_ + record, data, size);
    } else {
      const c10::Storage host = serialize::move_storage(tensor.storage(), c10::kCPU);
      const auto* const begin = static_cast<const char*>(host.data());
      zip_.add(folder_ + record, begin + tensor.storage_offset() * static_cast<int64_t>(tensor.itemsize()), size);
    }
    return record;
  }

  /// All of a memory. By dtype, since a record is read as elements of one.
  std::string share(const at::Tensor& tensor) {
    const auto key = std::pair(tensor.storage().unsafeGetStorageImpl(), tensor.scalar_type());
    const auto found = records_.find(key);
    if (found != records_.end()) {
      return found->second;
    }
    const size_t size = tensor.storage().nbytes() / tensor.itemsize() * tensor.itemsize();
    const std::string record = prefix_ + std::to_string(next_++);
    const c10::Storage host = serialize::move_storage(tensor.storage(), c10::kCPU);
    zip_.add(folder_ + record, host.data(), size);
    records_.emplace(key, record);
    return record;
  }

  static Json meta_of(const at::Tensor& tensor, bool requires_grad, bool is_shared) {
    fx::SizeTable no_symbols;
    Json meta = tensor_meta(fx::TensorInfo::of(tensor), requires_grad, no_symbols, {});
    Json::Object members = meta.members();
    for (auto& [name, value] : members) {
      if (name == "storage_offset") {
        value = json_object({{"as_int", Json(is_shared ? tensor.storage_offset() : int64_t(0))}});
      }
    }
    return Json(std::move(members));
  }

  serialize::ZipWriter& zip_;
  std::string folder_;
  std::string prefix_;
  std::map<const c10::StorageImpl*, int> shares_;
  std::map<std::pair<const c10::StorageImpl*, c10::ScalarType>, std::string> records_;
  int next_ = 0, next_object_ = 0;
};

} // namespace

void write_payload(
    serialize::ZipWriter& zip,
    const std::string& folder,
    const std::string& prefix,
    const std::string& config,
    const std::vector<NamedWeight>& weights) {
  const c10::NoGradGuard no_grad;
  PayloadWriter writer(zip, folder, prefix, weights);
  Json::Object entries;
  for (const NamedWeight& weight : weights) {
    entries.emplace_back(weight.name, writer.add(weight));
  }
  zip.add(folder + config, json_object({{"config", Json(std::move(entries))}}).to_string());
}

} // namespace torch::program
