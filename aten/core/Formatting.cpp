#include <aten/core/Formatting.h>

#include <aten/core/DeprecatedTypeProperties.h>
#include <aten/ops/dequantize.h>
#include <aten/ops/select.h>
#include <aten/ops/to.h>
#include <aten/quantized/QTensorImpl.h>
#include <aten/sparse/SparseCsrTensorImpl.h>
#include <aten/sparse/SparseTensorImpl.h>

#include <c10/core/DeferredStorage.h>

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <locale>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

namespace at {
namespace {

/// The values of a tensor of doubles, which may have to be computed first.
const double* values_of(const Tensor& tensor) {
  c10::compute_storage(tensor.storage());
  return tensor.const_data_ptr<double>();
}

std::ostream& default_float(std::ostream& stream) {
  stream.unsetf(std::ios_base::floatfield);
  return stream;
}

std::atomic<bool> scientific_mode{true};

std::ostream& wide_format(std::ostream& stream) {
  return stream << (scientific_mode ? std::scientific : std::fixed) << std::setprecision(4);
}

/// Sets the stream's number format for all values of a tensor of doubles; returns the factor that is taken out of them
/// and the width of a column.
std::tuple<double, int> choose_format(std::ostream& stream, const Tensor& self) {
  const int64_t size = self.numel();
  if (size == 0) {
    return {1., 0};
  }
  const double* p = values_of(self);
  bool integers = true;
  for (int64_t i = 0; i < size && integers; ++i) {
    integers = !std::isfinite(p[i]) || p[i] == std::ceil(p[i]);
  }
  int64_t first = 0;
  while (first < size && !std::isfinite(p[first])) {
    ++first;
  }
  double low = 1;
  double high = 1;
  if (first < size) {
    low = high = std::fabs(p[first]);
    for (int64_t i = first; i < size; ++i) {
      const double z = std::fabs(p[i]);
      if (std::isfinite(z)) {
        low = std::min(low, z);
        high = std::max(high, z);
      }
    }
    low = low != 0 ? std::floor(std::log10(low)) + 1 : 1;
    high = high != 0 ? std::floor(std::log10(high)) + 1 : 1;
  }
  if (integers) {
    if (high > 9) {
      wide_format(stream);
      return {1., 11};
    }
    stream << default_float << std::setprecision(6);
    return {1., static_cast<int>(high) + 1};
  }
  if (high - low > 4) {
    wide_format(stream);
    return {1., std::fabs(high) > 99 || std::fabs(low) > 99 ? 12 : 11};
  }
  stream << std::fixed << std::setprecision(4);
  if (high > 5 || high < 0) {
    return {std::pow(10, high - 1), 7};
  }
  return {1., high == 0 ? 7 : static_cast<int>(high) + 6};
}

void print_indent(std::ostream& stream, int64_t indent) {
  stream << std::string(indent, ' ');
}

void print_scale(std::ostream& stream, double scale) {
  const auto flags = stream.flags();
  const auto precision = stream.precision(6);
  stream << default_float << scale << " *\n";
  stream.flags(flags);
  stream.precision(precision);
}

void print_matrix(std::ostream& stream, const Tensor& self, int64_t linesize, int64_t indent) {
  const auto [scale, width] = choose_format(stream, self);
  const int64_t per_line = std::max<int64_t>((std::max<int64_t>(linesize, 0) - indent) / (width + 1), 1);
  const int64_t cols = self.size(1);
  const double* p = values_of(self);
  for (int64_t first = 0; first < cols;) {
    const int64_t last = std::min(first + per_line, cols) - 1;
    if (per_line < cols) {
      if (first != 0) {
        stream << '\n';
      }
      stream << "Columns " << first + 1 << " to " << last + 1;
      print_indent(stream, indent);
    }
    if (scale != 1) {
      print_scale(stream, scale);
      print_indent(stream, indent);
    }
    for (int64_t row = 0; row < self.size(0); ++row) {
      for (int64_t col = first; col <= last; ++col) {
        stream << std::setw(width) << p[row * cols + col] / scale;
        if (col == last) {
          stream << '\n';
          if (row != self.size(0) - 1) {
            print_indent(stream, scale != 1 ? indent + 1 : indent);
          }
        } else {
          stream << " ";
        }
      }
    }
    first = last + 1;
  }
}

/// Matrices of a tensor of three or more dimensions, one after the other.
void print_slices(std::ostream& stream, const Tensor& self, int64_t linesize) {
  const int64_t outer = self.dim() - 2;
  std::vector<int64_t> counter(outer, 0);
  for (bool first = true, finished = false; !finished; first = false) {
    if (!first) {
      stream << '\n';
    }
    stream << "(";
    Tensor slice = self;
    for (int64_t d = 0; d < outer; ++d) {
      slice = slice.select(0, counter[d]);
      stream << counter[d] + 1 << ",";
    }
    stream << ".,.) = " << '\n';
    print_matrix(stream, slice.contiguous(), linesize, 1);
    // The first dimension moves fastest.
    finished = true;
    for (int64_t d = 0; d < outer; ++d) {
      if (++counter[d] < self.size(d)) {
        finished = false;
        break;
      }
      counter[d] = 0;
    }
  }
}

void print_to(std::ostream& stream, const Tensor& tensor_, int64_t linesize);

/// A sparse tensor by its members.
void print_members(
    std::ostream& stream,
    const Tensor& tensor,
    std::initializer_list<std::pair<const char*, const Tensor*>> members,
    int64_t linesize) {
  stream << "[ " << tensor.toString() << "{}\n";
  for (const auto& [name, member] : members) {
    stream << name << ":\n";
    print_to(stream, *member, linesize);
    stream << '\n';
  }
  stream << "size:\n" << tensor.sizes() << "\n]";
}

void print_quantizer(std::ostream& stream, const Quantizer& quantizer, int64_t linesize) {
  stream << ", qscheme: " << c10::toString(quantizer.scheme);
  if (!quantizer.is_per_channel()) {
    stream << fmt::format(", scale: {}, zero_point: {}", quantizer.scale, quantizer.zero_point);
    return;
  }
  stream << ", scales: ";
  print_to(stream, quantizer.scales, linesize);
  stream << ", zero_points: ";
  print_to(stream, quantizer.zero_points, linesize);
  stream << ", axis: " << quantizer.axis;
}

void print_to(std::ostream& stream, const Tensor& tensor_, int64_t linesize) {
  if (!tensor_.defined()) {
    stream << "[ Tensor (undefined) ]";
    return;
  }
  // Names are not shown.
  std::optional<NoNamesGuard> without_names;
  if (tensor_.has_names()) {
    without_names.emplace();
  }
  if (tensor_.is_sparse()) {
    const auto& impl = static_cast<const SparseTensorImpl&>(*tensor_.unsafeGetTensorImpl());
    print_members(stream, tensor_, {{"indices", &impl.indices()}, {"values", &impl.values()}}, linesize);
    return;
  }
  if (tensor_.unsafeGetTensorImpl()->is_sparse_compressed()) {
    const auto& impl = static_cast<const SparseCsrTensorImpl&>(*tensor_.unsafeGetTensorImpl());
    const bool by_rows = tensor_.layout() == kSparseCsr || tensor_.layout() == kSparseBsr;
    print_members(
        stream, tensor_,
        {{by_rows ? "crow_indices" : "ccol_indices", &impl.compressed_indices()},
         {by_rows ? "col_indices" : "row_indices", &impl.plain_indices()},
         {"values", &impl.values()}},
        linesize);
    return;
  }
  const Tensor numbers = tensor_.is_quantized() ? at::dequantize(tensor_) : tensor_;
  const Tensor tensor = numbers.to(at::TensorOptions(kCPU).dtype(kDouble)).contiguous();
  if (tensor.dim() == 0) {
    // All digits of the value, whatever the stream's precision.
    stream << fmt::format("{}", values_of(tensor)[0]) << '\n';
  } else if (tensor.numel() > 0) {
    if (tensor.dim() == 1) {
      const auto [scale, width] = choose_format(stream, tensor);
      if (scale != 1) {
        print_scale(stream, scale);
      }
      const double* p = values_of(tensor);
      for (int64_t i = 0; i < tensor.size(0); ++i) {
        stream << std::setw(width) << p[i] / scale << '\n';
      }
    } else if (tensor.dim() == 2) {
      print_matrix(stream, tensor, linesize, 0);
    } else {
      print_slices(stream, tensor, linesize);
    }
  }
  stream << "[ " << tensor_.toString() << "{";
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    stream << (d > 0 ? "," : "") << tensor.size(d);
  }
  stream << "}";
  if (tensor_.is_quantized()) {
    print_quantizer(stream, *get_quantizer(tensor_), linesize);
  }
  stream << " ]";
}

} // namespace

std::ostream& print(std::ostream& stream, const Tensor& tensor, int64_t linesize) {
  // Built apart and written at once: the format of the caller's stream neither matters nor changes.
  std::ostringstream text;
  text.imbue(std::locale::classic());
  print_to(text, tensor, linesize);
  const std::string whole = text.str();
  return stream.write(whole.data(), static_cast<std::streamsize>(whole.size()));
}

std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
  return out << type.toString();
}

std::ostream& operator<<(std::ostream& out, const Tensor& t) {
  return print(out, t, 80);
}

void print(const Tensor& t, int64_t linesize) {
  print(std::cout, t, linesize);
}

std::string TensorBase::toString() const {
  if (!defined()) {
    return "UndefinedType";
  }
  const c10::DispatchKey key = options().computeDispatchKey();
  const std::string backend =
      key == c10::DispatchKey::PrivateUse1 ? c10::get_privateuse1_backend() : c10::toString(key);
  return backend + c10::toString(scalar_type()) + "Type";
}

void TensorBase::print() const {
  if (defined()) {
    std::cerr << "[" << toString() << " " << sizes() << "]" << '\n';
  } else {
    std::cerr << "[UndefinedTensor]" << '\n';
  }
}

void set_printoption_sci_mode(bool enabled) {
  scientific_mode = enabled;
}

} // namespace at
