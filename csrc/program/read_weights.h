// Tensors of an archive.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/program/json.h>
#include <csrc/serialize/zip_reader.h>

#include <map>
#include <optional>
#include <string>

namespace torch::program {

/// A tensor, or among constants an object of a class that a library binds. `is_parameter` is empty where the file does
/// not say.
struct StoredValue {
  c10::IValue value;
  std::optional<bool> is_parameter;
};
using StoredValues = std::map<std::string, StoredValue>;

/// Those that "model_weights_config.json" or "model_constants_config.json" lists; `folder` ends with "/". What lists
/// share shares its memory.
StoredValues read_payload(
    serialize::ZipReader& zip, const std::string& config, const std::string& folder, std::optional<c10::Device> device);
/// Those of a dict that torch.save wrote into a record.
StoredValues read_saved_dict(serialize::ZipReader& zip, const std::string& record, std::optional<c10::Device> device);
/// Text of a record.
Json read_json(serialize::ZipReader& zip, const std::string& record);

} // namespace torch::program
