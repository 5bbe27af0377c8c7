#include <aten/names/NamedTensorUtils.h>

#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <ostream>

namespace at {

namespace {

bool contains(DimnameList names, Dimname name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// "Tensor['N', 'C']"
struct Shown {
  DimnameList names;
};
std::ostream& operator<<(std::ostream& out, Shown shown) {
  return out << "Tensor" << shown.names;
}

void check_same_place(Dimname name, DimnameList names, DimnameList other, DimnameList searched, const char* action) {
  TORCH_CHECK(
      name.isWildcard() || !contains(searched, name), "Misaligned dims when attempting to ", action, " dims ", names,
      " and dims ", other, ": dim ", name, " appears in a different position from the right across both lists.");
}

} // namespace

bool has_names(ITensorListRef tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.has_names()) {
      return true;
    }
  }
  return false;
}

int64_t dimname_to_position(const Tensor& tensor, Dimname dim) {
  TORCH_CHECK(!dim.isWildcard(), "Please look up dimensions by name, got: name = None.");
  const DimnameList names = tensor.names();
  const auto found = std::find(names.begin(), names.end(), dim);
  TORCH_CHECK(found != names.end(), "Name ", dim, " not found in ", Shown{names}, ".");
  return found - names.begin();
}

std::vector<int64_t> dimnames_to_positions(const Tensor& tensor, DimnameList dims) {
  std::vector<int64_t> positions;
  positions.reserve(dims.size());
  for (const Dimname dim : dims) {
    positions.push_back(dimname_to_position(tensor, dim));
  }
  return positions;
}

std::vector<Dimname> unify_from_right(DimnameList names, DimnameList other, const char* action) {
  const size_t size = std::max(names.size(), other.size());
  const auto from_right = [](DimnameList list, size_t i) {
    return i < list.size() ? list[list.size() - 1 - i] : Dimname::wildcard();
  };
  std::vector<Dimname> result(size, Dimname::wildcard());
  for (size_t i = 0; i < size; ++i) {
    const Dimname name = from_right(names, i);
    const Dimname other_name = from_right(other, i);
    const std::optional<Dimname> unified = name.unify(other_name);
    TORCH_CHECK(
        unified.has_value(), "Error when attempting to ", action, " dims ", names, " and dims ", other, ": dim ", name,
        " and dim ", other_name, " are at the same position from the right but do not match.");
    if (name != other_name) {
      check_same_place(name, names, other, other, action);
      check_same_place(other_name, names, other, names, action);
    }
    result[size - 1 - i] = *unified;
  }
  return result;
}

namespace namedinference {

namespace {

bool named(const Tensor& tensor) {
  return tensor.defined() && tensor.has_names();
}

// Of a product, the last two dimensions are the matrices' and those before them the batch's.
DimnameList batch_of(DimnameList names) {
  return names.size() > 2 ? names.slice(0, names.size() - 2) : DimnameList();
}
DimnameList matrix_of(DimnameList names) {
  return names.size() > 2 ? names.slice(names.size() - 2) : names;
}

void check_distinct(
    DimnameList self, DimnameList other, DimnameList batch, DimnameList features, bool features_of_second) {
  for (const Dimname name : features) {
    TORCH_CHECK(
        name.isWildcard() || !contains(batch, name), "Misaligned dims when batch matrix multiplying ", Shown{self},
        " and ", Shown{other}, ": there is overlap between the feature dims of the ",
        features_of_second ? "second" : "first", " tensor (", features, ") and the batch dims of the ",
        features_of_second ? "first" : "second", " tensor (", batch,
        "). Please ensure batch dims are not present in the feature dims.");
  }
}

std::vector<Dimname> names_of_product(DimnameList self, DimnameList other) {
  TORCH_CHECK(
      !self.empty() && !other.empty(), "both arguments to matmul need to be at least 1D, but they are ", self.size(),
      "D and ", other.size(), "D");
  check_distinct(self, other, batch_of(self), matrix_of(other), /*features_of_second=*/true);
  check_distinct(self, other, batch_of(other), matrix_of(self), /*features_of_second=*/false);

  std::vector<Dimname> result = unify_from_right(batch_of(self), batch_of(other));
  // Rows of the first and columns of the second are left; the dimensions that are summed over need not have one name.
  if (self.size() > 1) {
    result.push_back(self[self.size() - 2]);
  }
  if (other.size() > 1) {
    result.push_back(other.back());
  }
  if (self.size() > 1 && other.size() > 1) {
    const Dimname row = result[result.size() - 2];
    TORCH_CHECK(
        row.isWildcard() || row != result.back(), "Matrix multiplying ", Shown{self}, " with ", Shown{other},
        " would produce output tensor with duplicate names ", DimnameList(result),
        ". Please rename the input tensors with `Tensor.rename` to prevent this.");
  }
  return result;
}

std::vector<Dimname> names_of_added_product(const Tensor& first, const Tensor& second, const Tensor& bias) {
  if (!named(first) && !named(second) && !named(bias)) {
    return {};
  }
  return unify_from_right(names_of_product(first.names(), second.names()), bias.names());
}

} // namespace

TensorImpl* propagate_names_if_nonempty(TensorImpl* result, DimnameList maybe_names, bool validate_names) {
  return maybe_names.empty() ? result : propagate_names(result, maybe_names, validate_names);
}
void propagate_names_if_nonempty(const TensorBase& result, DimnameList maybe_names, bool validate_names) {
  propagate_names_if_nonempty(result.unsafeGetTensorImpl(), maybe_names, validate_names);
}
const Tensor& propagate_names_if_nonempty(const Tensor& result, DimnameList maybe_names, bool validate_names) {
  propagate_names_if_nonempty(result.unsafeGetTensorImpl(), maybe_names, validate_names);
  return result;
}

TensorImpl* propagate_names(TensorImpl* result, DimnameList names, bool validate_names) {
  TORCH_CHECK(
      result->dim() == 0 || !names.empty(), "propagate_names: the list of names is empty, and result has shape ",
      result->sizes(), "; call propagate_names_if_nonempty");
  if (!at::impl::has_names(result)) {
    at::impl::internal_set_names_inplace(result, names.vec(), validate_names);
    return result;
  }
  const DimnameList present = at::impl::get_names(result);
  TORCH_CHECK(
      present == names, "Name mismatch: specified out tensor with names ", present,
      " are not the same as the computed output names ", names,
      ". Please rename the out tensor's dims with `Tensor.rename`.");
  return result;
}
void propagate_names(const TensorBase& result, DimnameList names, bool validate_names) {
  propagate_names(result.unsafeGetTensorImpl(), names, validate_names);
}
const Tensor& propagate_names(const Tensor& result, DimnameList names, bool validate_names) {
  propagate_names(result.unsafeGetTensorImpl(), names, validate_names);
  return result;
}

void propagate_names(TensorImpl* result, TensorImpl* src) {
  if (result == src || (!at::impl::has_names(src) && !at::impl::has_names(result))) {
    return;
  }
  propagate_names(result, at::impl::get_names(src));
}
void propagate_names(const TensorBase& result, const TensorBase& src) {
  propagate_names(result.unsafeGetTensorImpl(), src.unsafeGetTensorImpl());
}
void propagate_names(const Tensor& result, const Tensor& src) {
  propagate_names(result.unsafeGetTensorImpl(), src.unsafeGetTensorImpl());
}

void propagate_names_except(const Tensor& result, const Tensor& src, IntArrayRef excluded) {
  if (!named(result) && !named(src)) {
    return;
  }
  std::vector<Dimname> names = src.names().vec();
  std::vector<int64_t> dims;
  for (const int64_t dim : excluded) {
    dims.push_back(c10::maybe_wrap_dim(dim, src.dim()));
  }
  std::sort(dims.rbegin(), dims.rend());
  for (const int64_t dim : dims) {
    // A tensor without dimensions is reduced along dimension 0, which it has not.
    if (!names.empty()) {
      names.erase(names.begin() + dim);
    }
  }
  propagate_names(result, names);
}

void propagate_names_for_reduction(const Tensor& result, const Tensor& src, IntArrayRef reduced, bool keepdim) {
  if (keepdim) {
    propagate_names(result, src);
  } else if (!reduced.empty()) { // an empty list stands for all dimensions
    propagate_names_except(result, src, reduced);
  }
}

void propagate_names_for_expand(const Tensor& result, const Tensor& self) {
  if (!named(self)) {
    return;
  }
  std::vector<Dimname> names(static_cast<size_t>(result.dim() - self.dim()), Dimname::wildcard());
  names.insert(names.end(), self.names().begin(), self.names().end());
  propagate_names(result, names);
}

std::vector<Dimname> compute_squeeze_outnames(const Tensor& tensor) {
  std::vector<Dimname> names;
  if (named(tensor)) {
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      if (tensor.size(d) != 1) {
        names.push_back(tensor.names()[static_cast<size_t>(d)]);
      }
    }
  }
  return names;
}

std::vector<Dimname> compute_diagonal_outnames(const Tensor& tensor, int64_t dim1, int64_t dim2) {
  std::vector<Dimname> names;
  if (named(tensor)) {
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      if (d != dim1 && d != dim2) {
        names.push_back(tensor.names()[static_cast<size_t>(d)]);
      }
    }
    names.push_back(Dimname::wildcard());
  }
  return names;
}

std::vector<Dimname> compute_broadcast_outnames(const Tensor& self, const Tensor& other) {
  if (!named(self) && !named(other)) {
    return {};
  }
  return unify_from_right(self.names(), other.names());
}

std::vector<Dimname> broadcast_to_outnames(const Tensor& tensor, const Tensor& reference, const char* op_name) {
  if (!named(tensor) && !named(reference)) {
    return {};
  }
  const DimnameList names = tensor.names();
  const DimnameList wanted = reference.names();
  TORCH_CHECK(
      wanted.size() >= names.size(), op_name, ": attempted to broadcast ", Shown{names}, " to ", Shown{wanted},
      ", which has fewer dimensions. Remove dimensions of the first, e.g. with squeeze()");
  return unify_from_right(wanted, names);
}

std::vector<Dimname> compute_cat_outnames(const MaterializedITensorListRef& tensors) {
  if (std::none_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return named(t); })) {
    return {};
  }
  std::vector<Dimname> result;
  for (const Tensor& tensor : tensors) {
    const DimnameList names = tensor.names();
    TORCH_CHECK(!names.empty(), "zero-dimensional tensor cannot be concatenated");
    TORCH_CHECK(
        result.empty() || names.size() == result.size(), "Tensors must have same number of dimensions: got ",
        result.size(), " and ", names.size());
    result = unify_from_right(result, names, "cat");
  }
  return result;
}

std::vector<Dimname> compute_matmul_outnames(const Tensor& self, const Tensor& other) {
  if (!named(self) && !named(other)) {
    return {};
  }
  return names_of_product(self.names(), other.names());
}

std::vector<Dimname> compute_bmm_outnames(const Tensor& result, const Tensor& self, const Tensor& other) {
  if (!named(result) && !named(self) && !named(other)) {
    return {};
  }
  return names_of_product(self.names(), other.names());
}

std::vector<Dimname> compute_baddbmm_outnames(
    const Tensor& result, const Tensor& self, const Tensor& other, const Tensor& bias) {
  if (!named(result) && !named(self) && !named(other) && !named(bias)) {
    return {};
  }
  return unify_from_right(names_of_product(self.names(), other.names()), bias.names());
}

std::vector<Dimname> compute_cdist_outnames(const Tensor& self, const Tensor& other) {
  if (!named(self) && !named(other)) {
    return {};
  }
  const DimnameList names = self.names();
  const DimnameList other_names = other.names();
  std::vector<Dimname> result = unify_from_right(batch_of(names), batch_of(other_names));
  result.push_back(names[names.size() - 2]);
  result.push_back(other_names[other_names.size() - 2]);
  return result;
}

std::vector<Dimname> propagate_names_for_addmm(const Tensor& m1, const Tensor& m2, const Tensor& bias) {
  return names_of_added_product(m1, m2, bias);
}
std::vector<Dimname> propagate_names_for_addmv(const Tensor& mat, const Tensor& vec, const Tensor& bias) {
  return names_of_added_product(mat, vec, bias);
}

void check_names_for_dot(TensorImpl* vec1, TensorImpl* vec2) {
  if (at::impl::has_names(vec1) || at::impl::has_names(vec2)) {
    names_of_product(at::impl::get_names(vec1), at::impl::get_names(vec2));
  }
}

bool are_names_equal(TensorImpl* self, TensorImpl* other) {
  return (!at::impl::has_names(self) && !at::impl::has_names(other)) ||
      at::impl::get_names(self) == at::impl::get_names(other);
}

} // namespace namedinference
} // namespace at
