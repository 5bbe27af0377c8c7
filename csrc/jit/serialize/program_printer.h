// The source files of a module, made class by class.
#pragma once

#include <csrc/jit/serialize/python_print.h>
#include <csrc/jit/serialize/type_name_uniquer.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace torch::jit {

/// Prints types and all that they need, each into the file of its namespace.
class ProgramPrinter {
 public:
  ProgramPrinter();
  ProgramPrinter(const ProgramPrinter&) = delete;
  ProgramPrinter& operator=(const ProgramPrinter&) = delete;

  /// The names of types in this program.
  const c10::TypePrinter& type_printer() const {
    return type_printer_;
  }
  /// Prints the type, unless it was, and what is named by what is printed.
  void add(const c10::TypePtr& type);

  /// By namespace, `__torch__.a.b`, without those that are empty.
  const std::map<std::string, PythonPrint>& files() const {
    return files_;
  }
  /// What the files call CONSTANTS.c0 and so on.
  const std::vector<c10::IValue>& constants() const {
    return constants_;
  }
  uint64_t min_version() const;

 private:
  void print(const c10::TypePtr& type);

  TypeNameUniquer names_;
  c10::TypePrinter type_printer_;
  std::vector<c10::IValue> constants_;
  PrintDepsTable deps_;
  size_t deps_printed_ = 0;
  std::unordered_set<std::string> printed_;
  std::map<std::string, PythonPrint> files_;
};

/// The name of the record, `code/__torch__/a/b.py`, that has a namespace's source.
std::string source_record(const std::string& name_space);

} // namespace torch::jit
