#include "test/fuzz/tensors.h"

#include <ATen/Functions.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorImpl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "test/support/elements.h"
#include "test/support/host_view.h"

namespace fuzz {

namespace {

using c10::ScalarType;

at::Tensor over_storage(
    c10::Storage storage, ScalarType dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t offset) {
  const c10::DispatchKey backend = storage.device().is_cpu() ? c10::DispatchKey::CPU : c10::DispatchKey::CUDA;
  at::Tensor tensor = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(backend), caffe2::TypeMeta::fromScalarType(dtype));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
  tensor.unsafeGetTensorImpl()->set_storage_offset(offset);
  return tensor;
}

struct Geometry {
  Shape strides;
  int64_t offset = 0;
};

Shape strides_in_order(const Shape& sizes, const std::vector<size_t>& outer_to_inner, int64_t innermost) {
  Shape strides(sizes.size());
  int64_t stride = innermost;
  for (size_t i = outer_to_inner.size(); i > 0; --i) {
    const size_t d = outer_to_inner[i - 1];
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

std::vector<size_t> usual_order(size_t rank) {
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; ++d) {
    order[d] = d;
  }
  return order;
}

Geometry geometry(const Shape& sizes, Placing placing) {
  std::vector<size_t> order = usual_order(sizes.size());
  switch (placing) {
    case Placing::Contiguous:
      return {strides_in_order(sizes, order, 1)};
    case Placing::Offset:
      return {strides_in_order(sizes, order, 1), 3};
    case Placing::Reversed:
      return {strides_in_order(sizes, {order.rbegin(), order.rend()}, 1)};
    case Placing::Stepped:
      return {strides_in_order(sizes, order, 2), 1};
    case Placing::Padded: {
      Shape padded = sizes;
      if (!padded.empty()) {
        padded.back() += 3;
      }
      return {strides_in_order(padded, order, 1)};
    }
    case Placing::ChannelsLast:
      if (order.size() > 2) {
        std::rotate(order.begin() + 1, order.begin() + 2, order.end());
      }
      return {strides_in_order(sizes, order, 1)};
    case Placing::Expanded: {
      Geometry g{strides_in_order(sizes, order, 1)};
      for (size_t d = 0; d < sizes.size(); d += 2) {
        g.strides[d] = 0;
      }
      return g;
    }
    case Placing::Overlapping:
      return {Shape(sizes.size(), 1)};
  }
  return {};
}

double small_number(Values values, Random& random) {
  switch (values) {
    case Values::Unit:
      return random.uniform(0, 1);
    case Values::Index:
      return static_cast<double>(random.between(0, 3));
    case Values::Any:
      return static_cast<double>(random.between(-9, 9));
    default:
      return random.chance(30) ? static_cast<double>(random.between(-3, 3)) : random.uniform(-3, 3);
  }
}

double extreme_number(Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNumbers[] = {
      std::numeric_limits<double>::quiet_NaN(),
      kInfinity,
      -kInfinity,
      0.0,
      -0.0,
      1.0,
      -1.0,
      1e-310,
      1e-45,
      6e-8,
      65504.0,
      3.4e38,
      -3.4e38,
      1.79e308,
      -1.79e308,
      9.2e18,
      -9.3e18,
      2147483648.0,
      -2147483649.0,
      16777217.0,
      0.5,
      255.0,
      256.0};
  return random.pick(kNumbers);
}

int64_t extreme_integer(ScalarType dtype, Random& random) {
  constexpr int64_t kNumbers[] = {0,         1,         -1,        2,           127,        -128,
                                  255,       -32768,    -9,        1000,        2147483647, -2147483648LL,
                                  INT64_MAX, INT64_MIN, 1LL << 40, -(1LL << 33)};
  const int64_t number = random.pick(kNumbers);
  return dtype == ScalarType::Byte ? (number & 255) : number;
}

void fill(std::byte* memory, ScalarType dtype, int64_t count, Values values, Random& random) {
  const size_t item = c10::elementSize(dtype);
  if (!has_elements_to_read(dtype)) {
    for (size_t i = 0; i < static_cast<size_t>(count) * item; ++i) {
      memory[i] = static_cast<std::byte>(random.next());
    }
    return;
  }
  const bool integer = c10::isIntegralType(dtype, /*includeBool=*/true);
  for (int64_t i = 0; i < count; ++i, memory += item) {
    const bool extreme = values == Values::Extreme && random.chance(60);
    if (dtype == ScalarType::Bool) {
      test::write_integer(dtype, random.chance(50) ? 1 : 0, memory);
    } else if (integer && extreme) {
      test::write_integer(dtype, extreme_integer(dtype, random), memory);
    } else if (integer) {
      test::write_integer(
          dtype,
          static_cast<int64_t>(std::llround(small_number(values, random))) & (dtype == ScalarType::Byte ? 3 : -1),
          memory);
    } else if (extreme) {
      test::write_number(
          dtype, {extreme_number(random), c10::isComplexType(dtype) ? extreme_number(random) : 0}, memory);
    } else {
      test::write_number(
          dtype, {small_number(values, random), c10::isComplexType(dtype) ? small_number(values, random) : 0}, memory);
    }
  }
}

c10::Storage storage_for(ScalarType dtype, int64_t elements) {
  return c10::Storage(
      c10::Storage::use_byte_size_t(), static_cast<size_t>(elements) * c10::elementSize(dtype), c10::GetCPUAllocator(),
      /*resizable=*/true);
}

/// Calls visit(row-major position, element index in the storage).
template <class Visit>
void for_each_element(c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t offset, const Visit& visit) {
  int64_t count = 1;
  for (const int64_t size : sizes) {
    count *= size;
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i;
    int64_t index = offset;
    for (size_t d = sizes.size(); d > 0; --d) {
      index += rest % sizes[d - 1] * strides[d - 1];
      rest /= sizes[d - 1];
    }
    visit(i, index);
  }
}

std::string show_element(const test::HostView& view, ScalarType dtype, int64_t position) {
  if (c10::isIntegralType(dtype, /*includeBool=*/true)) {
    return std::to_string(view.integer(position));
  }
  const std::complex<double> value = view.number(position);
  char text[80];
  std::snprintf(text, sizeof text, c10::isComplexType(dtype) ? "%.4g%+.4gj" : "%.4g", value.real(), value.imag());
  return text;
}

} // namespace

bool has_elements_to_read(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Bool:
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Short:
    case ScalarType::Int:
    case ScalarType::Long:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::Float:
    case ScalarType::Double:
    case ScalarType::ComplexHalf:
    case ScalarType::ComplexFloat:
    case ScalarType::ComplexDouble:
      return true;
    default:
      return false;
  }
}

int64_t extent(c10::IntArrayRef sizes, c10::IntArrayRef strides, int64_t offset) {
  int64_t last = offset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) {
      return offset;
    }
    int64_t step = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &step) || __builtin_add_overflow(last, step, &last)) {
      return -1;
    }
  }
  return last + 1;
}

at::Tensor make_tensor(ScalarType dtype, const Shape& sizes, Placing placing, Values values, Random& random) {
  const Geometry g = geometry(sizes, placing);
  const int64_t elements = extent(sizes, g.strides, g.offset);
  c10::Storage storage = storage_for(dtype, elements);
  if (elements > 0) {
    fill(static_cast<std::byte*>(storage.mutable_data()), dtype, elements, values, random);
  }
  return over_storage(std::move(storage), dtype, sizes, g.strides, g.offset);
}

bool is_plain(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == c10::kStrided && tensor.has_storage() &&
      extent(tensor.sizes(), tensor.strides(), tensor.storage_offset()) >= 0 &&
      extent(tensor.sizes(), tensor.strides(), tensor.storage_offset()) <=
      static_cast<int64_t>(tensor.storage().nbytes()) / tensor.element_size();
}

bool shares_storage(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.has_storage() && b.has_storage() &&
      a.storage().unsafeGetStorageImpl() == b.storage().unsafeGetStorageImpl();
}

at::Tensor placed(const at::Tensor& tensor, Placing placing) {
  if (!is_plain(tensor)) {
    return tensor;
  }
  const Shape sizes = tensor.sizes().vec();
  const Geometry g = geometry(sizes, placing);
  const int64_t elements = extent(sizes, g.strides, g.offset);
  const ScalarType dtype = tensor.scalar_type();
  const size_t item = c10::elementSize(dtype);
  c10::Storage storage = storage_for(dtype, elements);
  auto* to = static_cast<std::byte*>(storage.mutable_data());
  const auto* from = static_cast<const std::byte*>(tensor.storage().data());
  // Gaps between elements hold what is a valid element of every type.
  if (elements > 0) {
    std::memset(to, 1, static_cast<size_t>(elements) * item);
  }
  Shape positions(static_cast<size_t>(tensor.numel()));
  for_each_element(
      sizes, tensor.strides(), tensor.storage_offset(), [&](int64_t i, int64_t index) { positions[i] = index; });
  for_each_element(sizes, g.strides, g.offset, [&](int64_t i, int64_t index) {
    std::memcpy(to + index * item, from + positions[i] * item, item);
  });
  at::Tensor moved = over_storage(std::move(storage), dtype, sizes, g.strides, g.offset);
  c10::TensorImpl* impl = moved.unsafeGetTensorImpl();
  if (tensor.is_conj()) {
    impl->_set_conj(true);
  }
  if (tensor.is_neg()) {
    impl->_set_neg(true);
  }
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    impl->set_wrapped_number(true);
  }
  if (tensor.requires_grad()) {
    moved.set_requires_grad(true);
  }
  return moved;
}

at::Tensor converted(const at::Tensor& tensor, ScalarType dtype) {
  if (!is_plain(tensor)) {
    return tensor;
  }
  Random zero(0);
  const Shape sizes = tensor.sizes().vec();
  at::Tensor result = make_tensor(dtype, sizes, Placing::Contiguous, Values::Small, zero);
  if (!has_elements_to_read(dtype) || !has_elements_to_read(tensor.scalar_type())) {
    return result;
  }
  const test::HostView view(tensor);
  auto* to = static_cast<std::byte*>(result.storage().mutable_data());
  const bool integers = c10::isIntegralType(dtype, true) && c10::isIntegralType(tensor.scalar_type(), true);
  for (int64_t i = 0; i < tensor.numel(); ++i, to += c10::elementSize(dtype)) {
    const std::complex<double> number = view.number(i);
    if (dtype == ScalarType::Bool) {
      test::write_integer(dtype, number != 0.0 ? 1 : 0, to);
    } else if (integers) {
      test::write_integer(dtype, view.integer(i), to);
    } else if (c10::isIntegralType(dtype, true)) {
      test::write_integer(dtype, std::abs(number.real()) < 1e9 ? static_cast<int64_t>(number.real()) : 0, to);
    } else {
      test::write_number(dtype, c10::isComplexType(dtype) ? number : number.real(), to);
    }
  }
  return result;
}

at::Tensor view_of(
    const c10::Storage& storage, ScalarType dtype, const Shape& sizes, const Shape& strides, int64_t offset) {
  return over_storage(storage, dtype, sizes, strides, offset);
}

at::Tensor view_of(const at::Tensor& tensor, const Shape& sizes, const Shape& strides, int64_t offset) {
  return view_of(tensor.storage(), tensor.scalar_type(), sizes, strides, offset);
}

at::Tensor on_meta(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) {
    return tensor;
  }
  at::Tensor meta = at::empty_strided(
      tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.scalar_type()).device(c10::DeviceType::Meta));
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    meta.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
  if (tensor.is_leaf() && tensor.requires_grad()) {
    meta.set_requires_grad(true);
  }
  return meta;
}

std::string describe(const at::Tensor& tensor) {
  if (!tensor.defined()) {
    return "undefined tensor";
  }
  std::string text = test::dtype_name(tensor.scalar_type()) + " " + test::show(tensor.sizes());
  if (tensor.layout() != c10::kStrided) {
    return text + " not strided";
  }
  text += " strides " + test::show(tensor.strides());
  if (tensor.storage_offset() != 0) {
    text += " offset " + std::to_string(tensor.storage_offset());
  }
  if (!tensor.device().is_cpu()) {
    text += " " + tensor.device().str();
  }
  if (tensor.is_conj()) {
    text += " conj";
  }
  if (tensor.is_neg()) {
    text += " neg";
  }
  if (tensor.requires_grad()) {
    text += " requires_grad";
  }
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    text += " wrapped";
  }
  if (!is_plain(tensor) || !has_elements_to_read(tensor.scalar_type())) {
    return text;
  }
  text += ":";
  const test::HostView view(tensor);
  constexpr int64_t kShown = 12;
  for (int64_t i = 0; i < std::min(tensor.numel(), kShown); ++i) {
    text += " " + show_element(view, tensor.scalar_type(), i);
  }
  return tensor.numel() > kShown ? text + " ..." : text;
}

} // namespace fuzz
