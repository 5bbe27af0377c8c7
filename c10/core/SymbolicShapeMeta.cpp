#include <c10/core/SymbolicShapeMeta.h>

#include <c10/core/Contiguity.h>
#include <c10/util/Exception.h>

#include <vector>

namespace c10 {

namespace {

std::optional<DimVector> known(const SymDimVector& values) {
  DimVector result;
  for (const SymInt& value : values) {
    const auto integer = value.maybe_as_int();
    if (!integer) {
      return std::nullopt;
    }
    result.push_back(*integer);
  }
  return result;
}

SymNode first_symbolic(const SymDimVector& a, const SymDimVector& b) {
  for (const SymDimVector* values : {&a, &b}) {
    for (const SymInt& value : *values) {
      if (value.is_symbolic()) {
        return value.toSymNode();
      }
    }
  }
  return SymNode();
}

using ShapeQuestion = SymNode (SymNodeImpl::*)(ArrayRef<SymNode>, ArrayRef<SymNode>);

// Answers a question about the strides: computes it if they are known, else asks the tracer.
SymBool ask(const SymbolicShapeMeta& shape, bool ContiguityFlags::*computed, ShapeQuestion question) {
  const auto sizes = known(shape.sizes_);
  const auto strides = known(shape.strides_);
  if (sizes && strides) {
    return SymBool(compute_contiguity(*sizes, *strides, checked_numel(*sizes)).*computed);
  }
  const SymNode base = first_symbolic(shape.sizes_, shape.strides_);
  std::vector<SymNode> size_nodes;
  std::vector<SymNode> stride_nodes;
  for (size_t d = 0; d < shape.sizes_.size(); ++d) {
    size_nodes.push_back(shape.sizes_[d].wrap_node(base));
    stride_nodes.push_back(shape.strides_[d].wrap_node(base));
  }
  return SymBool((base.get()->*question)(size_nodes, stride_nodes));
}

} // namespace

SymInt SymbolicShapeMeta::numel() const {
  return multiply_integers(sizes_.begin(), sizes_.end());
}

SymBool SymbolicShapeMeta::is_contiguous(MemoryFormat memory_format) const {
  switch (memory_format) {
    case MemoryFormat::ChannelsLast:
      return sizes_.size() != 4
          ? SymBool(false)
          : ask(*this, &ContiguityFlags::channels_last_contiguous, &SymNodeImpl::is_channels_last_contiguous_2d);
    case MemoryFormat::ChannelsLast3d:
      return sizes_.size() != 5
          ? SymBool(false)
          : ask(*this, &ContiguityFlags::channels_last_3d_contiguous, &SymNodeImpl::is_channels_last_contiguous_3d);
    default:
      return ask(*this, &ContiguityFlags::contiguous, &SymNodeImpl::is_contiguous);
  }
}

SymBool SymbolicShapeMeta::is_strides_like(MemoryFormat memory_format) const {
  switch (memory_format) {
    case MemoryFormat::ChannelsLast:
      return sizes_.size() != 4
          ? SymBool(false)
          : ask(*this, &ContiguityFlags::channels_last, &SymNodeImpl::is_channels_last_strides_2d);
    case MemoryFormat::ChannelsLast3d:
      return sizes_.size() != 5
          ? SymBool(false)
          : ask(*this, &ContiguityFlags::channels_last_3d, &SymNodeImpl::is_channels_last_strides_3d);
    default:
      return SymBool(false);
  }
}

SymBool SymbolicShapeMeta::is_non_overlapping_and_dense() const {
  return ask(*this, &ContiguityFlags::non_overlapping_and_dense, &SymNodeImpl::is_non_overlapping_and_dense);
}

} // namespace c10
