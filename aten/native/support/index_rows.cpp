#include <aten/native/support/index_rows.h>

#include <aten/native/support/cpu_isa.h>

namespace at::native {

// aten/native/cpu/index_rows.cpp for each instruction set.
namespace v2 {
AddRow* find_add_row(c10::ScalarType, bool);
bool find_index_outside(const std::int64_t*, std::int64_t, std::int64_t);
void copy_lines(void*, const void*, std::int64_t);
void repeat_lines(std::int64_t, void*, const void*, std::int64_t);
void reverse_row(std::int64_t, const void*, std::int64_t, void*);
void pick_row(std::int64_t, const void*, const std::int64_t*, std::int64_t, void*);
} // namespace v2
namespace v3 {
AddRow* find_add_row(c10::ScalarType, bool);
bool find_index_outside(const std::int64_t*, std::int64_t, std::int64_t);
void copy_lines(void*, const void*, std::int64_t);
void repeat_lines(std::int64_t, void*, const void*, std::int64_t);
void reverse_row(std::int64_t, const void*, std::int64_t, void*);
void pick_row(std::int64_t, const void*, const std::int64_t*, std::int64_t, void*);
} // namespace v3
namespace v4 {
AddRow* find_add_row(c10::ScalarType, bool);
bool find_index_outside(const std::int64_t*, std::int64_t, std::int64_t);
void copy_lines(void*, const void*, std::int64_t);
void repeat_lines(std::int64_t, void*, const void*, std::int64_t);
void reverse_row(std::int64_t, const void*, std::int64_t, void*);
void pick_row(std::int64_t, const void*, const std::int64_t*, std::int64_t, void*);
} // namespace v4

AddRow* add_row_of(c10::ScalarType dtype, bool scaled) {
  static constexpr decltype(&v2::find_add_row) kFind[] = {v2::find_add_row, v3::find_add_row, v4::find_add_row};
  return kFind[cpu_isa_level()](dtype, scaled);
}

bool any_index_outside(const std::int64_t* values, std::int64_t n, std::int64_t bound) {
  static constexpr decltype(&v2::find_index_outside) kFind[] = {
      v2::find_index_outside, v3::find_index_outside, v4::find_index_outside};
  return kFind[cpu_isa_level()](values, n, bound);
}

void copy_block(void* to, const void* from, std::int64_t bytes) {
  // Their own prefetching keeps up with memcpy: prefetch instructions make it a quarter slower (measured on Zen 4).
  static const bool prefetches_well = __builtin_cpu_is("amd");
  if (prefetches_well) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  static constexpr decltype(&v2::copy_lines) kCopy[] = {v2::copy_lines, v3::copy_lines, v4::copy_lines};
  kCopy[cpu_isa_level()](to, from, bytes);
}

void repeat_element(std::int64_t size, void* to, const void* element, std::int64_t n) {
  static constexpr decltype(&v2::repeat_lines) kRepeat[] = {v2::repeat_lines, v3::repeat_lines, v4::repeat_lines};
  kRepeat[cpu_isa_level()](size, to, element, n);
}

void copy_reversed(std::int64_t size, const void* from, std::int64_t n, void* to) {
  static constexpr decltype(&v2::reverse_row) kReverse[] = {v2::reverse_row, v3::reverse_row, v4::reverse_row};
  kReverse[cpu_isa_level()](size, from, n, to);
}

void copy_picked(std::int64_t size, const void* from, const std::int64_t* index, std::int64_t n, void* to) {
  static constexpr decltype(&v2::pick_row) kPick[] = {v2::pick_row, v3::pick_row, v4::pick_row};
  kPick[cpu_isa_level()](size, from, index, n, to);
}

} // namespace at::native
