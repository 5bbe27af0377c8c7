#pragma once

#include <c10/core/MemoryFormat.h>
#include <c10/core/SymBool.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/macros/Export.h>

namespace c10 {

/// Shape of a tensor whose sizes, strides or offset are symbolic. What follows from them is asked of the tracer when
/// it is needed.
struct C10_API SymbolicShapeMeta {
  SymDimVector sizes_;
  SymDimVector strides_;
  SymInt storage_offset_ = 0;

  SymInt numel() const;
  /// Without gaps, in the order of the memory format.
  SymBool is_contiguous(MemoryFormat memory_format = MemoryFormat::Contiguous) const;
  /// Whether the strides have the order of the memory format.
  SymBool is_strides_like(MemoryFormat memory_format) const;
  SymBool is_non_overlapping_and_dense() const;
};

} // namespace c10
