#pragma once

#include <c10/macros/Macros.h>

#include <cstddef>
#include <string>
#include <typeinfo>

namespace c10 {

/// The readable form of a mangled C++ name; the name itself if it is not a mangled one.
C10_API std::string demangle(const char* name);

/// The readable name of a type.
template <typename T>
inline const char* demangle_type() {
  static const auto& name = *(new std::string(demangle(typeid(T).name())));
  return name.c_str();
}

} // namespace c10
