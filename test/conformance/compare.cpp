#include "compare.h"

#include <cstdio>

#include "test/support/elements.h"

namespace conformance {

namespace {

using test::show;

std::string show(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string show(std::complex<double> value, bool is_complex) {
  return is_complex ? "(" + show(value.real()) + ", " + show(value.imag()) + ")" : show(value.real());
}

/// Walks over all elements; the report names the first that differs and counts the others.
template <class Differs, class Describe>
std::string first_difference(const at::Tensor& got, const Differs& differs, const Describe& describe) {
  int64_t count = 0;
  int64_t first = -1;
  for (int64_t i = 0; i < got.numel(); ++i) {
    if (differs(i) && count++ == 0) {
      first = i;
    }
  }
  if (count == 0) {
    return {};
  }
  return "value at " + test::show_position(first, got.sizes()) + ": " + describe(first) + "; " + std::to_string(count) +
      " of " + std::to_string(got.numel()) + " differ";
}

} // namespace

Tolerance tolerance_of(const Json& pair) {
  return {pair.items().at(0).as_double(), pair.items().at(1).as_double()};
}

std::string compare_shape(const at::Tensor& got, const Json& want) {
  const std::string dtype = dtype_name(got.scalar_type());
  if (dtype != want.at("d").as_string()) {
    return "dtype: got " + dtype + ", want " + want.at("d").as_string();
  }
  const std::vector<int64_t> sizes = want.at("s").as_ints();
  if (!got.sizes().equals(sizes)) {
    return "shape: got " + show(got.sizes()) + ", want " + show(sizes);
  }
  return {};
}

std::string compare_strides(const at::Tensor& got, const Json& want) {
  const Json* recorded = want.find("st");
  const std::vector<int64_t> strides =
      recorded != nullptr ? recorded->as_ints() : contiguous_strides(want.at("s").as_ints());
  for (size_t d = 0; d < strides.size(); ++d) {
    if (got.sizes()[d] != 1 && got.strides()[d] != strides[d]) {
      return "strides: got " + show(got.strides()) + ", want " + show(strides) + " (shape " + show(got.sizes()) + ")";
    }
  }
  return {};
}

std::string compare_values(const at::Tensor& got, Bytes want, Tolerance tolerance) {
  const c10::ScalarType type = got.scalar_type();
  const test::DTypeInfo& info = dtype_info(type);
  if (static_cast<size_t>(got.numel()) * info.item_size != want.size()) {
    return "recorded values have " + std::to_string(want.size()) + " bytes, the tensor " +
        std::to_string(static_cast<size_t>(got.numel()) * info.item_size);
  }
  const HostView values(got);
  const auto wanted = [&](int64_t i) { return want.data() + i * static_cast<int64_t>(info.item_size); };

  if (info.category == test::Category::Bool || info.category == test::Category::Integer) {
    return first_difference(
        got, [&](int64_t i) { return values.integer(i) != test::read_integer(type, wanted(i)); },
        [&](int64_t i) {
          return "got " + std::to_string(values.integer(i)) + ", want " +
              std::to_string(test::read_integer(type, wanted(i)));
        });
  }

  const bool is_complex = info.category == test::Category::Complex;
  return first_difference(
      got, [&](int64_t i) { return !close(values.number(i), test::read_number(type, wanted(i)), tolerance); },
      [&](int64_t i) {
        return "got " + show(values.number(i), is_complex) + ", want " +
            show(test::read_number(type, wanted(i)), is_complex) + " (rtol " + show(tolerance.rtol) + ", atol " +
            show(tolerance.atol) + ")";
      });
}

std::string compare_any_write(const at::Tensor& got, Bytes want, const at::Tensor& source, Tolerance tolerance) {
  const std::string difference = compare_values(got, want, tolerance);
  if (difference.empty() || !source.defined()) {
    return difference;
  }
  const c10::ScalarType type = got.scalar_type();
  const HostView values(got), written(source);
  const auto is_written = [&](std::complex<double> value) {
    for (int64_t i = 0; i < source.numel(); ++i) {
      if (close(value, written.number(i), tolerance)) {
        return true;
      }
    }
    return false;
  };
  const auto differs = [&](int64_t i) {
    const std::complex<double> wanted =
        test::read_number(type, want.data() + i * static_cast<int64_t>(dtype_info(type).item_size));
    return !close(values.number(i), wanted, tolerance) && !is_written(values.number(i));
  };
  return first_difference(got, differs, [&](int64_t) { return difference + ", and is none of the values written"; });
}

std::string compare_dense(const at::Tensor& got, const Json& want, const SafeTensors& data, Tolerance tolerance) {
  if (want.is_null()) {
    return got.defined() ? "got a tensor, want none" : "";
  }
  if (!got.defined()) {
    return "got none, want a tensor of shape " + show(want.at("s").as_ints());
  }
  if (std::string difference = compare_shape(got, want); !difference.empty()) {
    return difference;
  }
  return compare_values(got, data.at(want.at("b").as_string()), tolerance);
}

std::string compare_tied_indices(const at::Tensor& got, Bytes want, const at::Tensor& source, int64_t dim) {
  const int64_t rank = source.dim();
  if (rank == 0) {
    return compare_values(got, want, {});
  }
  dim = dim < 0 ? dim + rank : dim;
  // The result has the rank of the source, or has lost dimension `dim`.
  const bool keeps_dim = got.dim() == rank;
  const HostView indices(got);
  const HostView values(source);
  const auto source_position = [&](int64_t position, int64_t index) {
    std::vector<int64_t> at(rank, 0);
    for (int64_t d = rank; d > 0; --d) {
      if (!keeps_dim && d - 1 == dim) {
        continue;
      }
      const int64_t size = got.size(keeps_dim || d - 1 < dim ? d - 1 : d - 2);
      at[d - 1] = position % size;
      position /= size;
    }
    at[dim] = index;
    int64_t flat = 0;
    for (int64_t d = 0; d < rank; ++d) {
      flat = flat * source.size(d) + at[d];
    }
    return flat;
  };
  const auto wanted = [&](int64_t i) { return test::read_integer(got.scalar_type(), want.data() + i * 8); };
  const auto differs = [&](int64_t i) {
    const int64_t index = indices.integer(i);
    if (index == wanted(i)) {
      return false;
    }
    if (index < 0 || index >= source.size(dim)) {
      return true;
    }
    return !close(values.number(source_position(i, index)), values.number(source_position(i, wanted(i))), {});
  };
  return first_difference(got, differs, [&](int64_t i) {
    return "got index " + std::to_string(indices.integer(i)) + ", want " + std::to_string(wanted(i)) +
        " or one of an equal value";
  });
}

namespace {

std::string mismatch(const std::string& got, const std::string& want) {
  return "returned " + got + ", want " + want;
}

template <class List, class Read>
std::string compare_lists(const List& got, const Json& want, const Read& equal) {
  if (got.size() != want.items().size()) {
    return mismatch("a list of " + std::to_string(got.size()), std::to_string(want.items().size()) + " elements");
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (!equal(got[i], want.items()[i])) {
      return "element " + std::to_string(i) + " of the returned list differs";
    }
  }
  return {};
}

} // namespace

std::string compare_plain(const c10::IValue& got, const Json& tagged, Tolerance tolerance) {
  if (tagged.is_null()) {
    return got.isNone() ? "" : mismatch(got.tagKind(), "none");
  }
  const auto& [tag, value] = tagged.members().at(0);
  const auto wrong_type = [&, &tag = tag] { return mismatch("a " + got.tagKind(), "a value tagged '" + tag + "'"); };
  if (tag == "i") {
    if (!got.isInt()) {
      return wrong_type();
    }
    return got.toInt() == value.as_int() ? "" : mismatch(std::to_string(got.toInt()), std::to_string(value.as_int()));
  }
  if (tag == "b") {
    if (!got.isBool()) {
      return wrong_type();
    }
    return got.toBool() == value.as_bool()
        ? ""
        : mismatch(got.toBool() ? "true" : "false", value.as_bool() ? "true" : "false");
  }
  if (tag == "f") {
    if (!got.isDouble()) {
      return wrong_type();
    }
    return close(got.toDouble(), value.as_double(), tolerance)
        ? ""
        : mismatch(show(got.toDouble()), show(value.as_double()));
  }
  if (tag == "c") {
    if (!got.isComplexDouble()) {
      return wrong_type();
    }
    const c10::complex<double> c = got.toComplexDouble();
    const std::complex<double> number(c.real(), c.imag());
    const std::complex<double> want(value.items().at(0).as_double(), value.items().at(1).as_double());
    return close(number, want, tolerance) ? "" : mismatch(show(number, true), show(want, true));
  }
  if (tag == "s") {
    if (!got.isString()) {
      return wrong_type();
    }
    return got.toStringRef() == value.as_string() ? "" : mismatch(got.toStringRef(), value.as_string());
  }
  if (tag == "dtype") {
    const auto want = static_cast<int64_t>(dtype_info(value.as_string()).type);
    if (!got.isInt()) {
      return wrong_type();
    }
    return got.toInt() == want ? "" : mismatch(std::to_string(got.toInt()), value.as_string());
  }
  if (tag == "il") {
    if (!got.isIntList()) {
      return wrong_type();
    }
    return compare_lists(got.toIntVector(), value, [](int64_t a, const Json& b) { return a == b.as_int(); });
  }
  if (tag == "fl") {
    if (!got.isDoubleList()) {
      return wrong_type();
    }
    return compare_lists(
        got.toDoubleVector(), value, [&](double a, const Json& b) { return close(a, b.as_double(), tolerance); });
  }
  return "no rule for a returned value tagged '" + tag + "'";
}

} // namespace conformance
