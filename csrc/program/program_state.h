// What an ExportedProgram holds.
#pragma once

#include <csrc/program/exported_program.h>
#include <csrc/program/tree_spec.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace torch::program {

/// A user input as the graph takes it.
struct UserInput {
  fx::Node* node;
  /// The value that it was exported with, of inputs that are no tensors and no symbols.
  std::optional<c10::IValue> constant;
};

/// A gradient that the graph computes: its place among the results, and whose it is.
struct GradientOutput {
  size_t result;
  OutputKind kind;
  std::string target;
};

struct ProgramState {
  std::shared_ptr<fx::GraphModule> module;
  ExportGraphSignature signature;
  std::map<std::string, RangeConstraint> ranges;
  std::vector<std::string> parameters, buffers; // that are saved
  std::vector<UserInput> inputs;
  std::vector<GradientOutput> gradients;
  size_t num_user_results = 0;
  /// Of (arguments, keywords), and of the result; without them values go one by one.
  std::optional<TreeSpec> in_spec, out_spec;
  std::vector<std::string> arg_names;
  /// The sizes that symbols had when the program was traced.
  std::map<std::string, int64_t> hints;
  /// What torch.save makes of (arguments, keywords) of an example; may be empty.
  std::string sample_inputs;
  std::string torch_version;
};

} // namespace torch::program
