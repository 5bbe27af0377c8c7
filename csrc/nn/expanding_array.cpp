#include <csrc/nn/expanding_array.h>

#include <c10/util/Exception.h>

#include <ostream>

namespace torch::detail {
namespace {

template <class T>
void print_value(std::ostream& out, const T& value) {
  out << value;
}

template <class T>
void print_value(std::ostream& out, const std::optional<T>& value) {
  if (value) {
    out << *value;
  } else {
    out << "None";
  }
}

template <class T>
void print_values(std::ostream& out, c10::ArrayRef<T> values) {
  if (values.size() == 1) {
    print_value(out, values[0]);
    return;
  }
  const char* separator = "[";
  for (const T& value : values) {
    out << separator;
    print_value(out, value);
    separator = ", ";
  }
  out << ']';
}

} // namespace

void check_expanding_array_size(size_t given, size_t expected) {
  TORCH_CHECK(
      given == expected, "Expected ", expected, " values, but instead got ", given,
      ": give one value for each dimension, or a single one for all");
}

void print_expanding_array(std::ostream& out, c10::ArrayRef<int64_t> values) {
  print_values(out, values);
}

void print_expanding_array(std::ostream& out, c10::ArrayRef<double> values) {
  print_values(out, values);
}

void print_expanding_array(std::ostream& out, c10::ArrayRef<std::optional<int64_t>> values) {
  print_values(out, values);
}

void print_expanding_array(std::ostream& out, c10::ArrayRef<std::optional<double>> values) {
  print_values(out, values);
}

} // namespace torch::detail
