#pragma once

#include <cstdint>
#include <string>

#include "model.h"

namespace charlm {

/// All that a later run needs to go on as if there had been no pause.
struct Checkpoint {
  ModelConfig config;
  std::string symbols;
  int64_t step = 0;
  at::Tensor generator_state;
  NamedTensors tensors;
};

/// Writes beside `path` and renames, so that there is a whole file at every moment. Throws std::runtime_error.
void save_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// Reads a file that save_checkpoint wrote. Throws UserError if it is another kind of file, cut short or damaged.
Checkpoint load_checkpoint(const std::string& path);

/// Copies each of `from` into the tensor of `to` with the same place, name and sizes. Throws UserError if they differ.
void restore(const NamedTensors& to, const NamedTensors& from);

} // namespace charlm
