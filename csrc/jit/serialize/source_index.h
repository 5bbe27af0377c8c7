// Where the definitions of an archive's source file are, found without parsing it.
#pragma once

#include <csrc/jit/frontend/source_range.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace torch::jit {

/// The characters [begin, end) of a source that define something of that name.
struct SourcePart {
  std::string name;
  size_t begin;
  size_t end;
};

/// A class or a function of a file. The functions of a class are parts of their own, its other statements stand before
/// them.
struct IndexedDefinition {
  bool is_class;
  SourcePart all; ///< of a class: up to its first function
  std::vector<SourcePart> functions;
};

/// A file of an archive: classes and functions begin at the left, functions of classes with two spaces. Files of
/// PyTorch 1.0 to 1.3 begin with imports and a version of operators, which say nothing that names and the archive's
/// version do not say.
struct SourceIndex {
  /// Throws ErrorReport where a line belongs to no definition.
  explicit SourceIndex(const std::shared_ptr<Source>& source);

  std::vector<IndexedDefinition> definitions;
};

} // namespace torch::jit
