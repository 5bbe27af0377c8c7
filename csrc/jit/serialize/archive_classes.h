// Objects of an archive's classes.
#pragma once

#include <csrc/jit/serialize/source_importer.h>
#include <csrc/serialize/typed_values.h>
#include <csrc/serialize/unpickler.h>

#include <cstdint>
#include <memory>
#include <string>

namespace torch::jit {

/// Classes that an archive's source defines and that libraries have bound, for its pickles.
class ArchiveClasses final : public serialize::ProgramClasses {
 public:
  /// `work` as for TypedValues.
  ArchiveClasses(std::shared_ptr<CompilationUnit> cu, std::shared_ptr<SourceImporterImpl> importer, uint64_t work)
      : cu_(std::move(cu)), importer_(std::move(importer)), values_(work) {}

  TypePtr find_class(const std::string& name) override;
  TypePtr parse_type(const std::string& annotation) override;
  IValue restore_type(const IValue& value, const TypePtr& type) override;
  IValue make_object(const c10::ClassTypePtr& type, const IValue& state) override;

 private:
  std::shared_ptr<CompilationUnit> cu_;
  std::shared_ptr<SourceImporterImpl> importer_;
  serialize::TypedValues values_;
};

/// An object of the class: `__setstate__` is called with the state if the class has one; if not, the state is a dict
/// with the values of all attributes.
c10::intrusive_ptr<c10::ivalue::Object> objectOfState(
    const c10::StrongTypePtr& type, const IValue& state, serialize::TypedValues& values);

} // namespace torch::jit
