// Sizes of tensors of which some are not known.
#include <aten/core/tensor_type.h>

#include <atomic>
#include <ostream>

namespace c10 {

ShapeSymbol ShapeSymbol::newSymbol() {
  // -1 is the size of a dimension that PyTorch's operators infer, and a symbol
  // that was made without a name.
  static std::atomic<int64_t> last{-1};
  return ShapeSymbol(--last);
}

SymbolicShape::SymbolicShape(std::optional<size_t> rank) {
  if (rank) {
    *this = SymbolicShape(std::vector<std::optional<int64_t>>(*rank));
  }
}

SymbolicShape::SymbolicShape(const std::vector<std::optional<int64_t>>& dims) {
  dims_.emplace();
  for (const std::optional<int64_t>& dim : dims) {
    dims_->push_back(dim ? ShapeSymbol::fromStaticSize(*dim) : ShapeSymbol::newSymbol());
  }
}

SymbolicShape::SymbolicShape(ArrayRef<int64_t> dims)
    : SymbolicShape(std::vector<std::optional<int64_t>>(dims.begin(), dims.end())) {}

std::optional<std::vector<bool>> SymbolicShape::symbolicDims() const {
  if (!dims_) {
    return std::nullopt;
  }
  std::vector<bool> symbolic;
  for (const ShapeSymbol& dim : *dims_) {
    symbolic.push_back(!dim.is_static());
  }
  return symbolic;
}

bool SymbolicShape::isComplete() const {
  return dims_ && std::all_of(dims_->begin(), dims_->end(), [](const ShapeSymbol& dim) { return dim.is_static(); });
}

SymbolicShape SymbolicShape::merge(const SymbolicShape& other) const {
  if (!dims_ || rank() != other.rank()) {
    return SymbolicShape();
  }
  std::vector<ShapeSymbol> both;
  for (size_t i = 0; i < dims_->size(); ++i) {
    const ShapeSymbol dim = (*dims_)[i];
    both.push_back(dim.is_static() && dim == other.at(i) ? dim : ShapeSymbol::newSymbol());
  }
  return both;
}

std::ostream& operator<<(std::ostream& out, const ShapeSymbol& symbol) {
  if (symbol.is_static()) {
    return out << symbol.static_size();
  }
  return out << "SS(" << symbol.value() << ')';
}

std::ostream& operator<<(std::ostream& out, const SymbolicShape& shape) {
  if (!shape.sizes()) {
    return out << "(*)";
  }
  out << '(';
  for (size_t i = 0; i < shape.sizes()->size(); ++i) {
    out << (i > 0 ? ", " : "");
    if (shape[i].is_static()) {
      out << shape[i].static_size();
    } else {
      out << '*';
    }
  }
  return out << ')';
}

} // namespace c10
