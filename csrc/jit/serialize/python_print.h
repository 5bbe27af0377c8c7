// Prints functions and classes as the source text that archives hold: the part of Python that TorchScript reads.
#pragma once

#include <aten/core/class_type.h>
#include <aten/core/function.h>
#include <aten/core/ivalue.h>
#include <csrc/jit/frontend/source_range.h>
#include <csrc/jit/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace torch::jit {

struct Module;

/// The functions, classes, named tuples, interfaces and enumerations that printed text names: each once, in the order
/// in which they occurred.
struct TORCH_API PrintDepsTable {
  /// Nothing happens if it is there already.
  void add(const c10::TypePtr& type);
  size_t size() const {
    return table_.size();
  }
  const c10::TypePtr& operator[](size_t index) const {
    return table_[index];
  }

 private:
  std::vector<c10::TypePtr> table_;
  std::unordered_set<const c10::Type*> known_;
};

/// Printers of one archive share a table of constants and a table of types; each is for one file.
struct TORCH_API PythonPrint {
  /// Tensors, objects and what else has no literal are added to `constant_table`, and printed as CONSTANTS.c0 and so
  /// on. `type_printer` gives types their names; without it they have their own. With `enforce_importable`, what the
  /// reader would not take back is an error.
  PythonPrint(
      std::vector<c10::IValue>& constant_table,
      PrintDepsTable& deps_table,
      c10::TypePrinter type_printer = nullptr,
      bool enforce_importable = false);

  /// Prints a class, a named tuple, an interface, an enumeration, or the function of a FunctionType. Compiles methods
  /// that are not compiled yet.
  void printNamedType(const c10::TypePtr& type);
  /// Prints `def name(...):` and the body. Throws for functions that are no graphs.
  void printFunction(const Function& callee);
  /// As a method: indented, and its first parameter has no default.
  void printMethod(const Function& callee);

  /// What was printed so far.
  std::string str() const;
  /// Which places of the original source the text stands for.
  const SourceRangeRecords& ranges() const;
  /// The least version of an archive that has the operators that were printed.
  uint64_t minVersion() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Whether the printer knows nodes of this kind; others are printed as calls of operators.
TORCH_API bool printerHasSpecialCaseFor(c10::Symbol symbol);

/// The code of a module: its source files by name, and the constants that they refer to. Either may be null.
TORCH_API void jitModuleToPythonCodeAndConstants(
    const Module& module,
    std::unordered_map<std::string, std::string>* jit_sources,
    std::vector<c10::IValue>* constants);

} // namespace torch::jit
