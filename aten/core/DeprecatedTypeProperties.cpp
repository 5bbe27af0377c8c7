#include <aten/core/DeprecatedTypeProperties.h>

#include <aten/core/Tensor.h>
#include <aten/ops/to.h>

#include <vector>

namespace at {

c10::Layout DeprecatedTypeProperties::layout() const {
  if (backend_ == c10::Backend::MkldnnCPU) {
    return c10::kMkldnn;
  }
  return is_sparse() ? c10::kSparse : is_sparse_csr() ? c10::kSparseCsr : c10::kStrided;
}

std::string DeprecatedTypeProperties::toString() const {
  if (backend_ == c10::Backend::Undefined || scalar_type_ == c10::ScalarType::Undefined) {
    return "UndefinedType";
  }
  return std::string(c10::toString(backend_)) + c10::toString(scalar_type_) + "Type";
}

DeprecatedTypeProperties& DeprecatedTypeProperties::toBackend(c10::Backend b) const {
  return globalDeprecatedTypePropertiesRegistry().getDeprecatedTypeProperties(b, scalar_type_);
}

DeprecatedTypeProperties& DeprecatedTypeProperties::toScalarType(c10::ScalarType s) const {
  return globalDeprecatedTypePropertiesRegistry().getDeprecatedTypeProperties(backend_, s);
}

c10::TensorOptions DeprecatedTypeProperties::options(int16_t device_index) const {
  return c10::TensorOptions()
      .dtype(typeMeta())
      .device(c10::Device(device_type(), static_cast<c10::DeviceIndex>(device_index)))
      .layout(layout());
}

c10::TensorOptions DeprecatedTypeProperties::options(std::optional<c10::Device> device_opt) const {
  TORCH_CHECK(
      !device_opt || device_opt->type() == device_type(), "options: device ", *device_opt, " is not one of backend ",
      c10::toString(backend_));
  return options(device_opt ? device_opt->index() : int16_t{-1});
}

Tensor DeprecatedTypeProperties::copy(
    const Tensor& src, bool non_blocking, std::optional<c10::Device> to_device) const {
  return src.to(options(to_device), non_blocking, /*copy=*/true);
}

DeprecatedTypeProperties& DeprecatedTypePropertiesRegistry::getDeprecatedTypeProperties(
    c10::Backend p, c10::ScalarType s) const {
  constexpr auto kBackends = static_cast<size_t>(c10::Backend::NumOptions);
  constexpr auto kDtypes = static_cast<size_t>(c10::ScalarType::NumOptions);
  static std::vector<DeprecatedTypeProperties>& all = *[] {
    auto* made = new std::vector<DeprecatedTypeProperties>();
    made->reserve(kBackends * kDtypes);
    for (size_t i = 0; i < kBackends * kDtypes; ++i) {
      made->emplace_back(static_cast<c10::Backend>(i / kDtypes), static_cast<c10::ScalarType>(i % kDtypes));
    }
    return made;
  }();
  const auto backend = static_cast<size_t>(p);
  const auto dtype = static_cast<size_t>(s);
  TORCH_CHECK(backend < kBackends && dtype < kDtypes, "There is no type with backend ", backend, " and dtype ", dtype);
  return all[backend * kDtypes + dtype];
}

DeprecatedTypePropertiesRegistry& globalDeprecatedTypePropertiesRegistry() {
  static DeprecatedTypePropertiesRegistry registry;
  return registry;
}

DeprecatedTypeProperties& Tensor::type() const {
  TORCH_CHECK(defined(), "type() called on an undefined tensor");
  return globalDeprecatedTypePropertiesRegistry().getDeprecatedTypeProperties(options().backend(), scalar_type());
}

} // namespace at
