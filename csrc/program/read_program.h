// A program from its JSON and its tensors.
#pragma once

#include <csrc/program/program_state.h>
#include <csrc/program/read_weights.h>

#include <memory>
#include <optional>

namespace torch::program {

/// `weights` is the state, `constants` the tensors that are not part of it.
std::shared_ptr<ProgramState> read_program(
    const Json& json, StoredValues weights, StoredValues constants, std::optional<c10::Device> device);

} // namespace torch::program
