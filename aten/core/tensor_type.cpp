#include <aten/core/tensor_type.h>

#include <aten/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/strides.h>

#include <numeric>
#include <ostream>

namespace c10 {

namespace {

using Dims = std::vector<size_t>;

// Dimensions from the smallest stride to the largest, where TensorIterator would put them: dimensions of stride 0 stay
// where they are, between their neighbours. Insertion sort, since the relation is not transitive.
Dims sorted_by_stride(IntArrayRef sizes, IntArrayRef strides) {
  Dims dims(sizes.size());
  std::iota(dims.rbegin(), dims.rend(), size_t{0});
  const auto comes_after = [&](size_t a, size_t b) {
    if (strides[a] == 0 || strides[b] == 0) {
      return 0;
    }
    if (strides[a] != strides[b]) {
      return strides[a] < strides[b] ? -1 : 1;
    }
    return sizes[a] > sizes[b] ? 1 : 0;
  };
  for (size_t i = 1; i < dims.size(); ++i) {
    size_t place = i;
    for (size_t before = i; before-- > 0;) {
      const int order = comes_after(dims[before], dims[place]);
      if (order < 0) {
        break;
      }
      if (order > 0) {
        std::swap(dims[before], dims[place]);
        place = before;
      }
    }
  }
  return dims;
}

// Channels last and row-major are told by their strides as a whole, since sizes of 1 make single strides ambiguous.
bool has_format_strides(IntArrayRef sizes, IntArrayRef strides, bool channels_last) {
  return channels_last ? is_channels_last_strides_2d(sizes, strides) || is_channels_last_strides_3d(sizes, strides)
                       : strides == IntArrayRef(contiguous_strides(sizes));
}

// Whether a step along some dimension may end within the dimension below it.
bool may_overlap(IntArrayRef sizes, IntArrayRef strides) {
  Dims dims(sizes.size());
  std::iota(dims.rbegin(), dims.rend(), size_t{0});
  std::stable_sort(dims.begin(), dims.end(), [&](size_t a, size_t b) { return strides[a] < strides[b]; });
  for (size_t i = 1; i < dims.size(); ++i) {
    if (sizes[dims[i]] != 1 && strides[dims[i]] < sizes[dims[i - 1]] * strides[dims[i - 1]]) {
      return true;
    }
  }
  return false;
}

VaryingShape<Stride> stride_properties_of(IntArrayRef sizes, IntArrayRef strides, bool tensor_is_contiguous) {
  Dims dims;
  bool overlaps = false;
  if (has_format_strides(sizes, strides, /*channels_last=*/true)) {
    dims.push_back(1);
    for (size_t dim = sizes.size() - 1; dim >= 2; --dim) {
      dims.push_back(dim);
    }
    dims.push_back(0);
  } else if (has_format_strides(sizes, strides, /*channels_last=*/false)) {
    dims.resize(sizes.size());
    std::iota(dims.rbegin(), dims.rend(), size_t{0});
  } else {
    dims = sorted_by_stride(sizes, strides);
    overlaps = !tensor_is_contiguous && may_overlap(sizes, strides);
  }
  std::vector<Stride> properties;
  int64_t dense = 1; // what the stride is if the dimension lies densely over the one before
  for (const size_t dim : dims) {
    const int64_t stride = strides[dim];
    const bool is_dense = stride == 1 || (!properties.empty() && stride != 0 && stride == dense);
    const bool contiguous = tensor_is_contiguous || (!overlaps && is_dense);
    properties.emplace_back(dim, contiguous, static_cast<size_t>(stride));
    dense = stride * sizes[dim];
  }
  return properties;
}

// Strides are known together with sizes, or their number alone.
VaryingShape<Stride> known_strides(const VaryingShape<int64_t>& sizes, const VaryingShape<int64_t>& strides) {
  const std::optional<std::vector<int64_t>> all_sizes = sizes.concrete_sizes();
  const std::optional<std::vector<int64_t>> all_strides = strides.concrete_sizes();
  if (all_sizes && all_strides && all_sizes->size() == all_strides->size()) {
    return stride_properties_of(*all_sizes, *all_strides, /*tensor_is_contiguous=*/false);
  }
  return VaryingShape<Stride>(sizes.size());
}

} // namespace

struct TensorType::Properties {
  std::optional<ScalarType> scalar_type;
  std::optional<Device> device;
  VaryingShape<int64_t> sizes;
  VaryingShape<Stride> strides;
  std::optional<bool> requires_grad;
  std::optional<bool> undefined;
  bool inferred = false;

  bool operator==(const Properties& other) const {
    return scalar_type == other.scalar_type && device == other.device && sizes == other.sizes &&
        strides == other.strides && requires_grad == other.requires_grad && undefined == other.undefined;
  }
};

TensorType::TensorType() : SimpleType(Kind) {}
TensorType::TensorType(Properties properties) : SimpleType(Kind), properties_(new Properties(std::move(properties))) {}
TensorType::~TensorType() = default;

std::shared_ptr<TensorType> TensorType::make(Properties properties) {
  std::shared_ptr<TensorType> type(new TensorType(std::move(properties)));
  type->self_ = type;
  return type;
}

const TensorType::Properties& TensorType::properties() const {
  static const Properties& unknown = *new Properties();
  return properties_ ? *properties_ : unknown;
}

// Never destroyed, like the other types without parameters.
std::shared_ptr<TensorType> TensorType::get() {
  static TensorType* const instance = new TensorType();
  return std::shared_ptr<TensorType>(std::shared_ptr<void>(), instance);
}

std::shared_ptr<TensorType> TensorType::getInferred() {
  static const auto& type = *new auto([] {
    Properties properties;
    properties.inferred = true;
    return make(std::move(properties));
  }());
  return type;
}

std::shared_ptr<TensorType> TensorType::create(const at::Tensor& tensor) {
  Properties properties;
  if (!tensor.defined()) {
    properties.undefined = true;
    return make(std::move(properties));
  }
  properties.scalar_type = tensor.scalar_type();
  properties.device = tensor.device();
  properties.requires_grad = tensor.requires_grad();
  properties.undefined = false;
  properties.sizes = VaryingShape<int64_t>(tensor.sizes());
  if (tensor.layout() == Layout::Strided) {
    properties.strides = stride_properties_of(tensor.sizes(), tensor.strides(), tensor.is_contiguous());
  }
  return make(std::move(properties));
}

std::shared_ptr<TensorType> TensorType::create(
    std::optional<ScalarType> scalar_type,
    std::optional<Device> device,
    std::optional<size_t> dim,
    std::optional<bool> requires_grad) {
  return create(
      scalar_type, device, VaryingShape<int64_t>(dim), VaryingShape<int64_t>(dim), requires_grad, std::nullopt);
}

std::shared_ptr<TensorType> TensorType::create(
    std::optional<ScalarType> scalar_type,
    std::optional<Device> device,
    const VaryingShape<int64_t>& sizes,
    const VaryingShape<int64_t>& strides,
    std::optional<bool> requires_grad,
    std::optional<bool> undefined) {
  return make(Properties{scalar_type, device, sizes, known_strides(sizes, strides), requires_grad, undefined});
}

std::shared_ptr<TensorType> TensorType::create(
    std::optional<ScalarType> scalar_type,
    std::optional<Device> device,
    const SymbolicShape& sizes,
    const VaryingShape<Stride>& strides,
    std::optional<bool> requires_grad,
    std::optional<bool> undefined) {
  VaryingShape<int64_t> known_sizes;
  if (sizes.sizes()) {
    std::vector<std::optional<int64_t>> dims;
    for (const ShapeSymbol& size : *sizes.sizes()) {
      dims.push_back(size.is_static() ? std::optional<int64_t>(size.static_size()) : std::nullopt);
    }
    known_sizes = VaryingShape<int64_t>(std::move(dims));
  }
  return make(Properties{scalar_type, device, known_sizes, strides, requires_grad, undefined});
}

std::shared_ptr<TensorType> TensorType::createContiguous(
    ScalarType scalar_type, Device device, ArrayRef<int64_t> sizes) {
  return create(
      scalar_type, device, VaryingShape<int64_t>(sizes), VaryingShape<int64_t>(contiguousStridesOf(sizes)),
      std::nullopt, std::nullopt);
}

std::vector<int64_t> TensorType::contiguousStridesOf(ArrayRef<int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

std::optional<ScalarType> TensorType::scalarType() const {
  return properties().scalar_type;
}
std::optional<Device> TensorType::device() const {
  return properties().device;
}
std::optional<size_t> TensorType::dim() const {
  return properties().sizes.size();
}
VaryingShape<int64_t> TensorType::sizes() const {
  return properties().sizes;
}
const VaryingShape<Stride>& TensorType::stride_properties() const {
  return properties().strides;
}
VaryingShape<int64_t> TensorType::strides() const {
  const std::optional<std::vector<std::optional<Stride>>>& ordered = stride_properties().sizes();
  if (!ordered) {
    return VaryingShape<int64_t>();
  }
  std::vector<std::optional<int64_t>> by_dimension(ordered->size());
  for (const std::optional<Stride>& stride : *ordered) {
    if (stride && stride->stride_ && stride->stride_index_ && *stride->stride_index_ < by_dimension.size()) {
      by_dimension[*stride->stride_index_] = static_cast<int64_t>(*stride->stride_);
    }
  }
  return by_dimension;
}
SymbolicShape TensorType::symbolic_sizes() const {
  const std::optional<std::vector<std::optional<int64_t>>>& known = properties().sizes.sizes();
  return known ? SymbolicShape(*known) : SymbolicShape();
}
std::optional<bool> TensorType::requiresGrad() const {
  return properties().requires_grad;
}
bool TensorType::requires_grad() const {
  return properties().requires_grad.value_or(true);
}
std::optional<bool> TensorType::undefined() const {
  return properties().undefined;
}
bool TensorType::isInferredType() const {
  return properties().inferred;
}

std::optional<size_t> TensorType::numel() const {
  const std::optional<std::vector<int64_t>> known = properties().sizes.concrete_sizes();
  if (!known) {
    return std::nullopt;
  }
  size_t count = 1;
  for (const int64_t size : *known) {
    count *= static_cast<size_t>(size);
  }
  return count;
}

bool TensorType::isComplete() const {
  const Properties& known = properties();
  return known.scalar_type && known.device && known.sizes.isComplete() && known.strides.isComplete();
}

std::shared_ptr<TensorType> TensorType::withScalarType(std::optional<ScalarType> scalar_type) const {
  Properties changed = properties();
  changed.scalar_type = scalar_type;
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::withDevice(std::optional<Device> device) const {
  Properties changed = properties();
  changed.device = device;
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::withDim(std::optional<size_t> dim) const {
  Properties changed = properties();
  changed.sizes = VaryingShape<int64_t>(dim);
  changed.strides = VaryingShape<Stride>(dim);
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::withSizes(ArrayRef<int64_t> sizes) const {
  return withSizesStrides(sizes, contiguousStridesOf(sizes));
}

std::shared_ptr<TensorType> TensorType::withSizesStrides(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) const {
  Properties changed = properties();
  changed.sizes = VaryingShape<int64_t>(sizes);
  changed.strides = known_strides(changed.sizes, strides);
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::withStrides(VaryingShape<Stride> strides) const {
  Properties changed = properties();
  changed.strides = std::move(strides);
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::withRequiresGrad(std::optional<bool> requires_grad) const {
  Properties changed = properties();
  changed.requires_grad = requires_grad;
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::withUndefined() const {
  Properties changed = properties();
  changed.undefined = true;
  return make(std::move(changed));
}

std::shared_ptr<TensorType> TensorType::dimensionedOnly() const {
  return withDim(dim());
}

std::shared_ptr<TensorType> TensorType::contiguous() const {
  const std::optional<std::vector<int64_t>> known = properties().sizes.concrete_sizes();
  TORCH_CHECK(known, "TensorType::contiguous: the sizes of ", repr_str(), " are not all known");
  return withSizes(*known);
}

std::shared_ptr<TensorType> TensorType::merge(const TensorType& other, bool merge_sizes) const {
  const auto both = [](const auto& a, const auto& b) { return a == b ? a : std::nullopt; };
  const Properties& a = properties();
  const Properties& b = other.properties();
  Properties merged{
      both(a.scalar_type, b.scalar_type),     both(a.device, b.device),      a.sizes, a.strides.merge(b.strides),
      both(a.requires_grad, b.requires_grad), both(a.undefined, b.undefined)};
  if (merge_sizes) {
    merged.sizes = a.sizes.merge(b.sizes);
  }
  return make(std::move(merged));
}

bool TensorType::equals(const Type& rhs) const {
  const TensorType* other = rhs.castRaw<TensorType>();
  return other && (properties_.get() == other->properties_.get() || properties() == other->properties());
}

bool TensorType::isSubtypeOfExt(const Type& rhs, std::ostream* why_not) const {
  const TensorType* other = rhs.castRaw<TensorType>();
  if (!other) {
    return Type::isSubtypeOfExt(rhs, why_not);
  }
  return !other->properties_ || equals(rhs) || merge(*other)->equals(rhs);
}

std::string TensorType::repr_str() const {
  return isInferredType() ? annotation_str() + " (inferred)" : annotation_str();
}

TypePtr TensorType::ptr() const {
  if (!properties_) {
    return TypePtr(std::shared_ptr<void>(), const_cast<TensorType*>(this));
  }
  return self_.lock();
}

std::ostream& operator<<(std::ostream& out, const VaryingShape<int64_t>& shape) {
  if (!shape.size()) {
    return out << "(*)";
  }
  out << '(';
  for (size_t i = 0; i < *shape.size(); ++i) {
    out << (i > 0 ? ", " : "");
    if (shape[i]) {
      out << *shape[i];
    } else {
      out << '*';
    }
  }
  return out << ')';
}

} // namespace c10
