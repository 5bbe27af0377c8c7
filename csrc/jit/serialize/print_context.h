// What all parts of a printed file share: constants, types, names.
#pragma once

#include <csrc/jit/serialize/print_names.h>
#include <csrc/jit/serialize/python_print.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::jit {

struct PrintContext {
  PrintContext(
      std::vector<IValue>& constants, PrintDepsTable& deps, c10::TypePrinter type_printer, bool enforce_importable)
      : constants(constants),
        deps(deps),
        type_printer(std::move(type_printer)),
        enforce_importable(enforce_importable) {}

  std::vector<IValue>& constants;
  PrintDepsTable& deps;
  c10::TypePrinter type_printer;
  bool enforce_importable;
  PrintedNames names;
  uint64_t min_version = 0;

  /// The type as an annotation; what it names is to be printed, too.
  std::string annotation(const TypePtr& type);
  /// The value as an expression.
  std::string literal(const IValue& value);

 private:
  void add_dependencies(const TypePtr& type, int depth);
  std::string in_table(const IValue& value);
  std::string list_literal(const IValue& value, int depth);
  std::string dict_literal(const IValue& value, int depth);
  std::string tuple_literal(const IValue& value, int depth);
  std::string literal(const IValue& value, int depth);
  // Where a counted object stands in the table.
  std::unordered_map<const void*, size_t> places_;
};

/// Whether values of this type say it themselves where they stand in a list or a dict: not those that hold None or one
/// of several types.
bool elements_tell(const Type& type);

} // namespace torch::jit
