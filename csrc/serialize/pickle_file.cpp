#include <csrc/serialize/pickle_file.h>

#include <csrc/serialize/serialize.h>
#include <csrc/serialize/tensor_file.h>
#include <c10/util/Exception.h>

namespace torch::serialize {

namespace {

c10::IValue read_pickle(FileBytes bytes, const LoadOptions& options) {
  const std::string name = bytes.name();
  TensorFile file = read_tensor_file(std::move(bytes), options.device, options.verify);
  TORCH_CHECK(
      !file.is_torchscript, name,
      " is an archive of torch::save or torch.jit.save, not a pickle of torch.save: load it ", "with torch::load");
  return std::move(file.value);
}

} // namespace

c10::IValue load_pickle(const std::string& filename, const LoadOptions& options) {
  return read_pickle(options.map ? FileBytes::map(filename) : FileBytes::read(filename), options);
}

void save_pickle(const c10::IValue& value, const std::string& filename) {
  AtomicFile file(filename);
  write_pickle(file, folder_for(filename), value);
  file.commit();
}

} // namespace torch::serialize

namespace torch {

std::vector<char> pickle_save(const c10::IValue& ivalue) {
  serialize::VectorSink sink;
  serialize::write_pickle(sink, "archive", ivalue);
  return std::move(sink.bytes);
}

c10::IValue pickle_load(const std::vector<char>& data) {
  return serialize::read_pickle(serialize::FileBytes::view(data.data(), data.size()), {});
}

} // namespace torch
