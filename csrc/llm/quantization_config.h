// The part of config.json that tells how weights are quantized.
#pragma once

#include <csrc/llm/config.h>
#include <csrc/llm/fields.h>

namespace torch::llm {

/// Reads the members of quantization_config. Throws for methods and forms that are not known, by their names.
StoredQuantization read_stored_quantization(const Fields& fields);

} // namespace torch::llm
