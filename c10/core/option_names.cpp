#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/QScheme.h>

#include <ostream>

// Printed names of the small enumerations that describe tensors.

namespace c10 {

std::ostream& operator<<(std::ostream& stream, Layout layout) {
  switch (layout) {
    case Layout::Strided:
      return stream << "Strided";
    case Layout::Sparse:
      return stream << "Sparse";
    case Layout::SparseCsr:
      return stream << "SparseCsr";
    case Layout::SparseCsc:
      return stream << "SparseCsc";
    case Layout::SparseBsr:
      return stream << "SparseBsr";
    case Layout::SparseBsc:
      return stream << "SparseBsc";
    case Layout::Mkldnn:
      return stream << "Mkldnn";
    case Layout::Jagged:
      return stream << "Jagged";
    default:
      TORCH_CHECK(false, "Unknown layout ", static_cast<int>(layout));
  }
}

std::ostream& operator<<(std::ostream& stream, MemoryFormat memory_format) {
  switch (memory_format) {
    case MemoryFormat::Preserve:
      return stream << "Preserve";
    case MemoryFormat::Contiguous:
      return stream << "Contiguous";
    case MemoryFormat::ChannelsLast:
      return stream << "ChannelsLast";
    case MemoryFormat::ChannelsLast3d:
      return stream << "ChannelsLast3d";
    default:
      TORCH_CHECK(false, "Unknown memory format ", static_cast<int>(memory_format));
  }
}

std::string toString(QScheme qscheme) {
  switch (qscheme) {
    case QScheme::PER_TENSOR_AFFINE:
      return "per_tensor_affine";
    case QScheme::PER_CHANNEL_AFFINE:
      return "per_channel_affine";
    case QScheme::PER_TENSOR_SYMMETRIC:
      return "per_tensor_symmetric";
    case QScheme::PER_CHANNEL_SYMMETRIC:
      return "per_channel_symmetric";
    case QScheme::PER_CHANNEL_AFFINE_FLOAT_QPARAMS:
      return "per_channel_affine_float_qparams";
    default:
      TORCH_CHECK(false, "Unrecognized qscheme: ", static_cast<int>(qscheme));
  }
}

} // namespace c10
