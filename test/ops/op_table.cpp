#include "test/ops/op_table.h"

#include <ATen/core/function_schema.h>

#include <stdexcept>

namespace test {

template <class T>
const c10::IValue& Operands<T>::argument(std::string_view name) const {
  const auto& arguments = schema_.arguments();
  for (size_t i = 0; i < arguments.size() && i < args_.size(); ++i) {
    if (arguments[i].name() == name) {
      return args_[i];
    }
  }
  throw std::runtime_error(schema_.name() + " has no argument " + std::string(name));
}

template <class T>
double Operands<T>::number(std::string_view name) const {
  return complex_number(name).real();
}

template <class T>
std::complex<double> Operands<T>::complex_number(std::string_view name) const {
  const c10::IValue& value = argument(name);
  if (value.isNone()) {
    return 0;
  }
  if (value.isBool()) {
    return value.toBool() ? 1 : 0;
  }
  const c10::complex<double> number = value.toScalar().toComplexDouble();
  return {number.real(), number.imag()};
}

template <class T>
std::string Operands<T>::text(std::string_view name) const {
  const c10::IValue& value = argument(name);
  return value.isNone() ? "" : value.toStringRef();
}

template <class T>
bool Operands<T>::has(std::string_view name) const {
  return !argument(name).isNone();
}

template class Operands<double>;
template class Operands<std::complex<double>>;
template class Operands<int64_t>;

} // namespace test
