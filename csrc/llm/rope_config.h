// Rotary parameters of a config.json: rope_parameters of transformers 5, rope_theta and rope_scaling before it.
#pragma once

#include <csrc/llm/config.h>
#include <csrc/llm/fields.h>

namespace torch::llm {

/// `part` names the object within rope_parameters where each type of layer has its own; `fraction` is the share of a
/// head that turns unless the file says otherwise.
RopeConfig read_rope(
    const Fields& fields,
    const ModelConfig& config,
    double default_theta,
    const std::string& part = "",
    double fraction = 1);

/// Of Gemma 3's layers with a window.
RopeConfig read_local_rope(const Fields& fields, const ModelConfig& config);

} // namespace torch::llm
