#pragma once

// What IValues point to, and the conversions between IValue and C++ types.

#include <aten/core/ivalue.h>

#include <aten/core/Dict_inl.h>
#include <aten/core/List_inl.h>
#include <aten/core/class_type.h>
#include <aten/core/jit_type.h>
#include <c10/util/OwnedPtr.h>

#include <exception>

namespace c10 {

namespace ivalue {

struct TORCH_API ConstantString final : c10::intrusive_ptr_target {
  explicit ConstantString(std::string str) : str_(std::move(str)) {}
  static intrusive_ptr<ConstantString> create(std::string str) {
    return make_intrusive<ConstantString>(std::move(str));
  }
  const std::string& string() const {
    return str_;
  }
  std::string_view string_view() const {
    return str_;
  }
  operator const std::string&() const {
    return str_;
  }

 private:
  const std::string str_;
};

struct TORCH_API ComplexHolder final : c10::intrusive_ptr_target {
  template <class T>
  explicit ComplexHolder(c10::complex<T> c) : val(static_cast<c10::complex<double>>(c)) {}
  c10::complex<double> val;
};

struct TORCH_API StreamData3Holder final : c10::intrusive_ptr_target {
  explicit StreamData3Holder(c10::StreamData3 data) : val(data) {}
  const c10::StreamData3 val;
};

/// The values of a tuple.
class TupleElements : public std::vector<IValue> {
 public:
  using std::vector<IValue>::vector;
  TupleElements() = default;
  /* implicit */ TupleElements(std::vector<IValue> values) : std::vector<IValue>(std::move(values)) {}
  TupleElements(IValue first, IValue second) : std::vector<IValue>{std::move(first), std::move(second)} {}
  TupleElements(IValue first, IValue second, IValue third)
      : std::vector<IValue>{std::move(first), std::move(second), std::move(third)} {}
  void setContents(std::vector<IValue> values) {
    static_cast<std::vector<IValue>&>(*this) = std::move(values);
  }
  c10::ArrayRef<IValue> asArrayRef() const {
    return c10::ArrayRef<IValue>(data(), size());
  }
  std::vector<IValue> vec() const& {
    return *this;
  }
  std::vector<IValue> vec() && {
    return std::move(*static_cast<std::vector<IValue>*>(this));
  }
  operator c10::ArrayRef<IValue>() const {
    return asArrayRef();
  }
};

struct TORCH_API Tuple final : c10::intrusive_ptr_target {
  explicit Tuple(std::vector<IValue> elements) : elements_(std::move(elements)) {}
  ~Tuple() override;
  Tuple(std::vector<IValue> elements, std::shared_ptr<TupleType> named_type);
  /// A named tuple: `type` comes from TupleType::createNamed and has as many fields.
  static intrusive_ptr<Tuple> createNamed(std::vector<IValue> elements, std::shared_ptr<TupleType> type) {
    return make_intrusive<Tuple>(std::move(elements), std::move(type));
  }
  static intrusive_ptr<Tuple> create(std::vector<IValue> elements) {
    return make_intrusive<Tuple>(std::move(elements));
  }
  static intrusive_ptr<Tuple> create(c10::ArrayRef<IValue> elements) {
    return create(elements.vec());
  }
  static intrusive_ptr<Tuple> create(std::initializer_list<IValue> elements) {
    return create(std::vector<IValue>(elements));
  }
  template <class... Args, class = std::enable_if_t<(std::is_constructible_v<IValue, Args&&> && ...)>>
  static intrusive_ptr<Tuple> create(Args&&... elements) {
    std::vector<IValue> values;
    values.reserve(sizeof...(Args));
    (values.emplace_back(std::forward<Args>(elements)), ...);
    return create(std::move(values));
  }
  const TupleElements& elements() const& {
    return elements_;
  }
  TupleElements elements() && {
    return std::move(elements_);
  }
  void setElements(std::vector<IValue> elements) {
    elements_ = std::move(elements);
  }
  void unsafeSetElement(size_t i, IValue value) {
    elements_[i] = std::move(value);
  }
  size_t size() const {
    return elements_.size();
  }
  std::shared_ptr<TupleType> type() const;

 private:
  TupleElements elements_;
  std::shared_ptr<TupleType> named_type_; // null for plain tuples
};

/// An object of a class: one value for each attribute of its type.
struct TORCH_API Object final : c10::intrusive_ptr_target {
  Object(StrongTypePtr type, size_t slots);
  ~Object() override;
  static intrusive_ptr<Object> create(StrongTypePtr type, size_t slots);
  static intrusive_ptr<Object> create(ClassTypePtr type, size_t slots);

  const std::vector<IValue>& slots() const {
    return slots_;
  }
  /// Slots come into being when they are first written.
  void setSlot(size_t slot, IValue value);
  const IValue& getSlot(size_t slot) const;
  void unsafeRemoveSlot(size_t slot);
  /// Its slot: the type keeps the attribute.
  void unsafeRemoveAttr(const std::string& name);
  IValue getAttr(const std::string& name) const;
  void setAttr(const std::string& name, IValue value);
  std::string name() const;
  ClassTypePtr type() const {
    return type_;
  }
  std::shared_ptr<torch::jit::CompilationUnit> compilation_unit() const {
    return cu_;
  }
  /// A new object with the same slot values.
  intrusive_ptr<Object> copy() const;
  intrusive_ptr<Object> deepcopy(std::optional<c10::Device> device = std::nullopt) const;
  intrusive_ptr<Object> deepcopy(
      IValue::HashIdentityIValueMap& memo, std::optional<c10::Device> device = std::nullopt) const;

 private:
  std::shared_ptr<torch::jit::CompilationUnit> cu_;
  ClassTypePtr type_;
  std::vector<IValue> slots_;
};

struct TORCH_API EnumHolder final : c10::intrusive_ptr_target {
  EnumHolder(EnumTypePtr type, std::string name, IValue value)
      : type_(std::move(type)), name_(std::move(name)), value_(std::move(value)) {}
  ~EnumHolder() override;
  std::string qualifiedClassName() const;
  const std::string& name() const {
    return name_;
  }
  const IValue& value() const {
    return value_;
  }
  const EnumTypePtr& type() const {
    return type_;
  }

 private:
  EnumTypePtr type_;
  std::string name_;
  IValue value_;
};

/// A value that comes later: one thread makes it complete, others wait for it or leave a function that is called with
/// it. Held by an intrusive_ptr.
///
/// With devices, their streams take part: the streams that are current when the value is given are waited for by those
/// that are current where it is used, and callbacks run on streams of their own.
struct TORCH_API Future final : c10::intrusive_ptr_target {
  using WeakStorage = c10::weak_intrusive_ptr<c10::StorageImpl>;
  using ValueWithStorages = std::tuple<IValue, std::vector<WeakStorage>>;

  /// An error that has a text alone.
  struct TORCH_API FutureError final : std::exception {
    FutureError() = default;
    explicit FutureError(std::string&& error_msg_) : error_msg(std::move(error_msg_)) {}
    const char* what() const noexcept override {
      return error_msg.c_str();
    }
    std::string error_msg;
  };

  /// `type` is that of the value. The devices must be of one type, with indices.
  explicit Future(TypePtr type);
  explicit Future(TypePtr type, std::vector<c10::Device> devices);
  ~Future() override;
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  void wait();
  /// Waits, and throws the error if there is one.
  void waitAndThrow();

  /// Gives the value. Throws if there is one already, or an error. The storages are those of the tensors inside;
  /// without them they are looked for, where there are devices.
  void markCompleted(IValue value);
  void markCompleted(IValue value, std::optional<std::vector<WeakStorage>> storages);
  /// Gives None.
  void markCompleted();
  void setError(std::exception_ptr error);
  /// Does nothing but log if the future is complete.
  void setErrorIfNeeded(std::exception_ptr error);

  /// The value; throws the error if there is one. The future must be complete.
  IValue value();
  /// The future must have a value.
  const IValue& constValue() const;
  const std::vector<WeakStorage>& storages() const;

  /// Calls `callback(future)` when the future is complete: now, or in the thread that makes it so. A callback that does
  /// not use the future needs no streams.
  template <class Callback>
  void addCallback(Callback callback, bool uses_future = true) {
    static_assert(std::is_invocable_r_v<void, Callback, Future&>, "The callback must have signature void(Future&)");
    add(std::move(callback), uses_future);
  }
  /// A future of what `callback(future)` returns, an IValue or one with its storages. An exception becomes its error.
  template <class Callback>
  c10::intrusive_ptr<Future> then(Callback callback, TypePtr type) {
    if constexpr (std::is_convertible_v<std::invoke_result_t<Callback&&, Future&>, ValueWithStorages>) {
      return then_complete(std::move(type), [callback = std::move(callback)](Future& parent, Future& child) mutable {
        child.complete(callback(parent));
      });
    } else {
      static_assert(
          std::is_invocable_r_v<IValue, Callback, Future&>,
          "The callback must have signature IValue(Future&) or std::tuple<IValue, std::vector<WeakStorage>>(Future&)");
      return then_complete(std::move(type), [callback = std::move(callback)](Future& parent, Future& child) mutable {
        child.markCompleted(callback(parent));
      });
    }
  }
  /// The same for a callback that returns a future: the result follows that one.
  template <class Callback>
  c10::intrusive_ptr<Future> thenAsync(Callback callback, TypePtr type) {
    static_assert(
        std::is_invocable_r_v<c10::intrusive_ptr<Future>, Callback, Future&>,
        "The callback must have signature c10::intrusive_ptr<Future>(Future&)");
    return then_complete(std::move(type), [callback = std::move(callback)](Future& parent, Future& child) mutable {
      child.follow(*callback(parent));
    });
  }

  bool completed() const;
  bool hasValue() const;
  bool hasError() const;
  std::exception_ptr exception_ptr() const;
  /// The error's text. There must be an error.
  std::string tryRetrieveErrorMessage() const;

  const TypePtr& elementType() const {
    return type_;
  }
  const std::vector<c10::Device>& devices() const;
  /// An incomplete future for the same devices.
  c10::intrusive_ptr<Future> createInstance(TypePtr type) const;

 private:
  struct State;
  void add(std::function<void(Future&)> callback, bool uses_future);
  c10::intrusive_ptr<Future> then_complete(TypePtr type, std::function<void(Future& parent, Future& child)> complete);
  void follow(Future& other);
  void complete(ValueWithStorages result);
  void run(const std::function<void(Future&)>& callback, bool uses_future);
  bool try_finish(
      IValue value,
      const std::exception_ptr& error,
      std::vector<WeakStorage> storages,
      const std::vector<c10::Device>& used);
  void synchronize_with_current_streams();

  TypePtr type_;
  OwnedPtr<State> state_;
};

/// A call put off: the function runs in the thread that first waits, and its value is kept. Not for several threads at
/// once.
struct TORCH_API Await final : c10::intrusive_ptr_target {
  /// `type` is that of the value.
  explicit Await(TypePtr type, std::function<IValue()> function = nullptr);
  ~Await() override;
  Await(const Await&) = delete;
  Await& operator=(const Await&) = delete;

  /// Throws without a function.
  IValue wait();
  /// Throws if nobody has waited yet.
  IValue value() const;
  bool completed() const {
    return completed_;
  }
  void markCompleted(IValue value);
  void setFn(std::function<IValue()> function) {
    function_ = std::move(function);
  }
  /// What the function is to be called with; forgotten after the call.
  void setArgs(std::vector<IValue> args) {
    args_ = std::move(args);
  }
  std::vector<IValue>& args() {
    return args_;
  }
  const TypePtr& elementType() const {
    return element_type_;
  }
  const TypePtr& type() const {
    return type_;
  }

 private:
  TypePtr element_type_;
  TypePtr type_;
  std::vector<IValue> args_;
  std::function<IValue()> function_;
  IValue value_;
  bool completed_ = false;
};
TORCH_API std::ostream& operator<<(std::ostream& out, const Await& await);

} // namespace ivalue

using ivalue::Await;
using ivalue::EnumHolder;
using ivalue::Future;
using ivalue::Object;

/// A future of the list of all these futures. It is complete when they all are; the first error becomes its error.
TORCH_API intrusive_ptr<ivalue::Future> collectAll(const List<intrusive_ptr<ivalue::Future>>& futures);
/// A future that becomes what the first of these becomes, value or error. Without any, one of None.
TORCH_API intrusive_ptr<ivalue::Future> collectAny(const List<intrusive_ptr<ivalue::Future>>& futures);

// --- pointers
// ---------------------------------------------------------------------------------------------------------

template <class T, class Null>
intrusive_ptr<T, Null> IValue::share_pointer() const {
  c10::intrusive_ptr_target* raw = payload_.u.as_intrusive_ptr;
  if (!raw) {
    return intrusive_ptr<T, Null>();
  }
  c10::raw::intrusive_ptr::incref(raw);
  return intrusive_ptr<T, Null>::reclaim(static_cast<T*>(raw));
}

template <class T, class Null>
intrusive_ptr<T, Null> IValue::move_pointer() {
  c10::intrusive_ptr_target* raw = payload_.u.as_intrusive_ptr;
  clear_to_none();
  return raw ? intrusive_ptr<T, Null>::reclaim(static_cast<T*>(raw)) : intrusive_ptr<T, Null>();
}

#define C10_IVALUE_POINTER(Name, Type, TagName)          \
  inline intrusive_ptr<Type> IValue::to##Name()&& {      \
    expect(Tag::TagName, #TagName);                      \
    return move_pointer<Type>();                         \
  }                                                      \
  inline intrusive_ptr<Type> IValue::to##Name() const& { \
    expect(Tag::TagName, #TagName);                      \
    return share_pointer<Type>();                        \
  }
C10_IVALUE_POINTER(String, ivalue::ConstantString, String)
C10_IVALUE_POINTER(Tuple, ivalue::Tuple, Tuple)
C10_IVALUE_POINTER(Object, ivalue::Object, Object)
C10_IVALUE_POINTER(EnumHolder, ivalue::EnumHolder, Enum)
C10_IVALUE_POINTER(Future, ivalue::Future, Future)
C10_IVALUE_POINTER(Await, ivalue::Await, Await)
C10_IVALUE_POINTER(Capsule, torch::CustomClassHolder, Capsule)
#undef C10_IVALUE_POINTER

inline IValue::IValue(intrusive_ptr<ivalue::ConstantString> v) : IValue(Tag::String, v.release()) {}
inline IValue::IValue(intrusive_ptr<ivalue::Tuple> v) : IValue(Tag::Tuple, v.release()) {}
inline IValue::IValue(intrusive_ptr<ivalue::Object> v) : IValue(Tag::Object, v.release()) {}
inline IValue::IValue(intrusive_ptr<ivalue::EnumHolder> v) : IValue(Tag::Enum, v.release()) {}
inline IValue::IValue(intrusive_ptr<ivalue::Future> v) : IValue(Tag::Future, v.release()) {}
inline IValue::IValue(intrusive_ptr<ivalue::Await> v) : IValue(Tag::Await, v.release()) {}
inline IValue::IValue(std::string v) : IValue(ivalue::ConstantString::create(std::move(v))) {}

inline const std::string& IValue::toStringRef() const {
  expect(Tag::String, "String");
  return static_cast<const ivalue::ConstantString*>(payload_.u.as_intrusive_ptr)->string();
}
inline ivalue::Tuple& IValue::toTupleRef() const {
  expect(Tag::Tuple, "Tuple");
  return *static_cast<ivalue::Tuple*>(payload_.u.as_intrusive_ptr);
}
inline ivalue::Object& IValue::toObjectRef() const {
  expect(Tag::Object, "Object");
  return *static_cast<ivalue::Object*>(payload_.u.as_intrusive_ptr);
}

// --- numbers
// -----------------------------------------------------------------------------------------------------------

template <class T>
IValue::IValue(c10::complex<T> c) : IValue(Tag::ComplexDouble, make_intrusive<ivalue::ComplexHolder>(c).release()) {}
inline c10::complex<double> IValue::toComplexDouble() const {
  expect(Tag::ComplexDouble, "ComplexDouble");
  return static_cast<const ivalue::ComplexHolder*>(payload_.u.as_intrusive_ptr)->val;
}

inline IValue::IValue(const c10::SymInt& i) : tag_(Tag::Int) {
  if (C10_UNLIKELY(i.is_symbolic())) {
    tag_ = Tag::SymInt;
    payload_.u.as_intrusive_ptr = i.toSymNode().release();
  } else {
    payload_.u.as_int = i.as_int_unchecked();
  }
}
inline c10::SymInt IValue::toSymInt() const {
  if (C10_LIKELY(isInt())) {
    return c10::SymInt(payload_.u.as_int);
  }
  expect(Tag::SymInt, "SymInt or int");
  return c10::SymInt(share_pointer<c10::SymNodeImpl>());
}

// --- lists
// -------------------------------------------------------------------------------------------------------------

inline IValue::IValue(c10::List<IValue> v) : IValue(Tag::GenericList, v.impl_.release()) {}
template <class T>
IValue::IValue(c10::List<T> v) : IValue(impl::toList<T>(std::move(v))) {}
inline c10::List<IValue> IValue::toList() && {
  expect(Tag::GenericList, "GenericList");
  return c10::List<IValue>(move_pointer<detail::ListImpl>());
}
inline c10::List<IValue> IValue::toList() const& {
  expect(Tag::GenericList, "GenericList");
  return c10::List<IValue>(share_pointer<detail::ListImpl>());
}
inline c10::ArrayRef<IValue> IValue::toListRef() const {
  expect(Tag::GenericList, "GenericList");
  return static_cast<const detail::ListImpl*>(payload_.u.as_intrusive_ptr)->list;
}
inline bool IValue::isListOf(TypeKind element) const {
  return tag_ == Tag::GenericList &&
      static_cast<const detail::ListImpl*>(payload_.u.as_intrusive_ptr)->elementType->kind() == element;
}

namespace detail {
template <class Range>
struct range_value {
  using type = std::decay_t<decltype(*std::begin(std::declval<const Range&>()))>;
};
template <class T, class Range>
List<T> list_of(Range&& values) {
  List<T> list;
  list.reserve(values.size());
  for (auto&& value : values) {
    list.push_back(static_cast<T>(value));
  }
  return list;
}
} // namespace detail

template <class T>
IValue::IValue(at::ArrayRef<T> v) : IValue(c10::List<T>(v)) {}
template <>
TORCH_API IValue::IValue(at::ArrayRef<c10::SymInt> v);
template <class T>
IValue::IValue(const std::vector<T>& v) : IValue(detail::list_of<T>(v)) {}
template <class T>
IValue::IValue(std::vector<T>&& v) : IValue(detail::list_of<T>(std::move(v))) {}
template <class T, size_t N>
IValue::IValue(std::array<T, N> v) : IValue(detail::list_of<T>(std::move(v))) {}
template <class T>
IValue::IValue(const OptionalArrayRef<T>& v) : IValue() {
  if (v.has_value()) {
    *this = IValue(*v);
  }
}
template <class T>
IValue::IValue(const IListRef<T>& v) : IValue() {
  if (v.isBoxed()) {
    *this = IValue(v.toBoxed());
  } else if constexpr (std::is_same_v<T, at::Tensor>) {
    *this = IValue(v.toUnboxed());
  } else {
    List<std::optional<at::Tensor>> list;
    list.reserve(v.size());
    for (const auto& tensor : v) {
      list.push_back(tensor.has_value() ? std::optional<at::Tensor>(*tensor) : std::nullopt);
    }
    *this = IValue(std::move(list));
  }
}

// --- tuples, dicts, optionals
// ------------------------------------------------------------------------------------------

template <class... Args>
IValue::IValue(std::tuple<Args...> t)
    : IValue(
          std::apply([](auto&&... each) { return ivalue::Tuple::create(IValue(std::move(each))...); }, std::move(t))) {}

inline IValue::IValue(c10::Dict<IValue, IValue> v) : IValue(Tag::GenericDict, v.impl_.release()) {}
template <class K, class V>
IValue::IValue(c10::Dict<K, V> v) : IValue(impl::toGenericDict(std::move(v))) {}
template <class K, class V>
IValue::IValue(std::unordered_map<K, V> v) : IValue() {
  c10::Dict<K, V> dict;
  for (auto& [key, value] : v) {
    dict.insert(key, std::move(value));
  }
  *this = IValue(std::move(dict));
}
template <class K, class V>
IValue::IValue(std::map<K, V> v) : IValue() {
  c10::Dict<K, V> dict;
  for (auto& [key, value] : v) {
    dict.insert(key, std::move(value));
  }
  *this = IValue(std::move(dict));
}
inline c10::Dict<IValue, IValue> IValue::toGenericDict() && {
  expect(Tag::GenericDict, "GenericDict");
  return c10::Dict<IValue, IValue>(move_pointer<detail::DictImpl>());
}
inline c10::Dict<IValue, IValue> IValue::toGenericDict() const& {
  expect(Tag::GenericDict, "GenericDict");
  return c10::Dict<IValue, IValue>(share_pointer<detail::DictImpl>());
}

template <class T>
IValue::IValue(std::optional<T> v) : IValue() {
  if (v.has_value()) {
    *this = IValue(*std::move(v));
  }
}
template <class T>
std::optional<T> IValue::toOptional() && {
  if (isNone()) {
    return std::nullopt;
  }
  return std::move(*this).template to<T>();
}
template <class T>
std::optional<T> IValue::toOptional() const& {
  if (isNone()) {
    return std::nullopt;
  }
  return this->template to<T>();
}

// --- custom classes
// ------------------------------------------------------------------------------------------------------

template <class T, class>
IValue::IValue(intrusive_ptr<T> custom_class)
    : IValue(from_object(getCustomClassType<intrusive_ptr<T>>(), std::move(custom_class))) {}
template <class T>
intrusive_ptr<T> IValue::toCustomClass() && {
  return static_cast<const IValue&>(*this).template toCustomClass<T>();
}
template <class T>
intrusive_ptr<T> IValue::toCustomClass() const& {
  static_assert(
      std::is_base_of_v<torch::CustomClassHolder, T>,
      "toCustomClass requires a class derived from torch::CustomClassHolder");
  return intrusive_ptr<T>::reclaim(
      static_cast<T*>(custom_class_object(getCustomClassType<intrusive_ptr<T>>()).release()));
}

// --- to<T>
// -----------------------------------------------------------------------------------------------------------------

namespace detail {

#define C10_IVALUE_TO(Type, Method)    \
  template <>                          \
  struct IValueTo<Type> {              \
    static Type get(const IValue& v) { \
      return v.Method();               \
    }                                  \
  };
C10_IVALUE_TO(double, toDouble)
C10_IVALUE_TO(bool, toBool)
C10_IVALUE_TO(int64_t, toInt)
C10_IVALUE_TO(uint64_t, toUInt)
C10_IVALUE_TO(c10::complex<double>, toComplexDouble)
C10_IVALUE_TO(at::Scalar, toScalar)
C10_IVALUE_TO(c10::SymInt, toSymInt)
C10_IVALUE_TO(c10::SymFloat, toSymFloat)
C10_IVALUE_TO(c10::SymBool, toSymBool)
C10_IVALUE_TO(c10::Storage, toStorage)
C10_IVALUE_TO(c10::Device, toDevice)
C10_IVALUE_TO(c10::Stream, toStream)
C10_IVALUE_TO(at::Generator, toGenerator)
C10_IVALUE_TO(c10::ScalarType, toScalarType)
C10_IVALUE_TO(c10::Layout, toLayout)
C10_IVALUE_TO(c10::MemoryFormat, toMemoryFormat)
C10_IVALUE_TO(c10::QScheme, toQScheme)
C10_IVALUE_TO(std::string_view, toStringView)
C10_IVALUE_TO(c10::List<at::Tensor>, toTensorList)
C10_IVALUE_TO(c10::List<std::optional<at::Tensor>>, toOptionalTensorList)
C10_IVALUE_TO(c10::DimVector, toDimVector)
C10_IVALUE_TO(c10::intrusive_ptr<ivalue::Tuple>, toTuple)
C10_IVALUE_TO(c10::intrusive_ptr<ivalue::ConstantString>, toString)
C10_IVALUE_TO(c10::intrusive_ptr<ivalue::Object>, toObject)
C10_IVALUE_TO(c10::intrusive_ptr<ivalue::EnumHolder>, toEnumHolder)
C10_IVALUE_TO(c10::intrusive_ptr<ivalue::Future>, toFuture)
C10_IVALUE_TO(c10::intrusive_ptr<ivalue::Await>, toAwait)
C10_IVALUE_TO(c10::intrusive_ptr<torch::CustomClassHolder>, toCapsule)
#undef C10_IVALUE_TO

template <>
struct IValueTo<at::Tensor> {
  static const at::Tensor& get(const IValue& v) {
    return v.toTensor();
  }
  static at::Tensor get(IValue&& v) {
    return std::move(v).toTensor();
  }
};
template <>
struct IValueTo<std::string> {
  static const std::string& get(const IValue& v) {
    return v.toStringRef();
  }
};
template <>
struct IValueTo<IValue> {
  static IValue get(const IValue& v) {
    return v;
  }
  static IValue get(IValue&& v) {
    return std::move(v);
  }
};
// Narrower numbers; a value that does not fit is an error of the caller that the schema does not let happen.
template <class T>
struct IValueTo<
    T,
    std::enable_if_t<is_plain_integer_v<T> && !std::is_same_v<T, int64_t> && !std::is_same_v<T, uint64_t>>> {
  static T get(const IValue& v) {
    return static_cast<T>(v.toInt());
  }
};
template <>
struct IValueTo<float> {
  static float get(const IValue& v) {
    return static_cast<float>(v.toDouble());
  }
};
template <class T>
struct IValueTo<c10::List<T>> {
  static c10::List<T> get(IValue v) {
    if constexpr (std::is_same_v<T, IValue>) {
      return std::move(v).toList();
    } else {
      return impl::toTypedList<T>(std::move(v).toList());
    }
  }
};
template <class T>
struct IValueTo<std::vector<T>> {
  static std::vector<T> get(const IValue& v) {
    std::vector<T> out;
    const c10::ArrayRef<IValue> values = v.toListRef();
    out.reserve(values.size());
    for (const IValue& value : values) {
      out.push_back(value.to<T>());
    }
    return out;
  }
};
template <class T, size_t N>
struct IValueTo<std::array<T, N>> {
  static std::array<T, N> get(const IValue& v) {
    const c10::ArrayRef<IValue> values = v.toListRef();
    TORCH_CHECK(
        values.size() == N, "Tried to convert a list with ", values.size(), " elements to a fixed-size array of size ",
        N);
    std::array<T, N> out;
    for (size_t i = 0; i < N; ++i) {
      out[i] = values[i].to<T>();
    }
    return out;
  }
};
template <class K, class V>
struct IValueTo<c10::Dict<K, V>> {
  static c10::Dict<K, V> get(IValue v) {
    if constexpr (std::is_same_v<K, IValue>) {
      return std::move(v).toGenericDict();
    } else {
      return impl::toTypedDict<K, V>(std::move(v).toGenericDict());
    }
  }
};
template <class Map>
Map to_map(const IValue& v) {
  Map out;
  for (const auto& entry : v.toGenericDict()) {
    out.emplace(
        entry.key().template to<typename Map::key_type>(), entry.value().template to<typename Map::mapped_type>());
  }
  return out;
}
template <class K, class V>
struct IValueTo<std::unordered_map<K, V>> {
  static std::unordered_map<K, V> get(const IValue& v) {
    return to_map<std::unordered_map<K, V>>(v);
  }
};
template <class K, class V>
struct IValueTo<std::map<K, V>> {
  static std::map<K, V> get(const IValue& v) {
    return to_map<std::map<K, V>>(v);
  }
};
template <class T>
struct IValueTo<std::optional<T>> {
  static std::optional<T> get(const IValue& v) {
    return v.toOptional<T>();
  }
  static std::optional<T> get(IValue&& v) {
    return std::move(v).toOptional<T>();
  }
};
template <class... Ts>
struct IValueTo<std::tuple<Ts...>> {
  static std::tuple<Ts...> get(const IValue& v) {
    const auto& elements = v.toTupleRef().elements();
    TORCH_CHECK(
        elements.size() == sizeof...(Ts), "Tried to convert a tuple with ", elements.size(), " elements to one with ",
        sizeof...(Ts));
    return unpack(elements, std::index_sequence_for<Ts...>());
  }

 private:
  template <size_t... I>
  static std::tuple<Ts...> unpack(const ivalue::TupleElements& elements, std::index_sequence<I...>) {
    (void)elements; // unused when the tuple is empty
    return std::tuple<Ts...>(elements[I].template to<Ts>()...);
  }
};
template <class A, class B>
struct IValueTo<std::pair<A, B>> {
  static std::pair<A, B> get(const IValue& v) {
    auto both = v.to<std::tuple<A, B>>();
    return {std::move(std::get<0>(both)), std::move(std::get<1>(both))};
  }
};
template <class T>
struct IValueTo<c10::intrusive_ptr<T>, std::enable_if_t<is_custom_class_ptr<c10::intrusive_ptr<T>>::value>> {
  static c10::intrusive_ptr<T> get(const IValue& v) {
    return v.toCustomClass<T>();
  }
};

} // namespace detail

} // namespace c10
