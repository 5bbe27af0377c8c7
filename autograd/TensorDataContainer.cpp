#include <autograd/TensorDataContainer.h>

#include <aten/Functions.h>
#include <aten/core/LegacyTypeDispatch.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <cstring>
#include <ostream>

namespace torch::detail {

TensorDataContainer::TensorDataContainer()
    : sizes_({0}), scalar_type_(c10::get_default_dtype_as_scalartype()), type_(TensorDataContainerType::InitList) {}

TensorDataContainer::TensorDataContainer(std::initializer_list<TensorDataContainer> init_list)
    : scalar_type_(c10::get_default_dtype_as_scalartype()), type_(TensorDataContainerType::InitList), list_(init_list) {
  sizes_.push_back(static_cast<int64_t>(list_->size()));
  if (list_->empty()) {
    return;
  }
  const TensorDataContainer& first = (*list_)[0];
  scalar_type_ = first.scalar_type_;
  for (const TensorDataContainer& item : *list_) {
    TORCH_CHECK(
        item.sizes_ == first.sizes_, "Expected all sub-lists to have sizes: ", c10::Join(" ", first.sizes_), " (e.g. ",
        first, "), but got sub-list ", item, " with sizes: ", c10::Join(" ", item.sizes_));
    TORCH_CHECK(
        item.scalar_type_ == first.scalar_type_,
        "Expected all elements of the tensor to have the same scalar type: ", first.scalar_type_,
        ", but got element of scalar type: ", item.scalar_type_);
  }
  sizes_.insert(sizes_.end(), first.sizes_.begin(), first.sizes_.end());
}

c10::ScalarType compute_desired_dtype(c10::ScalarType number) {
  switch (number) {
    case at::kInt:
    case at::kLong:
      return at::kLong;
    case at::kFloat:
    case at::kDouble:
      return c10::get_default_dtype_as_scalartype();
    default:
      return number;
  }
}

TensorDataContainer::TensorDataContainer(c10::Scalar number, c10::ScalarType dtype)
    : scalar_type_(dtype), type_(TensorDataContainerType::Scalar), scalar_(std::move(number)) {}

#define TENSOR_DATA_NUMBER(T, S) \
  TensorDataContainer::TensorDataContainer(T value) : TensorDataContainer(c10::Scalar(value), at::k##S) {}
AT_FORALL_SCALAR_TYPES_AND3(Bool, Half, BFloat16, TENSOR_DATA_NUMBER)
AT_FORALL_COMPLEX_TYPES(TENSOR_DATA_NUMBER)
#undef TENSOR_DATA_NUMBER

#define TENSOR_DATA_ARRAY(T, S)                                          \
  TensorDataContainer::TensorDataContainer(at::ArrayRef<T> values)       \
      : TensorDataContainer(values.data(), values.size(), at::k##S) {}   \
  TensorDataContainer::TensorDataContainer(const std::vector<T>& values) \
      : TensorDataContainer(values.data(), values.size(), at::k##S) {}
AT_FORALL_SCALAR_TYPES_AND2(Half, BFloat16, TENSOR_DATA_ARRAY)
AT_FORALL_COMPLEX_TYPES(TENSOR_DATA_ARRAY)
#undef TENSOR_DATA_ARRAY

TensorDataContainer::TensorDataContainer(at::ArrayRef<bool> values)
    : TensorDataContainer(values.data(), values.size(), at::kBool) {}

TensorDataContainer::TensorDataContainer(const TensorDataContainer& other) = default;
TensorDataContainer::TensorDataContainer(TensorDataContainer&& other) noexcept = default;
TensorDataContainer& TensorDataContainer::operator=(const TensorDataContainer& other) = default;
TensorDataContainer& TensorDataContainer::operator=(TensorDataContainer&& other) noexcept = default;
TensorDataContainer::~TensorDataContainer() = default;

TensorDataContainer::TensorDataContainer(const void* data, size_t count, c10::ScalarType dtype)
    : sizes_({static_cast<int64_t>(count)}), scalar_type_(dtype), type_(TensorDataContainerType::Tensor) {
  at::AutoDispatchBelowADInplaceOrView guard;
  tensor_ = at::empty(sizes_, at::TensorOptions(dtype).device(at::kCPU));
  if (count > 0) {
    std::memcpy(tensor_.mutable_data_ptr(), data, tensor_.nbytes());
  }
}

TensorDataContainer::TensorDataContainer(const std::vector<bool>& values)
    : sizes_({static_cast<int64_t>(values.size())}), scalar_type_(at::kBool), type_(TensorDataContainerType::Tensor) {
  at::AutoDispatchBelowADInplaceOrView guard;
  tensor_ = at::empty(sizes_, at::TensorOptions(at::kBool).device(at::kCPU));
  std::copy(values.begin(), values.end(), tensor_.mutable_data_ptr<bool>());
}

const c10::Scalar& TensorDataContainer::scalar() const {
  TORCH_CHECK(is_scalar(), "Can only call `scalar()` on a TensorDataContainer that has `is_scalar() == true`");
  return scalar_;
}

const std::vector<TensorDataContainer>& TensorDataContainer::init_list() const {
  TORCH_CHECK(is_init_list(), "Can only call `init_list()` on a TensorDataContainer that has `is_init_list() == true`");
  return *list_;
}

const at::Tensor& TensorDataContainer::tensor() const {
  TORCH_CHECK(is_tensor(), "Can only call `tensor()` on a TensorDataContainer that has `is_tensor() == true`");
  return tensor_;
}

at::Tensor TensorDataContainer::convert_to_tensor(at::TensorOptions options) const {
  options = options.requires_grad(std::nullopt);
  if (!options.has_dtype()) {
    options = options.dtype(compute_desired_dtype(scalar_type_));
  }
  if (is_scalar()) {
    return at::scalar_tensor(scalar_, options);
  }
  if (is_tensor()) {
    const c10::ScalarType dtype = c10::typeMetaToScalarType(options.dtype());
    TORCH_CHECK(
        !tensor_.is_complex() || at::isComplexType(dtype),
        "can not do torch::tensor(complex, dtype=non-complex) because complex can not be casted to real number without "
        "loss of information: got values of ",
        tensor_.scalar_type(), " for the dtype ", dtype, "; take their real part");
    return tensor_.to(options);
  }
  at::Tensor result = at::empty(sizes_, options.device(at::kCPU));
  fill(result);
  return result.to(options.device());
}

void TensorDataContainer::fill(at::Tensor& tensor) const {
  if (is_scalar()) {
    tensor.fill_(scalar_);
  } else if (is_tensor()) {
    tensor.copy_(tensor_);
  } else {
    for (size_t i = 0; i < list_->size(); ++i) {
      at::Tensor row = tensor.select(0, static_cast<int64_t>(i));
      (*list_)[i].fill(row);
    }
  }
}

namespace {

void print_number(std::ostream& out, const c10::Scalar& number) {
  if (number.isComplex()) {
    out << number.toComplexDouble();
  } else if (number.isFloatingPoint()) {
    out << number.toDouble();
  } else {
    out << number.toLong();
  }
}

// Prints `size` items in braces, each by `print_item`.
template <typename PrintItem>
void print_braces(std::ostream& out, int64_t size, const PrintItem& print_item) {
  out << '{';
  for (int64_t i = 0; i < size; ++i) {
    out << (i == 0 ? "" : ", ");
    print_item(i);
  }
  out << '}';
}

} // namespace

std::ostream& operator<<(std::ostream& out, const TensorDataContainer& container) {
  const int64_t size = container.is_scalar() ? 0 : container.sizes()[0];
  if (container.is_scalar()) {
    print_number(out, container.scalar());
  } else if (container.is_tensor()) {
    print_braces(out, size, [&](int64_t i) { print_number(out, container.tensor()[i].item()); });
  } else {
    print_braces(out, size, [&](int64_t i) { out << container.init_list()[static_cast<size_t>(i)]; });
  }
  return out;
}

} // namespace torch::detail
