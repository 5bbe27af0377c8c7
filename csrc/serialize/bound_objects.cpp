#include <csrc/serialize/bound_objects.h>

#include <csrc/jit/serialize/archive_classes.h>
#include <csrc/serialize/resolved_classes.h>
#include <csrc/serialize/tensor_file.h>
#include <aten/library/custom_class.h>
#include <c10/util/Exception.h>

namespace torch::serialize {

namespace {

c10::StrongTypePtr find_bound_class(const c10::QualifiedName& name) {
  const c10::TypePtr type = getCustomClass(name.qualifiedName());
  TORCH_CHECK(
      type != nullptr, "the class ", name.qualifiedName(),
      " is not bound: load the library whose torch::class_ binds it before");
  return {nullptr, type};
}

} // namespace

c10::IValue read_bound_object(FileBytes bytes, std::optional<c10::Device> device) {
  const uint64_t work = work_for(bytes.size());
  TypedValues values(work);
  const auto restore = [&](const c10::StrongTypePtr& type, const c10::IValue& state) {
    return jit::objectOfState(type, state, values);
  };
  ResolvedClasses classes(find_bound_class, restore, work);
  return read_tensor_file(std::move(bytes), device, /*verify=*/true, &classes).value;
}

} // namespace torch::serialize

namespace torch::jit {

c10::IValue pickle_load_obj(std::string_view data) {
  return serialize::read_bound_object(serialize::FileBytes::view(data.data(), data.size()), std::nullopt);
}

} // namespace torch::jit
