// Programs that Python's torch.export wrote.
#pragma once

#include <csrc/fx/graph_module.h>

#include <c10/core/Device.h>

#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch {

namespace program {
struct ProgramState;
} // namespace program

/// What an input of a program's graph is.
enum class InputKind { USER_INPUT, PARAMETER, BUFFER, CONSTANT_TENSOR, CUSTOM_OBJ, TOKEN };
/// What an output of a program's graph is.
enum class OutputKind {
  USER_OUTPUT,
  LOSS_OUTPUT,
  BUFFER_MUTATION,
  PARAMETER_MUTATION,
  GRADIENT_TO_PARAMETER,
  GRADIENT_TO_USER_INPUT,
  USER_INPUT_MUTATION,
  TOKEN
};

/// One input in a program's signature.
struct InputSpec {
  InputKind kind;
  /// The value's name in the graph.
  std::string arg;
  /// The parameter, buffer or constant, by its path.
  std::string target;
  /// Of a buffer: whether it is part of the state that is saved.
  bool persistent = true;
};

/// One output in a program's signature.
struct OutputSpec {
  OutputKind kind;
  std::string arg;
  /// What is written to, or what it is the gradient of.
  std::string target;
};

/// How the graph's inputs and outputs belong to the module that was exported.
struct ExportGraphSignature {
  std::vector<InputSpec> input_specs;
  std::vector<OutputSpec> output_specs;
};

/// Which sizes a symbol may have; an end that is not there is open.
struct RangeConstraint {
  std::optional<int64_t> min_val;
  std::optional<int64_t> max_val;
};

/// A module as a graph: what torch.export.export gives in Python. Copies are the same program.
///
///     torch::ExportedProgram program = torch::load_program("net.pt2");
///     at::Tensor y = program({x}).toTensor();
///     torch::optim::SGD sgd(program.module().parameters(), 0.1);   // parameters are trained as those of any module
///
/// Parameters, buffers and constants are attributes of module(), whose graph takes what the caller gives and does what
/// the signature says with the rest: buffers and inputs that the program writes to are written to.
class TORCH_API ExportedProgram {
 public:
  using Kwargs = std::unordered_map<std::string, c10::IValue>;

  /// Calls the program with arguments of the shapes that it was exported with: tensors, numbers, and lists, tuples and
  /// dicts of them. Throws c10::Error for arguments of other shapes, and for sizes that the program excludes.
  c10::IValue forward(std::vector<c10::IValue> args, const Kwargs& kwargs = {}) const;
  c10::IValue operator()(std::vector<c10::IValue> args, const Kwargs& kwargs = {}) const {
    return forward(std::move(args), kwargs);
  }

  /// Writes an archive that torch.export.load of PyTorch 2.15 reads, and load_program(). A file comes into being at
  /// once. Throws c10::Error, naming the node, for graphs with parts that archives do not have.
  void save(const std::string& path) const;
  void save(std::ostream& stream) const;

  /// The graph with its parameters, buffers and constants.
  fx::GraphModule& module() const;
  fx::Graph& graph() const;
  const ExportGraphSignature& graph_signature() const;
  const std::map<std::string, RangeConstraint>& range_constraints() const;
  /// Parameters and buffers by name, those that are not saved left out.
  std::map<std::string, at::Tensor> state_dict() const;
  /// Names of arguments, in the order of forward()'s.
  const std::vector<std::string>& forward_arg_names() const;
  /// "2.15.0": what wrote it.
  const std::string& torch_version() const;

  explicit ExportedProgram(std::shared_ptr<program::ProgramState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<program::ProgramState> state_;
};

// Note [Archives of programs]
// What torch.export.save of PyTorch 2.2 to 2.15 writes is read: the "pt2" archive of 2.8 and later, and the ZIP file of
// records "serialized_exported_program.json" and "serialized_state_dict.pt" before. Weights of an archive lie in a
// private mapping of the file where that can be: they are read when they are used, and another program must not shorten
// or overwrite the file meanwhile. Nothing of the file is run while it is loaded; objects of classes that libraries
// bind (torch::class_) are made by `__setstate__` of these.
//
// What save() writes is such an archive, as PyTorch 2.15 writes it (schema 8.20).
//
// Operators and bound classes are looked up by name: those of other libraries must be registered before. Damaged and
// hostile files throw c10::Error; what they make the loader allocate is bounded by about 60 times their size.

/// Loads a program onto `device`, or onto the devices that it was exported on. `name` picks one of several programs in
/// the archive. Throws c10::Error if the file is no archive of a program or needs an operator that is not there.
TORCH_API ExportedProgram load_program(
    const std::string& path, std::optional<c10::Device> device = std::nullopt, const std::string& name = "model");
/// The same from all of a stream.
TORCH_API ExportedProgram
load_program(std::istream& stream, std::optional<c10::Device> device = std::nullopt, const std::string& name = "model");
/// The same from memory, of which nothing is needed afterwards.
TORCH_API ExportedProgram load_program(
    const void* data, size_t size, std::optional<c10::Device> device = std::nullopt, const std::string& name = "model");

} // namespace torch
