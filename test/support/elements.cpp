#include "test/support/elements.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace test {

namespace {

using c10::ScalarType;

constexpr DTypeInfo kDTypes[] = {
    {"bool", ScalarType::Bool, 1, Category::Bool},
    {"uint8", ScalarType::Byte, 1, Category::Integer},
    {"int8", ScalarType::Char, 1, Category::Integer},
    {"int16", ScalarType::Short, 2, Category::Integer},
    {"int32", ScalarType::Int, 4, Category::Integer},
    {"int64", ScalarType::Long, 8, Category::Integer},
    {"uint16", ScalarType::UInt16, 2, Category::Integer},
    {"uint32", ScalarType::UInt32, 4, Category::Integer},
    {"uint64", ScalarType::UInt64, 8, Category::Integer},
    {"float16", ScalarType::Half, 2, Category::Float},
    {"bfloat16", ScalarType::BFloat16, 2, Category::Float},
    {"float32", ScalarType::Float, 4, Category::Float},
    {"float64", ScalarType::Double, 8, Category::Float},
    {"complex32", ScalarType::ComplexHalf, 4, Category::Complex},
    {"complex64", ScalarType::ComplexFloat, 8, Category::Complex},
    {"complex128", ScalarType::ComplexDouble, 16, Category::Complex},
};

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double half_to_double(uint16_t bits) {
  const double sign = bits & 0x8000 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1F;
  const int mantissa = bits & 0x3FF;
  if (exponent == 31) {
    if (mantissa != 0) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    return sign * std::numeric_limits<double>::infinity();
  }
  if (exponent == 0) {
    return sign * std::ldexp(mantissa, -24);
  }
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

double bfloat16_to_double(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

} // namespace

const DTypeInfo& dtype_info(ScalarType type) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.type == type) {
      return info;
    }
  }
  throw std::runtime_error("unexpected " + dtype_name(type));
}

const DTypeInfo& dtype_info(std::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.name == name) {
      return info;
    }
  }
  throw std::runtime_error("unknown dtype " + std::string(name));
}

std::string dtype_name(ScalarType type) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.type == type) {
      return std::string(info.name);
    }
  }
  return "dtype#" + std::to_string(static_cast<int>(type));
}

int64_t read_integer(ScalarType type, const std::byte* at) {
  switch (type) {
    case ScalarType::Bool:
      return load<uint8_t>(at);
    case ScalarType::Byte:
      return load<uint8_t>(at);
    case ScalarType::Char:
      return load<int8_t>(at);
    case ScalarType::Short:
      return load<int16_t>(at);
    case ScalarType::Int:
      return load<int32_t>(at);
    case ScalarType::Long:
      return load<int64_t>(at);
    case ScalarType::UInt16:
      return load<uint16_t>(at);
    case ScalarType::UInt32:
      return load<uint32_t>(at);
    case ScalarType::UInt64:
      return load<int64_t>(at); // of the same bits
    default:
      throw std::runtime_error("not an integer dtype: " + dtype_name(type));
  }
}

std::complex<double> read_number(ScalarType type, const std::byte* at) {
  switch (type) {
    case ScalarType::Half:
      return half_to_double(load<uint16_t>(at));
    case ScalarType::BFloat16:
      return bfloat16_to_double(load<uint16_t>(at));
    case ScalarType::Float:
      return load<float>(at);
    case ScalarType::Double:
      return load<double>(at);
    case ScalarType::ComplexHalf:
      return {half_to_double(load<uint16_t>(at)), half_to_double(load<uint16_t>(at + 2))};
    case ScalarType::ComplexFloat:
      return {load<float>(at), load<float>(at + 4)};
    case ScalarType::ComplexDouble:
      return {load<double>(at), load<double>(at + 8)};
    default:
      return static_cast<double>(read_integer(type, at));
  }
}

void write_integer(ScalarType type, int64_t value, std::byte* at) {
  const auto store = [&at](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (type) {
    case ScalarType::Bool:
      return store(static_cast<uint8_t>(value != 0));
    case ScalarType::Byte:
      return store(static_cast<uint8_t>(value));
    case ScalarType::Char:
      return store(static_cast<int8_t>(value));
    case ScalarType::Short:
      return store(static_cast<int16_t>(value));
    case ScalarType::Int:
      return store(static_cast<int32_t>(value));
    case ScalarType::UInt16:
      return store(static_cast<uint16_t>(value));
    case ScalarType::UInt32:
      return store(static_cast<uint32_t>(value));
    case ScalarType::Long:
    case ScalarType::UInt64:
      return store(value);
    default:
      write_number(type, static_cast<double>(value), at);
  }
}

void write_number(ScalarType type, std::complex<double> value, std::byte* at) {
  const auto store = [&at](auto number) { std::memcpy(at, &number, sizeof number); };
  switch (type) {
    case ScalarType::Half:
      return store(c10::Half(static_cast<float>(value.real())));
    case ScalarType::BFloat16:
      return store(c10::BFloat16(static_cast<float>(value.real())));
    case ScalarType::Float:
      return store(static_cast<float>(value.real()));
    case ScalarType::Double:
      return store(value.real());
    case ScalarType::ComplexHalf:
      store(c10::Half(static_cast<float>(value.real())));
      at += 2;
      return store(c10::Half(static_cast<float>(value.imag())));
    case ScalarType::ComplexFloat:
      return store(std::complex<float>(value));
    case ScalarType::ComplexDouble:
      return store(value);
    default:
      write_integer(type, static_cast<int64_t>(value.real()), at);
  }
}

double largest_finite(ScalarType type) {
  switch (type) {
    case ScalarType::Half:
    case ScalarType::ComplexHalf:
      return 65504;
    case ScalarType::BFloat16:
      return 3.3895313892515355e38;
    case ScalarType::Float:
    case ScalarType::ComplexFloat:
      return std::numeric_limits<float>::max();
    case ScalarType::Double:
    case ScalarType::ComplexDouble:
      return std::numeric_limits<double>::max();
    default:
      throw std::runtime_error("not a floating dtype: " + dtype_name(type));
  }
}

} // namespace test
