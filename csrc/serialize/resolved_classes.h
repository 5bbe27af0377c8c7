// Classes that a function finds, for pickles.
#pragma once

#include <csrc/serialize/read_archive.h>
#include <csrc/serialize/typed_values.h>
#include <csrc/serialize/unpickler.h>

#include <optional>
#include <string>
#include <unordered_map>

namespace torch::serialize {

/// Asks the functions that callers of torch::jit::unpickle and readArchiveAndTensors give. `work` as for TypedValues.
class ResolvedClasses final : public ProgramClasses {
 public:
  ResolvedClasses(jit::TypeResolver resolver, std::optional<jit::ObjLoader> loader, uint64_t work);

  c10::TypePtr find_class(const std::string& name) override;
  c10::TypePtr parse_type(const std::string& annotation) override;
  c10::IValue restore_type(const c10::IValue& value, const c10::TypePtr& type) override;
  /// Without a loader, the state must be a dict with the attributes.
  c10::IValue make_object(const c10::ClassTypePtr& type, const c10::IValue& state) override;

 private:
  jit::TypeResolver resolver_;
  std::optional<jit::ObjLoader> loader_;
  TypedValues values_;
  std::unordered_map<const c10::Type*, c10::StrongTypePtr> found_;
};

/// An object whose attributes are those of a dict, which must have them all.
c10::intrusive_ptr<c10::ivalue::Object> object_of_attributes(
    const c10::StrongTypePtr& type, const c10::IValue& state, TypedValues& values);

/// How much work a pickle of this size may ask for.
uint64_t work_for(size_t pickle_size);

} // namespace torch::serialize
