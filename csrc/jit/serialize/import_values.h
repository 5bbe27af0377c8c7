// What names in an archive's source stand for beside those of every source.
#pragma once

#include <csrc/jit/frontend/sugared_value.h>
#include <csrc/jit/serialize/source_importer.h>

#include <memory>
#include <string>

namespace torch::jit {

/// `__torch__` and names below it: modules of Python, until one names a class or a function.
struct ArchiveNamespace final : SugaredValue {
  ArchiveNamespace(c10::QualifiedName name, std::shared_ptr<SourceImporterImpl> importer)
      : name(std::move(name)), importer(std::move(importer)) {}
  std::string kind() const override {
    return "class namespace";
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;

  c10::QualifiedName name;
  std::shared_ptr<SourceImporterImpl> importer;
};

/// `CONSTANTS`: its attributes `c0`, `c1`, ... are values of the archive's table.
struct ArchiveConstants final : SugaredValue {
  explicit ArchiveConstants(SourceImporterImpl::Constants table) : table(std::move(table)) {}
  std::string kind() const override {
    return "CONSTANTS";
  }
  SugaredValuePtr attr(const SourceRange& range, GraphFunction& method, const std::string& field) override;

  SourceImporterImpl::Constants table;
};

} // namespace torch::jit
