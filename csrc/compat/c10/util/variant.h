#pragma once

#include <variant>

// libtorch before 2.1 had its own variant under these names.
namespace c10 {
using std::bad_variant_access;
using std::get;
using std::get_if;
using std::holds_alternative;
using std::monostate;
using std::variant;
using std::variant_alternative_t;
using std::variant_size;
using std::visit;
} // namespace c10
