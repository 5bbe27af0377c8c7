#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Float8_e8m0fnu.h>
#include <c10/util/Half.h>

#include <ostream>
#include <type_traits>

namespace c10 {

// Arrays of these are read from files and copied as bytes.
static_assert(std::is_trivially_copyable_v<Half> && std::is_standard_layout_v<Half> && sizeof(Half) == 2);
static_assert(std::is_trivially_copyable_v<BFloat16> && std::is_standard_layout_v<BFloat16> && sizeof(BFloat16) == 2);

std::ostream& operator<<(std::ostream& out, const Half& value) {
  return out << static_cast<float>(value);
}
std::ostream& operator<<(std::ostream& out, const BFloat16& value) {
  return out << static_cast<float>(value);
}
std::ostream& operator<<(std::ostream& out, const Float8_e4m3fn& value) {
  return out << static_cast<float>(value);
}
std::ostream& operator<<(std::ostream& out, const Float8_e4m3fnuz& value) {
  return out << static_cast<float>(value);
}
std::ostream& operator<<(std::ostream& out, const Float8_e5m2& value) {
  return out << static_cast<float>(value);
}
std::ostream& operator<<(std::ostream& out, const Float8_e5m2fnuz& value) {
  return out << static_cast<float>(value);
}
std::ostream& operator<<(std::ostream& out, const Float8_e8m0fnu& value) {
  return out << static_cast<float>(value);
}

} // namespace c10
