// Names of dimensions: given, changed, and in the place of a dimension's number.
#include <aten/Functions.h>
#include <aten/names/NamedTensorUtils.h>
#include <aten/names/disregard_names.h>

#include <c10/core/WrapDimMinimal.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace at::native {

namespace {

using OptNames = std::optional<DimnameList>;
using OptDtype = std::optional<ScalarType>;
using OptLayout = std::optional<Layout>;
using OptDevice = std::optional<Device>;
using OptBool = std::optional<bool>;

std::vector<int64_t> positions(const Tensor& self, DimnameList dims) {
  return dimnames_to_positions(self, dims);
}
int64_t position(const Tensor& self, Dimname dim) {
  return dimname_to_position(self, dim);
}

void check_names(size_t dims, OptNames names) {
  if (names) {
    check_names_valid_for(dims, *names);
  }
}

/// A new tensor with names.
Tensor named(Tensor result, OptNames names) {
  return internal_set_names_inplace(result, names), result;
}

/// Fills `out` by `fill`, and names it.
template <class Fill>
Tensor& named_out(Tensor& out, IntArrayRef size, OptNames names, Fill&& fill) {
  check_names(size.size(), names);
  std::forward<Fill>(fill)();
  internal_set_names_inplace(out, names);
  return out;
}

bool contains(DimnameList names, Dimname name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Throws unless every dimension has a name.
void check_all_named(const Tensor& self, const char* op) {
  const DimnameList names = self.names();
  for (size_t i = 0; i < names.size(); ++i) {
    TORCH_CHECK(
        !names[i].isWildcard(), op, ": All input dims must be named. Found unnamed dim at index ", i, " of Tensor",
        names);
  }
}

/// The dimensions of self in the order of `names`, which hold all of them; sizes of 1 where self has no such dimension.
Tensor aligned(const Tensor& self, DimnameList names) {
  const DimnameList own = self.names();
  for (const Dimname name : own) {
    TORCH_CHECK(
        contains(names, name), "align_to: Cannot find dim ", name, " from Tensor", names, " in desired alignment ",
        names, ".");
  }
  check_names_valid_for(names.size(), names);
  std::vector<int64_t> order;
  std::vector<int64_t> added;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = std::find(own.begin(), own.end(), names[i]);
    if (found != own.end()) {
      order.push_back(found - own.begin());
    } else {
      added.push_back(static_cast<int64_t>(i));
    }
  }
  return names::with_names(names.vec(), [&] {
    Tensor result = self.permute(order);
    for (const int64_t dim : added) {
      result = result.unsqueeze(dim);
    }
    return result;
  });
}

/// Self with dimensions first to last as one, which is called `out_dim`.
Tensor flattened(const Tensor& self, int64_t first, int64_t last, Dimname out_dim) {
  TORCH_CHECK(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim");
  std::vector<Dimname> names = self.names().vec();
  names.erase(names.begin() + first, names.begin() + last + 1);
  names.insert(names.begin() + first, out_dim);
  check_names_valid_for(names.size(), names);
  return names::with_names(names, [&] { return self.alias().flatten(first, last); });
}

} // namespace

// ---- names given and changed ---------------------------------------------------------------------------------

Tensor& rename_(Tensor& self, OptNames names) {
  internal_set_names_inplace(self, names);
  return self;
}

Tensor rename(const Tensor& self, OptNames names) {
  return named(self.alias(), names);
}

Tensor refine_names(const Tensor& self, DimnameList names) {
  const DimnameList own = self.names();
  TORCH_CHECK(
      own.size() == names.size(), "refine_names: cannot coerce Tensor", own, " to Tensor", names,
      " because they have a different number of dims (", own.size(), " and ", names.size(), " respectively).");
  check_names_valid_for(names.size(), names);
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i].isWildcard() || own[i] == names[i]) {
      continue;
    }
    TORCH_CHECK(
        !names[i].isWildcard(), "refine_names: cannot coerce Tensor", own, " to Tensor", names, " because ", own[i],
        " is more specific than ", names[i], " at index ", i);
    TORCH_CHECK(
        false, "refine_names: cannot coerce Tensor", own, " to Tensor", names, " because ", own[i],
        " is different from ", names[i], " at index ", i);
  }
  return named(self.alias(), names);
}

Tensor align_to(const Tensor& self, DimnameList names) {
  check_all_named(self, "align_to");
  return aligned(self, names);
}

Tensor align_to_with_ellipsis(const Tensor& self, DimnameList order, int64_t ellipsis_idx) {
  check_all_named(self, "align_to");
  TORCH_CHECK(
      ellipsis_idx >= 0 && ellipsis_idx <= static_cast<int64_t>(order.size()),
      "align_to: ellipsis_idx must be from 0 to ", order.size(), ", got ", ellipsis_idx);
  std::vector<Dimname> names = order.vec();
  std::vector<Dimname> others;
  for (const Dimname name : self.names()) {
    if (!contains(order, name)) {
      others.push_back(name);
    }
  }
  names.insert(names.begin() + ellipsis_idx, others.begin(), others.end());
  return aligned(self, names);
}

Tensor align_as(const Tensor& self, const Tensor& other) {
  return align_to(self, other.names());
}

std::vector<Tensor> align_tensors(TensorList tensors) {
  if (tensors.empty()) {
    return {};
  }
  const auto longest = std::max_element(
      tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) { return a.dim() < b.dim(); });
  std::vector<Tensor> result;
  for (const Tensor& tensor : tensors) {
    result.push_back(align_to(tensor, longest->names()));
  }
  return result;
}

// ---- factories ------------------------------------------------------------------------------------------------

Tensor empty_names(
    IntArrayRef size,
    OptNames names,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory,
    std::optional<MemoryFormat> memory_format) {
  check_names(size.size(), names);
  return named(at::empty(size, dtype, layout, device, pin_memory, memory_format), names);
}

Tensor& empty_names_out(IntArrayRef size, OptNames names, std::optional<MemoryFormat> memory_format, Tensor& out) {
  return named_out(out, size, names, [&] { at::empty_out(out, size, memory_format); });
}

Tensor full_names(
    IntArrayRef size,
    const Scalar& fill_value,
    OptNames names,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::full(size, fill_value, dtype, layout, device, pin_memory), names);
}

Tensor ones_names(
    IntArrayRef size, OptNames names, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::ones(size, dtype, layout, device, pin_memory), names);
}

Tensor zeros_names(
    IntArrayRef size, OptNames names, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::zeros(size, dtype, layout, device, pin_memory), names);
}

Tensor rand_names(
    IntArrayRef size, OptNames names, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::rand(size, dtype, layout, device, pin_memory), names);
}

Tensor rand_generator_with_names(
    IntArrayRef size,
    std::optional<Generator> generator,
    OptNames names,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::rand(size, std::move(generator), dtype, layout, device, pin_memory), names);
}

Tensor randn_names(
    IntArrayRef size, OptNames names, OptDtype dtype, OptLayout layout, OptDevice device, OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::randn(size, dtype, layout, device, pin_memory), names);
}

Tensor randn_generator_with_names(
    IntArrayRef size,
    std::optional<Generator> generator,
    OptNames names,
    OptDtype dtype,
    OptLayout layout,
    OptDevice device,
    OptBool pin_memory) {
  check_names(size.size(), names);
  return named(at::randn(size, std::move(generator), dtype, layout, device, pin_memory), names);
}

Tensor& full_names_out(IntArrayRef size, const Scalar& fill_value, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::full_out(out, size, fill_value); });
}

Tensor& ones_names_out(IntArrayRef size, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::ones_out(out, size); });
}

Tensor& zeros_names_out(IntArrayRef size, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::zeros_out(out, size); });
}

Tensor& rand_names_out(IntArrayRef size, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::rand_out(out, size); });
}

Tensor& rand_generator_with_names_out(
    IntArrayRef size, std::optional<Generator> generator, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::rand_out(out, size, std::move(generator)); });
}

Tensor& randn_names_out(IntArrayRef size, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::randn_out(out, size); });
}

Tensor& randn_generator_with_names_out(
    IntArrayRef size, std::optional<Generator> generator, OptNames names, Tensor& out) {
  return named_out(out, size, names, [&] { at::randn_out(out, size, std::move(generator)); });
}

// ---- questions and views ------------------------------------------------------------------------------------------

int64_t size_Dimname(const Tensor& self, Dimname dim) {
  return self.size(position(self, dim));
}

int64_t stride_Dimname(const Tensor& self, Dimname dim) {
  return self.stride(position(self, dim));
}

Tensor select_Dimname(const Tensor& self, Dimname dim, int64_t index) {
  return at::select(self, position(self, dim), index);
}

Tensor transpose_Dimname(const Tensor& self, Dimname dim0, Dimname dim1) {
  return at::transpose(self, position(self, dim0), position(self, dim1));
}

std::vector<Tensor> unbind_Dimname(const Tensor& self, Dimname dim) {
  return at::unbind(self, position(self, dim));
}

Tensor squeeze_dimname(const Tensor& self, Dimname dim) {
  return at::squeeze(self, position(self, dim));
}

Tensor& squeeze__dimname(Tensor& self, Dimname dim) {
  return self.squeeze_(position(self, dim));
}

Tensor diagonal_Dimname(const Tensor& self, Dimname outdim, Dimname dim1, Dimname dim2, int64_t offset) {
  const Tensor diagonal = at::diagonal(self, offset, position(self, dim1), position(self, dim2));
  std::vector<Dimname> names = diagonal.names().vec();
  names.back() = outdim;
  return rename(diagonal, names);
}

Tensor flatten_named_out_dim(const Tensor& self, int64_t start_dim, int64_t end_dim, Dimname out_dim) {
  TORCH_CHECK(
      self.dim() > 0, "flatten(tensor, start_dim, end_dim, out_dim): a tensor without dimensions has none to flatten");
  return flattened(self, c10::maybe_wrap_dim(start_dim, self.dim()), c10::maybe_wrap_dim(end_dim, self.dim()), out_dim);
}

Tensor flatten_using_names(const Tensor& self, Dimname start_dim, Dimname end_dim, Dimname out_dim) {
  return flattened(self, position(self, start_dim), position(self, end_dim), out_dim);
}

Tensor flatten_DimnameList(const Tensor& self, DimnameList dims, Dimname out_dim) {
  TORCH_CHECK(!dims.empty(), "flatten(tensor, dims, out_dim): dims cannot be empty");
  const std::vector<int64_t> at = positions(self, dims);
  const bool consecutive =
      std::adjacent_find(at.begin(), at.end(), [](int64_t a, int64_t b) { return b != a + 1; }) == at.end();
  TORCH_CHECK(
      consecutive, "flatten(tensor, dims, out_dim): dims ", dims, " must be consecutive in Tensor", self.names());
  return flattened(self, at.front(), at.back(), out_dim);
}

Tensor unflatten_Dimname(const Tensor& self, Dimname dim, IntArrayRef sizes, DimnameList names) {
  TORCH_CHECK(
      sizes.size() == names.size(), "unflatten: expected a name for each of the ", sizes.size(), " sizes, got ",
      names.size(), " names");
  TORCH_CHECK(!sizes.empty(), "unflatten: sizes must be non-empty");
  const int64_t at = position(self, dim);
  std::vector<Dimname> result = self.names().vec();
  result.erase(result.begin() + at);
  result.insert(result.begin() + at, names.begin(), names.end());
  check_names_valid_for(result.size(), result);
  return names::with_names(result, [&] { return self.alias().unflatten(at, sizes); });
}

Tensor cat_names(TensorList tensors, Dimname dim) {
  TORCH_CHECK(!tensors.empty(), "expected a non-empty list of Tensors");
  return at::cat(tensors, position(tensors[0], dim));
}

// ---- reductions ---------------------------------------------------------------------------------------------------

Tensor sum_DimnameList(const Tensor& self, DimnameList dim, bool keepdim, OptDtype dtype) {
  return at::sum(self, positions(self, dim), keepdim, dtype);
}

Tensor mean_names(const Tensor& self, DimnameList dim, bool keepdim, OptDtype dtype) {
  return at::mean(self, positions(self, dim), keepdim, dtype);
}

Tensor prod_Dimname(const Tensor& self, Dimname dim, bool keepdim, OptDtype dtype) {
  return at::prod(self, position(self, dim), keepdim, dtype);
}

Tensor logsumexp_names(const Tensor& self, DimnameList dim, bool keepdim) {
  return at::logsumexp(self, positions(self, dim), keepdim);
}

Tensor std_names(const Tensor& self, DimnameList dim, bool unbiased, bool keepdim) {
  return at::std(self, positions(self, dim), unbiased, keepdim);
}

Tensor std_correction_names(
    const Tensor& self, DimnameList dim, const std::optional<Scalar>& correction, bool keepdim) {
  return at::std(self, positions(self, dim), correction, keepdim);
}

std::tuple<Tensor, Tensor> std_mean_names(const Tensor& self, DimnameList dim, bool unbiased, bool keepdim) {
  return at::std_mean(self, positions(self, dim), unbiased, keepdim);
}

std::tuple<Tensor, Tensor> std_mean_correction_names(
    const Tensor& self, DimnameList dim, const std::optional<Scalar>& correction, bool keepdim) {
  return at::std_mean(self, positions(self, dim), correction, keepdim);
}

Tensor var_names(const Tensor& self, DimnameList dim, bool unbiased, bool keepdim) {
  return at::var(self, positions(self, dim), unbiased, keepdim);
}

Tensor var_correction_names(
    const Tensor& self, DimnameList dim, const std::optional<Scalar>& correction, bool keepdim) {
  return at::var(self, positions(self, dim), correction, keepdim);
}

std::tuple<Tensor, Tensor> var_mean_names(const Tensor& self, DimnameList dim, bool unbiased, bool keepdim) {
  return at::var_mean(self, positions(self, dim), unbiased, keepdim);
}

std::tuple<Tensor, Tensor> var_mean_correction_names(
    const Tensor& self, DimnameList dim, const std::optional<Scalar>& correction, bool keepdim) {
  return at::var_mean(self, positions(self, dim), correction, keepdim);
}

Tensor norm_names(const Tensor& self, const std::optional<Scalar>& p, DimnameList dim, bool keepdim) {
  return at::norm(self, p, positions(self, dim), keepdim);
}

Tensor norm_names_dtype(
    const Tensor& self, const std::optional<Scalar>& p, DimnameList dim, bool keepdim, ScalarType dtype) {
  return at::norm(self, p, positions(self, dim), keepdim, dtype);
}

std::tuple<Tensor, Tensor> max_names(const Tensor& self, Dimname dim, bool keepdim) {
  return at::max(self, position(self, dim), keepdim);
}

std::tuple<Tensor, Tensor> min_names(const Tensor& self, Dimname dim, bool keepdim) {
  return at::min(self, position(self, dim), keepdim);
}

std::tuple<Tensor, Tensor> median_names(const Tensor& self, Dimname dim, bool keepdim) {
  return at::median(self, position(self, dim), keepdim);
}

std::tuple<Tensor, Tensor> nanmedian_names(const Tensor& self, Dimname dim, bool keepdim) {
  return at::nanmedian(self, position(self, dim), keepdim);
}

std::tuple<Tensor, Tensor> mode_dimname(const Tensor& self, Dimname dim, bool keepdim) {
  return at::mode(self, position(self, dim), keepdim);
}

std::tuple<Tensor, Tensor> kthvalue_dimname(const Tensor& self, int64_t k, Dimname dim, bool keepdim) {
  return at::kthvalue(self, k, position(self, dim), keepdim);
}

Tensor any_dimname(const Tensor& self, Dimname dim, bool keepdim) {
  return at::any(self, position(self, dim), keepdim);
}

Tensor all_dimname(const Tensor& self, Dimname dim, bool keepdim) {
  return at::all(self, position(self, dim), keepdim);
}

// ---- along a dimension ----------------------------------------------------------------------------------------------

Tensor cumsum_dimname(const Tensor& self, Dimname dim, OptDtype dtype) {
  return at::cumsum(self, position(self, dim), dtype);
}

Tensor cumprod_dimname(const Tensor& self, Dimname dim, OptDtype dtype) {
  return at::cumprod(self, position(self, dim), dtype);
}

Tensor logcumsumexp_dimname(const Tensor& self, Dimname dim) {
  return at::logcumsumexp(self, position(self, dim));
}

std::tuple<Tensor, Tensor> cummax_dimname(const Tensor& self, Dimname dim) {
  return at::cummax(self, position(self, dim));
}

std::tuple<Tensor, Tensor> cummin_dimname(const Tensor& self, Dimname dim) {
  return at::cummin(self, position(self, dim));
}

Tensor softmax_Dimname(const Tensor& self, Dimname dim, OptDtype dtype) {
  return at::softmax(self, position(self, dim), dtype);
}

Tensor log_softmax_Dimname(const Tensor& self, Dimname dim, OptDtype dtype) {
  return at::log_softmax(self, position(self, dim), dtype);
}

Tensor _sparse_softmax_Dimname(const Tensor& self, Dimname dim, OptDtype dtype) {
  return at::_sparse_softmax(self, position(self, dim), dtype);
}

Tensor _sparse_log_softmax_Dimname(const Tensor& self, Dimname dim, OptDtype dtype) {
  return at::_sparse_log_softmax(self, position(self, dim), dtype);
}

std::tuple<Tensor, Tensor> sort_dimname(const Tensor& /*self*/, Dimname /*dim*/, bool /*descending*/) {
  reportNYIDimnameOverload("sort");
}

std::tuple<Tensor, Tensor> sort_dimname_stable(
    const Tensor& /*self*/, OptBool /*stable*/, Dimname /*dim*/, bool /*descending*/) {
  reportNYIDimnameOverload("sort");
}

Tensor argsort_dimname(const Tensor& /*self*/, Dimname /*dim*/, bool /*descending*/) {
  reportNYIDimnameOverload("argsort");
}

// ---- by indices
// --------------------------------------------------------------------------------------------------------

Tensor index_fill_Dimname_Scalar(const Tensor& self, Dimname dim, const Tensor& index, const Scalar& value) {
  return at::index_fill(self, position(self, dim), index, value);
}

Tensor index_fill_Dimname_Tensor(const Tensor& self, Dimname dim, const Tensor& index, const Tensor& value) {
  return at::index_fill(self, position(self, dim), index, value);
}

Tensor index_select_dimname(const Tensor& /*self*/, Dimname /*dim*/, const Tensor& /*index*/) {
  reportNYIDimnameOverload("index_select");
}

Tensor index_copy_dimname(const Tensor& /*self*/, Dimname /*dim*/, const Tensor& /*index*/, const Tensor& /*source*/) {
  reportNYIDimnameOverload("index_copy");
}

Tensor index_add_dimname(
    const Tensor& /*self*/,
    Dimname /*dim*/,
    const Tensor& /*index*/,
    const Tensor& /*source*/,
    const Scalar& /*alpha*/) {
  reportNYIDimnameOverload("index_add");
}

Tensor gather_dimname(const Tensor& /*self*/, Dimname /*dim*/, const Tensor& /*index*/, bool /*sparse_grad*/) {
  reportNYIDimnameOverload("gather");
}

Tensor scatter_dimname_src(const Tensor& /*self*/, Dimname /*dim*/, const Tensor& /*index*/, const Tensor& /*src*/) {
  reportNYIDimnameOverload("scatter");
}

Tensor scatter_dimname_value(
    const Tensor& /*self*/, Dimname /*dim*/, const Tensor& /*index*/, const Scalar& /*value*/) {
  reportNYIDimnameOverload("scatter");
}

Tensor scatter_add_dimname(const Tensor& /*self*/, Dimname /*dim*/, const Tensor& /*index*/, const Tensor& /*src*/) {
  reportNYIDimnameOverload("scatter_add");
}

} // namespace at::native
