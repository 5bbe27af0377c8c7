#include <c10/core/TypeMeta.h>

#include <mutex>
#include <ostream>

namespace caffe2 {

std::ostream& operator<<(std::ostream& stream, TypeIdentifier type_id) {
  return stream << type_id.underlyingId();
}

std::ostream& operator<<(std::ostream& stream, TypeMeta type_meta) {
  return stream << type_meta.name();
}

namespace detail {

void _ThrowRuntimeTypeLogicError(const std::string& msg) {
  TORCH_CHECK(false, msg);
}

namespace {

constexpr size_t kMaxTypes = 1024;

struct Table {
  TypeMetaData data[kMaxTypes] = {
#define C10_ROW_(type, name) make_type_meta_data<type>(TypeMeta::TypeName<type>()),
      AT_FORALL_SCALAR_TYPES_WITH_COMPLEX_AND_QINTS(C10_ROW_)
#undef C10_ROW_
          TypeMetaData{},
  };
  size_t count = c10::NumScalarTypes;
  std::mutex mutex;
};

// Never destroyed: objects of registered types may outlive static destruction.
Table& table() {
  static auto& instance = *new Table;
  return instance;
}

} // namespace

uint16_t register_type(const TypeMetaData& data) {
  Table& types = table();
  const std::lock_guard<std::mutex> lock(types.mutex);
  for (size_t i = c10::NumScalarTypes; i < types.count; ++i) {
    // The same type, first seen by another shared library.
    if (types.data[i].id_ == data.id_) {
      return static_cast<uint16_t>(i);
    }
  }
  TORCH_CHECK(
      types.count < kMaxTypes, "Maximum number of element types reached: ", kMaxTypes, ", while adding ", data.name_);
  types.data[types.count] = data;
  return static_cast<uint16_t>(types.count++);
}

const TypeMetaData& type_meta_data(uint16_t index) {
  return table().data[index];
}

void not_a_scalar_type(uint16_t index) {
  AT_ERROR("Unsupported TypeMeta in ATen: ", type_meta_data(index).name_, " is not an element type of tensors");
}

} // namespace detail
} // namespace caffe2
