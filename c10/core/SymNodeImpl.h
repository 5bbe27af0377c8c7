#pragma once

#include <c10/macros/Export.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <optional>
#include <string>

namespace c10 {

class SymNodeImpl;
using SymNode = c10::intrusive_ptr<SymNodeImpl>;

/// A value that is not known while a program is traced: an integer, float or bool expression. SymInt, SymFloat and
/// SymBool hold one when they are not concrete. A tracer derives from this class; whatever it does not override throws.
class C10_API SymNodeImpl : public c10::intrusive_ptr_target {
 public:
  ~SymNodeImpl() override;

  template <typename T>
  c10::intrusive_ptr<T> dyn_cast() const {
    return c10::intrusive_ptr<T>::reclaim_copy(dynamic_cast<T*>(const_cast<SymNodeImpl*>(this)));
  }

  // What kind of value it is.
  virtual bool is_int();
  virtual bool is_bool();
  virtual bool is_float();
  virtual bool is_nested_int() const;

  // Arithmetic and comparison. The operands are nodes of the same tracer, see wrap_int and the like.
  virtual SymNode add(const SymNode& other);
  virtual SymNode sub(const SymNode& other);
  virtual SymNode mul(const SymNode& other);
  virtual SymNode truediv(const SymNode& other);
  virtual SymNode float_truediv(const SymNode& other);
  virtual SymNode int_truediv(const SymNode& other);
  virtual SymNode pow(const SymNode& other);
  virtual SymNode float_pow(const SymNode& other);
  virtual SymNode pow_by_natural(const SymNode& other);
  virtual SymNode floordiv(const SymNode& other);
  virtual SymNode int_floordiv(const SymNode& other);
  virtual SymNode mod(const SymNode& other);
  virtual SymNode eq(const SymNode& other);
  virtual SymNode ne(const SymNode& other);
  virtual SymNode gt(const SymNode& other);
  virtual SymNode lt(const SymNode& other);
  virtual SymNode le(const SymNode& other);
  virtual SymNode ge(const SymNode& other);
  virtual SymNode ceil();
  virtual SymNode floor();
  virtual SymNode neg();
  virtual SymNode sym_min(const SymNode& other);
  virtual SymNode sym_max(const SymNode& other);
  virtual SymNode sym_or(const SymNode& other);
  virtual SymNode sym_and(const SymNode& other);
  virtual SymNode sym_not();
  virtual SymNode sym_ite(const SymNode& then_val, const SymNode& else_val);

  // Questions about a shape, as one bool node. `this` is any of the sizes.
  virtual SymNode is_contiguous(ArrayRef<SymNode> sizes, ArrayRef<SymNode> strides);
  virtual SymNode is_channels_last_contiguous_2d(ArrayRef<SymNode> sizes, ArrayRef<SymNode> strides);
  virtual SymNode is_channels_last_contiguous_3d(ArrayRef<SymNode> sizes, ArrayRef<SymNode> strides);
  virtual SymNode is_channels_last_strides_2d(ArrayRef<SymNode> sizes, ArrayRef<SymNode> strides);
  virtual SymNode is_channels_last_strides_3d(ArrayRef<SymNode> sizes, ArrayRef<SymNode> strides);
  virtual SymNode is_non_overlapping_and_dense(ArrayRef<SymNode> sizes, ArrayRef<SymNode> strides);

  virtual SymNode clone();
  virtual SymNode sym_float();

  // Constants as nodes of this tracer.
  virtual SymNode wrap_int(int64_t value);
  virtual SymNode wrap_float(double value);
  virtual SymNode wrap_bool(bool value);

  // The value itself; the tracer notes that what follows holds for this value only. File and line tell who asked.
  virtual int64_t guard_int(const char* file, int64_t line);
  virtual bool guard_bool(const char* file, int64_t line);
  virtual double guard_float(const char* file, int64_t line);
  virtual bool guard_size_oblivious(const char* file, int64_t line);
  virtual bool guard_or_false(const char* file, int64_t line);
  virtual bool guard_or_true(const char* file, int64_t line);
  virtual bool statically_known_true(const char* file, int64_t line);
  virtual bool expect_true(const char* file, int64_t line);
  virtual int64_t int_();
  virtual bool bool_();
  virtual bool has_hint();

  virtual std::string str();
  virtual std::string _graph_repr();

  // What is known without asking the tracer.
  virtual std::optional<int64_t> nested_int();
  virtual std::optional<int64_t> nested_int_coeff();
  virtual std::optional<int64_t> constant_int();
  virtual std::optional<bool> constant_bool();
  virtual std::optional<int64_t> maybe_as_int();
  virtual bool is_constant();
  virtual bool is_symbolic();
};

} // namespace c10
