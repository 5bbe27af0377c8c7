#include <csrc/program/schema_numbers.h>

#include <c10/util/Exception.h>

#include <utility>

namespace torch::program {

namespace {

using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;

constexpr std::pair<int64_t, ScalarType> kDtypeNumbers[] = {
    {1, ScalarType::Byte},
    {2, ScalarType::Char},
    {3, ScalarType::Short},
    {4, ScalarType::Int},
    {5, ScalarType::Long},
    {6, ScalarType::Half},
    {7, ScalarType::Float},
    {8, ScalarType::Double},
    {9, ScalarType::ComplexHalf},
    {10, ScalarType::ComplexFloat},
    {11, ScalarType::ComplexDouble},
    {12, ScalarType::Bool},
    {13, ScalarType::BFloat16},
    {28, ScalarType::UInt16},
    {29, ScalarType::Float8_e4m3fn},
    {30, ScalarType::Float8_e5m2},
    {31, ScalarType::Float8_e4m3fnuz},
    {32, ScalarType::Float8_e5m2fnuz},
    {33, ScalarType::Float8_e8m0fnu},
    {34, ScalarType::UInt32},
    {35, ScalarType::UInt64},
};

constexpr std::pair<int64_t, Layout> kLayoutNumbers[] = {
    {1, c10::kSparse},    {2, c10::kSparseCsr}, {3, c10::kSparseCsc}, {4, c10::kSparseBsr},
    {5, c10::kSparseBsc}, {6, c10::kMkldnn},    {7, c10::kStrided},
};

constexpr std::pair<int64_t, MemoryFormat> kFormatNumbers[] = {
    {1, MemoryFormat::Contiguous},
    {2, MemoryFormat::ChannelsLast},
    {3, MemoryFormat::ChannelsLast3d},
    {4, MemoryFormat::Preserve},
};

template <class Table>
auto from_number(const Table& table, int64_t number, const char* what) {
  for (const auto& row : table) {
    if (row.first == number) {
      return row.second;
    }
  }
  TORCH_CHECK(false, "no ", what, " has the number ", number, " in archives of programs");
}

template <class Table, class Value>
int64_t to_number(const Table& table, Value value) {
  for (const auto& row : table) {
    if (row.second == value) {
      return row.first;
    }
  }
  TORCH_CHECK(false, "archives of programs have no number for ", value);
}

} // namespace

ScalarType dtype_from_number(int64_t number) {
  return from_number(kDtypeNumbers, number, "dtype");
}
Layout layout_from_number(int64_t number) {
  return from_number(kLayoutNumbers, number, "layout");
}
MemoryFormat memory_format_from_number(int64_t number) {
  return from_number(kFormatNumbers, number, "memory format");
}

int64_t number_of(ScalarType dtype) {
  return to_number(kDtypeNumbers, dtype);
}
int64_t number_of(Layout layout) {
  return to_number(kLayoutNumbers, layout);
}
int64_t number_of(MemoryFormat format) {
  return to_number(kFormatNumbers, format);
}

} // namespace torch::program
