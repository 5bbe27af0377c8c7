#include <csrc/serialize/pickle_bytes.h>

#include <c10/util/Exception.h>
#include <csrc/serialize/pickler.h>
#include <csrc/serialize/resolved_classes.h>
#include <csrc/serialize/unpickler.h>

namespace torch::serialize {

std::vector<char> read_all(const std::function<size_t(char*, size_t)>& reader) {
  constexpr size_t kBlock = 4096;
  std::vector<char> bytes;
  for (;;) {
    const size_t filled = bytes.size();
    bytes.resize(filled + kBlock);
    const size_t got = reader(bytes.data() + filled, kBlock);
    TORCH_CHECK(got <= kBlock, "unpickle: the reader gave ", got, " bytes where at most ", kBlock, " were asked for");
    bytes.resize(filled + got);
    if (got == 0) {
      break;
    }
  }
  return bytes;
}

} // namespace torch::serialize

namespace torch::jit {

std::vector<char> pickle(const c10::IValue& ivalue, std::vector<at::Tensor>* tensor_table) {
  serialize::Pickler pickler(serialize::Pickler::Style::TorchScript, tensor_table);
  pickler.push(ivalue);
  TORCH_CHECK(pickler.storages().empty(), "pickle: the value holds tensors, so a tensor_table must be given");
  const std::string bytes = pickler.finish();
  return {bytes.begin(), bytes.end()};
}

void pickle(
    std::function<void(const char*, size_t)> writer, const c10::IValue& ivalue, std::vector<at::Tensor>* tensor_table) {
  const std::vector<char> bytes = pickle(ivalue, tensor_table);
  writer(bytes.data(), bytes.size());
}

c10::IValue unpickle(
    const char* data, size_t size, TypeResolver type_resolver, c10::ArrayRef<at::Tensor> tensor_table) {
  const auto no_storage = [](const std::string& key, const std::string&, uint64_t) -> c10::Storage {
    TORCH_CHECK(
        false, "unpickle: the pickle refers to the storage '", key, "' of a file: load that by torch::pickle_load");
  };
  std::optional<serialize::ResolvedClasses> classes;
  if (type_resolver) {
    classes.emplace(std::move(type_resolver), std::nullopt, serialize::work_for(size));
  }
  return serialize::Unpickler(
             {data, size}, "pickle in memory", serialize::Unpickler::Style::TorchScript, no_storage, tensor_table,
             classes ? &*classes : nullptr)
      .parse();
}

c10::IValue unpickle(
    std::function<size_t(char*, size_t)> reader, TypeResolver type_resolver, c10::ArrayRef<at::Tensor> tensor_table) {
  const std::vector<char> bytes = serialize::read_all(reader);
  return unpickle(bytes.data(), bytes.size(), std::move(type_resolver), tensor_table);
}

} // namespace torch::jit
