#pragma once

#include <c10/util/Exception.h>

#include <cstdint>

namespace at::native {

/// How a matrix enters a BLAS or LAPACK call.
enum class TransposeType { NoTranspose, Transpose, ConjTranspose };

inline char to_blas(TransposeType trans) {
  switch (trans) {
    case TransposeType::NoTranspose:
      return 'N';
    case TransposeType::Transpose:
      return 'T';
    case TransposeType::ConjTranspose:
      return 'C';
  }
  TORCH_CHECK(false, "to_blas: got a transpose type of ", static_cast<int>(trans), ", must be 0, 1 or 2");
}

/// The type by which a routine for column-major matrices sees one that is row-major or not, and is to be conjugated or
/// not.
inline TransposeType to_transpose_type(bool contig, bool conj) {
  TORCH_CHECK(!(contig && conj), "to_transpose_type: no type conjugates a matrix without transposing it");
  return conj ? TransposeType::ConjTranspose : contig ? TransposeType::NoTranspose : TransposeType::Transpose;
}

} // namespace at::native
