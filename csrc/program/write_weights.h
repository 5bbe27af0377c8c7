// Tensors into an archive.
#pragma once

#include <aten/core/Tensor.h>
#include <csrc/program/json.h>
#include <csrc/serialize/zip_writer.h>

#include <string>
#include <vector>

namespace torch::program {

/// A tensor, or an object of a bound class, to be stored.
struct NamedWeight {
  std::string name;
  c10::IValue value;
  bool is_parameter;
};

/// Writes tensors into `folder` ("data/weights/") as records `prefix` 0, 1, ..., and the list of them as `config`.
/// Tensors that share memory share their record. Those that are no dense tensors are pickled, and objects in records of
/// their own, "custom_obj_" 0, 1, ...
void write_payload(
    serialize::ZipWriter& zip,
    const std::string& folder,
    const std::string& prefix,
    const std::string& config,
    const std::vector<NamedWeight>& weights);

} // namespace torch::program
