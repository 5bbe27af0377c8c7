#include <c10/core/SymNodeImpl.h>

#include <c10/util/Exception.h>

namespace c10 {

namespace {

[[noreturn]] void not_supported(const char* method) {
  TORCH_CHECK(false, "SymNodeImpl::", method, " is not implemented by this kind of symbolic value");
}

} // namespace

SymNodeImpl::~SymNodeImpl() = default;

#define NOT_SUPPORTED(result, name, args) \
  result SymNodeImpl::name args {         \
    not_supported(#name);                 \
  }
#define NOT_SUPPORTED_BINARY(name) NOT_SUPPORTED(SymNode, name, (const SymNode&))
#define NOT_SUPPORTED_SHAPE(name) NOT_SUPPORTED(SymNode, name, (ArrayRef<SymNode>, ArrayRef<SymNode>))

NOT_SUPPORTED(bool, is_int, ())
NOT_SUPPORTED(bool, is_bool, ())
NOT_SUPPORTED(bool, is_float, ())

NOT_SUPPORTED_BINARY(add)
NOT_SUPPORTED_BINARY(sub)
NOT_SUPPORTED_BINARY(mul)
NOT_SUPPORTED_BINARY(truediv)
NOT_SUPPORTED_BINARY(pow)
NOT_SUPPORTED_BINARY(floordiv)
NOT_SUPPORTED_BINARY(mod)
NOT_SUPPORTED_BINARY(eq)
NOT_SUPPORTED_BINARY(ne)
NOT_SUPPORTED_BINARY(gt)
NOT_SUPPORTED_BINARY(lt)
NOT_SUPPORTED_BINARY(le)
NOT_SUPPORTED_BINARY(ge)
NOT_SUPPORTED(SymNode, ceil, ())
NOT_SUPPORTED(SymNode, floor, ())
NOT_SUPPORTED(SymNode, neg, ())
NOT_SUPPORTED_BINARY(sym_min)
NOT_SUPPORTED_BINARY(sym_max)
NOT_SUPPORTED_BINARY(sym_or)
NOT_SUPPORTED_BINARY(sym_and)
NOT_SUPPORTED(SymNode, sym_not, ())
NOT_SUPPORTED(SymNode, sym_ite, (const SymNode&, const SymNode&))

NOT_SUPPORTED_SHAPE(is_contiguous)
NOT_SUPPORTED_SHAPE(is_channels_last_contiguous_2d)
NOT_SUPPORTED_SHAPE(is_channels_last_contiguous_3d)
NOT_SUPPORTED_SHAPE(is_channels_last_strides_2d)
NOT_SUPPORTED_SHAPE(is_channels_last_strides_3d)
NOT_SUPPORTED_SHAPE(is_non_overlapping_and_dense)

NOT_SUPPORTED(SymNode, clone, ())
NOT_SUPPORTED(SymNode, sym_float, ())
NOT_SUPPORTED(SymNode, wrap_int, (int64_t))
NOT_SUPPORTED(SymNode, wrap_float, (double))
NOT_SUPPORTED(SymNode, wrap_bool, (bool))
NOT_SUPPORTED(int64_t, guard_int, (const char*, int64_t))
NOT_SUPPORTED(bool, guard_bool, (const char*, int64_t))
NOT_SUPPORTED(double, guard_float, (const char*, int64_t))
NOT_SUPPORTED(int64_t, int_, ())
NOT_SUPPORTED(bool, bool_, ())
NOT_SUPPORTED(bool, has_hint, ())
NOT_SUPPORTED(std::string, str, ())

#undef NOT_SUPPORTED_SHAPE
#undef NOT_SUPPORTED_BINARY
#undef NOT_SUPPORTED

// Finer distinctions fall back on the coarse operation.
SymNode SymNodeImpl::float_truediv(const SymNode& other) {
  return truediv(other);
}
SymNode SymNodeImpl::int_truediv(const SymNode& other) {
  return truediv(other);
}
SymNode SymNodeImpl::float_pow(const SymNode& other) {
  return pow(other);
}
SymNode SymNodeImpl::pow_by_natural(const SymNode& other) {
  return pow(other);
}
SymNode SymNodeImpl::int_floordiv(const SymNode& other) {
  return floordiv(other);
}
bool SymNodeImpl::guard_size_oblivious(const char* file, int64_t line) {
  return guard_bool(file, line);
}
bool SymNodeImpl::guard_or_false(const char* file, int64_t line) {
  return guard_bool(file, line);
}
bool SymNodeImpl::guard_or_true(const char* file, int64_t line) {
  return guard_bool(file, line);
}
bool SymNodeImpl::statically_known_true(const char* file, int64_t line) {
  return guard_bool(file, line);
}
bool SymNodeImpl::expect_true(const char* file, int64_t line) {
  return guard_bool(file, line);
}
std::string SymNodeImpl::_graph_repr() {
  return str();
}

bool SymNodeImpl::is_nested_int() const {
  return false;
}
std::optional<int64_t> SymNodeImpl::nested_int() {
  return std::nullopt;
}
std::optional<int64_t> SymNodeImpl::nested_int_coeff() {
  return std::nullopt;
}
std::optional<int64_t> SymNodeImpl::constant_int() {
  return std::nullopt;
}
std::optional<bool> SymNodeImpl::constant_bool() {
  return std::nullopt;
}
std::optional<int64_t> SymNodeImpl::maybe_as_int() {
  return std::nullopt;
}
bool SymNodeImpl::is_constant() {
  return false;
}
bool SymNodeImpl::is_symbolic() {
  return true;
}

} // namespace c10
