#include <aten/core/NamedTensor.h>

#include <aten/core/TensorBase.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace at {

namespace {

void check_unique(DimnameList names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const bool repeats =
        !names[i].isWildcard() && std::find(names.begin() + i + 1, names.end(), names[i]) != names.end();
    TORCH_CHECK(!repeats, "Cannot construct a tensor with duplicate names. Got names: ", names, ".");
  }
}

bool all_wildcards(DimnameList names) {
  return std::all_of(names.begin(), names.end(), [](const Dimname& name) { return name.isWildcard(); });
}

const NamedTensorMeta* meta_of(const c10::TensorImpl* impl) {
  return static_cast<const NamedTensorMeta*>(impl->named_tensor_meta());
}

} // namespace

NamedTensorMeta::NamedTensorMeta(HAS_NON_WILDCARD, DimnameList names) : names_(names.vec()) {}
NamedTensorMeta::NamedTensorMeta(HAS_NON_WILDCARD, std::vector<Dimname>&& names) : names_(std::move(names)) {}
NamedTensorMeta::~NamedTensorMeta() = default;

std::unique_ptr<c10::NamedTensorMetaInterface> NamedTensorMeta::clone() const {
  return std::make_unique<NamedTensorMeta>(HasNonWildcard, *names_);
}
int64_t NamedTensorMeta::slow_dim() const {
  return static_cast<int64_t>(names_->size());
}
DimnameList NamedTensorMeta::names() const {
  return *names_;
}
void NamedTensorMeta::set_names(HAS_NON_WILDCARD, DimnameList new_names) {
  names_.set(new_names.vec());
}
void NamedTensorMeta::set_names(HAS_NON_WILDCARD, std::vector<Dimname>&& new_names) {
  *names_ = std::move(new_names);
}

DimnameList default_names(size_t len) {
  static const std::vector<Dimname> all(kMaxNamedTensorDim, Dimname::wildcard());
  TORCH_CHECK(
      len <= kMaxNamedTensorDim, "Only tensors with up to ", kMaxNamedTensorDim, " are supported with names, got ", len,
      " dimensions");
  return DimnameList(all.data(), len);
}

void check_names_valid_for(size_t tensor_dim, DimnameList names) {
  TORCH_CHECK(
      tensor_dim <= kMaxNamedTensorDim, "Named tensors only support up to ", kMaxNamedTensorDim,
      " dims: Attempted to create a tensor with dim ", tensor_dim, " with names ", names);
  TORCH_CHECK(
      tensor_dim == names.size(), "Number of names (", names.size(), ") and number of dimensions in tensor (",
      tensor_dim, ") do not match. Attempted to create a tensor with names ", names);
  check_unique(names);
}

void check_names_valid_for(const TensorBase& tensor, DimnameList names) {
  impl::check_names_valid_for(tensor.unsafeGetTensorImpl(), names);
}

const TensorBase& internal_set_names_inplace(const TensorBase& tensor, std::optional<DimnameList> names) {
  impl::internal_set_names_inplace(tensor.unsafeGetTensorImpl(), names, /*validate_names=*/true);
  return tensor;
}

const TensorBase& internal_set_names_inplace(
    const TensorBase& tensor, std::vector<Dimname>&& names, bool validate_names) {
  impl::internal_set_names_inplace(tensor.unsafeGetTensorImpl(), std::move(names), validate_names);
  return tensor;
}

namespace impl {

std::atomic<bool> names_in_use{false};

void check_names_valid_for(TensorImpl* impl, DimnameList names) {
  at::check_names_valid_for(static_cast<size_t>(impl->dim()), names);
}

void internal_set_names_inplace(TensorImpl* impl, std::vector<Dimname>&& names, bool validate_names) {
  if (validate_names) {
    check_names_valid_for(impl, names);
  }
  if (all_wildcards(names)) {
    impl->set_named_tensor_meta(nullptr);
    return;
  }
  names_in_use.store(true, std::memory_order_relaxed);
  impl->set_named_tensor_meta(std::make_unique<NamedTensorMeta>(NamedTensorMeta::HasNonWildcard, std::move(names)));
}

void internal_set_names_inplace(TensorImpl* impl, std::optional<DimnameList> names, bool validate_names) {
  TORCH_CHECK(
      impl->layout() == Layout::Strided, "NYI: named tensors only support strided layout, got ", impl->layout());
  if (!names) {
    impl->set_named_tensor_meta(nullptr);
    return;
  }
  internal_set_names_inplace(impl, names->vec(), validate_names);
}

std::optional<DimnameList> get_opt_names(const TensorImpl* impl) {
  return has_names(impl) ? std::optional<DimnameList>(meta_of(impl)->names()) : std::nullopt;
}

DimnameList get_names(const TensorImpl* impl) {
  const std::optional<DimnameList> names = get_opt_names(impl);
  return names ? *names : default_names(static_cast<size_t>(impl->dim()));
}

} // namespace impl
} // namespace at
