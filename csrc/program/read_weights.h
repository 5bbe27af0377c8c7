// Tensors of an archive.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/program/json.h>
#include <csrc/serialize/zip_reader.h>

#include <map>
#include <optional>
#include <string>

namespace torch::program {

/// A tensor by name. `is_parameter` is empty where the file does not say.
struct StoredTensor {
  at::Tensor tensor;
  std::optional<bool> is_parameter;
};
using StoredTensors = std::map<std::string, StoredTensor>;

/// Those that "model_weights_config.json" or "model_constants_config.json" lists; `folder` ends with "/". What lists
/// share shares its memory.
StoredTensors read_payload(
    serialize::ZipReader& zip, const std::string& config, const std::string& folder, std::optional<c10::Device> device);
/// Those of a dict that torch.save wrote into a record.
StoredTensors read_saved_dict(serialize::ZipReader& zip, const std::string& record, std::optional<c10::Device> device);
/// Text of a record.
Json read_json(serialize::ZipReader& zip, const std::string& record);

} // namespace torch::program
