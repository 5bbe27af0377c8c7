#include <aten/core/TensorIndexing.h>

#include <aten/Functions.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>

#include <ostream>

namespace at {
namespace indexing {

const EllipsisIndexType Ellipsis = EllipsisIndexType();

Slice::Slice(
    std::optional<c10::SymInt> start_index,
    std::optional<c10::SymInt> stop_index,
    std::optional<c10::SymInt> step_index)
    : step_(step_index.value_or(c10::SymInt(1))) {
  TORCH_CHECK_VALUE(step_ != 0, "slice step cannot be zero");
  const bool backwards = step_ < 0;
  start_ = start_index.value_or(c10::SymInt(backwards ? INDEX_MAX : 0));
  stop_ = stop_index.value_or(c10::SymInt(backwards ? INDEX_MIN : INDEX_MAX));
}

std::ostream& operator<<(std::ostream& stream, const Slice& slice) {
  return stream << slice.start() << ":" << slice.stop() << ":" << slice.step();
}

TensorIndex::TensorIndex(const char* str) : type_(TensorIndexType::Ellipsis) {
  TORCH_CHECK_VALUE(
      std::string_view(str) == "...", "Expected \"...\" to represent an ellipsis index, but got \"", str, "\"");
}

std::ostream& operator<<(std::ostream& stream, const TensorIndex& index) {
  if (index.is_none()) {
    return stream << "None";
  }
  if (index.is_ellipsis()) {
    return stream << "...";
  }
  if (index.is_integer()) {
    return stream << index.integer();
  }
  if (index.is_boolean()) {
    return stream << (index.boolean() ? "true" : "false");
  }
  if (index.is_slice()) {
    return stream << index.slice();
  }
  return stream << "Tensor of sizes " << index.tensor().sizes();
}

std::ostream& operator<<(std::ostream& stream, const std::vector<TensorIndex>& indices) {
  stream << "(";
  for (size_t i = 0; i < indices.size(); ++i) {
    stream << (i > 0 ? ", " : "") << indices[i];
  }
  return stream << ")";
}

namespace {

int64_t dims_consumed(const TensorIndex& index) {
  if (index.is_none() || index.is_ellipsis() || index.is_boolean()) {
    return 0;
  }
  if (index.is_tensor()) {
    const ScalarType dtype = index.tensor().scalar_type();
    return dtype == kBool || dtype == kByte ? index.tensor().dim() : 1;
  }
  return 1;
}

bool is_integer_scalar(const Tensor& t) {
  return t.dim() == 0 && at::isIntegralType(t.scalar_type(), /*includeBool=*/false) && t.scalar_type() != kByte;
}

bool is_scalar_mask(const Tensor& t) {
  return t.dim() == 0 && (t.scalar_type() == kBool || t.scalar_type() == kByte);
}

/// Applies everything that makes views, and collects tensor indices by dimension.
class Indexer {
 public:
  Indexer(const Tensor& self, ArrayRef<TensorIndex> indices) : result_(self) {
    TORCH_CHECK_INDEX(
        self.dim() > 0 || indices.size() != 1 || !indices[0].is_integer(),
        "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
        "0-dim "
        "tensor to a number");
    int64_t specified = 0;
    for (const TensorIndex& index : indices) {
      specified += dims_consumed(index);
    }
    TORCH_CHECK_INDEX(
        specified <= self.dim(), "too many indices for tensor of dimension ", self.dim(), " (got ", specified, ")");
    for (size_t i = 0; i < indices.size(); ++i) {
      apply(indices[i], static_cast<int64_t>(i), self.dim() - specified);
    }
  }

  const Tensor& view() const {
    return result_;
  }
  bool has_tensors() const {
    return !tensors_.empty();
  }

  c10::List<std::optional<Tensor>> tensors() const {
    c10::List<std::optional<Tensor>> list;
    list.reserve(tensors_.size());
    for (const Tensor& t : tensors_) {
      const bool moves = t.defined() && t.device() != result_.device() && t.dim() == 0;
      list.push_back(t.defined() ? std::optional<Tensor>(moves ? t.to(result_.device()) : t) : std::nullopt);
    }
    return list;
  }

 private:
  void apply(const TensorIndex& index, int64_t position, int64_t free_dims) {
    if (index.is_none()) {
      result_ = result_.unsqueeze(dim_++);
    } else if (index.is_ellipsis()) {
      dim_ += free_dims;
    } else if (index.is_integer()) {
      select(index.integer().guard_int(__FILE__, __LINE__), position);
    } else if (index.is_slice()) {
      const Slice& slice = index.slice();
      const int64_t step = slice.step().guard_int(__FILE__, __LINE__);
      TORCH_CHECK_VALUE(step > 0, "step must be greater than zero");
      result_ = result_.slice(
          dim_, slice.start().guard_int(__FILE__, __LINE__), slice.stop().guard_int(__FILE__, __LINE__), step);
      ++dim_;
    } else if (index.is_boolean()) {
      result_ = result_.unsqueeze(dim_);
      record(at::full({1}, index.boolean(), at::TensorOptions(kBool).device(result_.device())));
    } else if (is_integer_scalar(index.tensor())) {
      select(index.tensor().item<int64_t>(), position);
    } else if (is_scalar_mask(index.tensor())) {
      // A new dimension that is kept or not.
      result_ = result_.unsqueeze(dim_);
      record(index.tensor().reshape({1}).to(kBool));
    } else {
      record(index.tensor());
    }
  }

  // Errors count dimensions as the program wrote them: by the position of the index in its list.
  void select(int64_t index, int64_t position) {
    const int64_t size = result_.size(dim_);
    TORCH_CHECK_INDEX(
        index >= -size && index < size, "index ", index, " is out of bounds for dimension ", position, " with size ",
        size);
    result_ = result_.select(dim_, index);
  }

  void record(const Tensor& index) {
    TORCH_CHECK_INDEX(index.defined(), "index: an index tensor is undefined");
    // In the list of at::index a mask takes one place, and stands for all of its dimensions.
    tensors_.resize(place());
    tensors_.push_back(index);
    const bool mask = index.scalar_type() == kBool || index.scalar_type() == kByte;
    dim_ += mask ? index.dim() : 1;
    covered_by_masks_ += mask ? index.dim() - 1 : 0;
  }

  int64_t place() const {
    return dim_ - covered_by_masks_;
  }

  Tensor result_;
  std::vector<Tensor> tensors_;
  int64_t dim_ = 0;
  int64_t covered_by_masks_ = 0;
};

} // namespace

namespace {

// Leading dimensions of size 1 of a value do not count where it is written.
Tensor without_leading_ones(const Tensor& value) {
  const IntArrayRef sizes = value.sizes();
  size_t ones = 0;
  while (ones < sizes.size() && sizes[ones] == 1) {
    ++ones;
  }
  return ones == 0 ? value : value.view(sizes.slice(ones));
}

} // namespace

Tensor get_item(const Tensor& self, ArrayRef<TensorIndex> indices, bool /*disable_slice_optimization*/) {
  const Indexer indexer(self, indices);
  if (indexer.has_tensors()) {
    return at::index(indexer.view(), indexer.tensors());
  }
  // Indexing always gives a new tensor, even x.index({"..."}).
  return indexer.view().is_same(self) ? at::alias(self) : indexer.view();
}

namespace {

bool is_one_boolean(ArrayRef<TensorIndex> indices) {
  return indices.size() == 1 && indices[0].is_boolean();
}

} // namespace

void set_item(
    const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& value, bool /*disable_slice_optimization*/) {
  if (is_one_boolean(indices)) {
    if (indices[0].boolean()) {
      self.unsqueeze(0).copy_(without_leading_ones(value));
    }
    return;
  }
  const Indexer indexer(self, indices);
  Tensor target = indexer.view();
  const Tensor source = value.device() == self.device() || value.dim() != 0 ? value : value.to(self.device());
  const Tensor fitted = without_leading_ones(source);
  if (indexer.has_tensors()) {
    target.index_put_(indexer.tensors(), fitted);
  } else {
    target.copy_(fitted);
  }
}

void set_item(
    const Tensor& self, ArrayRef<TensorIndex> indices, const Scalar& value, bool /*disable_slice_optimization*/) {
  const Indexer indexer(self, indices);
  Tensor target = indexer.view();
  if (indexer.has_tensors()) {
    target.index_put_(indexer.tensors(), at::scalar_tensor(value, self.options()));
  } else {
    target.fill_(value);
  }
}

} // namespace indexing

Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  TORCH_CHECK_INDEX(!indices.empty(), "Passing an empty index list to Tensor::index() is not valid syntax");
  return indexing::get_item(*this, indices);
}
Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return index(ArrayRef<indexing::TensorIndex>(indices));
}
Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& rhs) {
  TORCH_CHECK_INDEX(!indices.empty(), "Passing an empty index list to Tensor::index_put_() is not valid syntax");
  indexing::set_item(*this, indices, rhs);
  return *this;
}
Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& v) {
  TORCH_CHECK_INDEX(!indices.empty(), "Passing an empty index list to Tensor::index_put_() is not valid syntax");
  indexing::set_item(*this, indices, v);
  return *this;
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& rhs) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), rhs);
}
Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& v) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), v);
}

} // namespace at
