#include <csrc/jit/api/mobile_parameters.h>

#include <aten/core/Dict.h>
#include <aten/core/ivalue.h>
#include <c10/util/Exception.h>
#include <csrc/serialize/serialize.h>

#include <fstream>
#include <istream>
#include <iterator>
#include <vector>

namespace torch::jit {

void _save_parameters(const std::map<std::string, at::Tensor>& map, std::ostream& out, bool use_flatbuffer) {
  TORCH_CHECK(
      !use_flatbuffer, "_save_parameters: files in FlatBuffers' format are not written; leave out use_flatbuffer");
  c10::Dict<std::string, at::Tensor> parameters;
  for (const auto& [name, tensor] : map) {
    parameters.insert(name, tensor);
  }
  const std::vector<char> archive = torch::pickle_save(parameters);
  out.write(archive.data(), static_cast<std::streamsize>(archive.size()));
  TORCH_CHECK(out.good(), "_save_parameters: the stream cannot take ", archive.size(), " bytes");
}

void _save_parameters(const std::map<std::string, at::Tensor>& map, const std::string& filename, bool use_flatbuffer) {
  std::ofstream out(filename, std::ios::binary);
  TORCH_CHECK(out.is_open(), "_save_parameters: cannot write ", filename);
  _save_parameters(map, out, use_flatbuffer);
}

std::map<std::string, at::Tensor> _load_parameters(std::istream& in, std::optional<at::Device> device) {
  const std::vector<char> archive(std::istreambuf_iterator<char>(in), {});
  const c10::IValue value = torch::pickle_load(archive);
  TORCH_CHECK(value.isGenericDict(), "_load_parameters: the archive has no Dict[str, Tensor] but a ", value.tagKind());
  std::map<std::string, at::Tensor> parameters;
  for (const auto& entry : value.toGenericDict()) {
    TORCH_CHECK(
        entry.key().isString() && entry.value().isTensor(), "_load_parameters: the archive has a ",
        entry.key().tagKind(), " with a ", entry.value().tagKind(), "; names with tensors are needed");
    const at::Tensor tensor = entry.value().toTensor();
    parameters.emplace(entry.key().toStringRef(), device ? tensor.to(*device) : tensor);
  }
  return parameters;
}

std::map<std::string, at::Tensor> _load_parameters(const std::string& filename, std::optional<at::Device> device) {
  std::ifstream in(filename, std::ios::binary);
  TORCH_CHECK(in.is_open(), "_load_parameters: cannot read ", filename);
  return _load_parameters(in, device);
}

} // namespace torch::jit
