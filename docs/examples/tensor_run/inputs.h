// Makes arguments from what --input says.
#pragma once

#include <torch/script.h>

#include <string>

namespace tensor_run {

/// One argument; throws UserError for what cannot be read. Tensors go to `device`.
torch::IValue make_input(const std::string& spec, torch::Device device);

/// Takes "NAME=" off the front of `spec` and returns NAME; empty if there is none.
std::string take_name(std::string& spec);

} // namespace tensor_run
