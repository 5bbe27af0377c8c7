#include <csrc/data/samplers/sampler_state.h>

#include <aten/Functions.h>
#include <csrc/serialize/archive.h>

namespace torch::data::samplers {

void save_number(serialize::OutputArchive& archive, const char* key, size_t value) {
  archive.write(key, at::scalar_tensor(static_cast<int64_t>(value), at::TensorOptions(at::kLong)), /*is_buffer=*/true);
}

size_t load_number(serialize::InputArchive& archive, const char* sampler, const char* key, size_t most, size_t least) {
  at::Tensor tensor;
  archive.read(key, tensor, /*is_buffer=*/true);
  TORCH_CHECK(
      tensor.numel() == 1 && at::isIntegralType(tensor.scalar_type(), /*includeBool=*/false), sampler, ": '", key,
      "' in the archive is no integer but ", tensor.toString(), " of sizes ", tensor.sizes());
  const auto value = tensor.item<int64_t>();
  TORCH_CHECK(
      value >= 0 && static_cast<size_t>(value) >= least && static_cast<size_t>(value) <= most, sampler, ": '", key,
      "' in the archive is ", value, "; it must be from ", least, " to ", most,
      " here. Was it saved by a sampler of another size?");
  return static_cast<size_t>(value);
}

void save_tensor(serialize::OutputArchive& archive, const char* key, const at::Tensor& tensor) {
  archive.write(key, tensor, /*is_buffer=*/true);
}

at::Tensor load_indices(serialize::InputArchive& archive, const char* sampler, const char* key) {
  at::Tensor tensor;
  archive.read(key, tensor, /*is_buffer=*/true);
  TORCH_CHECK(
      tensor.dim() == 1 && (tensor.numel() == 0 || tensor.min().item<int64_t>() >= 0), sampler, ": '", key,
      "' in the archive is no list of indices");
  return tensor;
}

} // namespace torch::data::samplers
