// A program as the JSON of an archive.
#pragma once

#include <csrc/program/program_state.h>
#include <csrc/program/json.h>

namespace torch::program {

/// Throws c10::Error, naming the node, for what archives cannot hold.
Json write_program(const ProgramState& state);

} // namespace torch::program
