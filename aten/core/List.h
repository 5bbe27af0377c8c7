#pragma once

// Declarations only, so that operator headers stay light; the bodies come with <aten/core/ivalue.h>.

#include <aten/core/jit_type_base.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/intrusive_ptr.h>

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <type_traits>
#include <vector>

namespace at {
class Tensor;
}

namespace c10 {

struct IValue;
template <class T>
class List;

namespace detail {

/// What a List points to: its values, boxed, and the type they share.
struct TORCH_API ListImpl final : intrusive_ptr_target {
  using list_type = std::vector<IValue>;

  ListImpl(list_type values, TypePtr element_type);
  ~ListImpl() override;
  /// A new list of the same values (which are not copied themselves).
  intrusive_ptr<ListImpl> copy() const;

  list_type list;
  TypePtr elementType;
};

/// Element by element with IValue's operator==; lists of different element types differ.
TORCH_API bool operator==(const ListImpl& a, const ListImpl& b);

} // namespace detail

namespace impl {

// The type that a read through a const list gives: strings and tensors by reference, all else by value.
template <class T>
struct ListConstReference {
  using type = T;
};
template <>
struct ListConstReference<std::string> {
  using type = const std::string&;
};
template <>
struct ListConstReference<std::optional<std::string>> {
  using type = std::optional<std::reference_wrapper<const std::string>>;
};
template <>
struct ListConstReference<at::Tensor> {
  using type = const at::Tensor&;
};
template <class T>
using list_const_reference_t = typename ListConstReference<T>::type;
// What an element of a mutable list converts to.
template <class T>
using list_conversion_t = std::conditional_t<std::is_reference_v<list_const_reference_t<T>>, const T&, T>;

template <class T>
T list_element_to(const IValue& element);
template <class T>
T list_element_to(IValue&& element);
template <class T>
list_const_reference_t<T> list_element_to_const_ref(const IValue& element);
template <class T>
IValue list_element_from(const T& element);
template <class T>
IValue list_element_from(T&& element);

template <class T>
class ListIterator;

/// Stands for one element of a mutable list: converts to T, assigns from T.
template <class T>
class ListElementReference final {
 public:
  operator list_conversion_t<T>() const;
  ListElementReference& operator=(T&& value) &&;
  ListElementReference& operator=(const T& value) &&;
  /// Assigns the element that the other reference stands for.
  ListElementReference& operator=(ListElementReference&& other) && noexcept;
  const IValue& get() const {
    return *slot_;
  }

  friend void swap(ListElementReference&& a, ListElementReference&& b) noexcept {
    swap_slots(a.slot_, b.slot_);
  }
  ListElementReference(const ListElementReference&) = delete;
  ListElementReference& operator=(const ListElementReference&) = delete;

 private:
  friend class List<T>;
  friend class ListIterator<T>;
  explicit ListElementReference(IValue* slot) : slot_(slot) {}
  // Moving happens only inside, to return a reference; outside it would invite dangling.
  ListElementReference(ListElementReference&& other) noexcept = default;
  static void swap_slots(IValue* a, IValue* b) noexcept;

  IValue* slot_;
};

template <class T>
bool operator==(const ListElementReference<T>& a, const T& b) {
  return static_cast<list_conversion_t<T>>(a) == b;
}
template <class T>
bool operator==(const T& a, const ListElementReference<T>& b) {
  return b == a;
}
template <class T>
bool operator!=(const ListElementReference<T>& a, const T& b) {
  return !(a == b);
}
template <class T>
bool operator!=(const T& a, const ListElementReference<T>& b) {
  return !(b == a);
}
template <class T>
bool operator==(const ListElementReference<T>& a, const ListElementReference<T>& b);
template <class T>
bool operator!=(const ListElementReference<T>& a, const ListElementReference<T>& b) {
  return !(a == b);
}

/// Random access iterator; valid until the list changes its size.
template <class T>
class ListIterator final {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = ListElementReference<T>;

  ListIterator() = default;
  explicit ListIterator(IValue* slot) : slot_(slot) {}

  reference operator*() const {
    return reference(slot_);
  }
  reference operator[](difference_type n) const;
  ListIterator& operator++() {
    return *this += 1;
  }
  ListIterator operator++(int) {
    ListIterator before = *this;
    *this += 1;
    return before;
  }
  ListIterator& operator--() {
    return *this -= 1;
  }
  ListIterator operator--(int) {
    ListIterator before = *this;
    *this -= 1;
    return before;
  }
  ListIterator& operator+=(difference_type n);
  ListIterator& operator-=(difference_type n) {
    return *this += -n;
  }
  friend ListIterator operator+(ListIterator it, difference_type n) {
    return it += n;
  }
  friend ListIterator operator+(difference_type n, ListIterator it) {
    return it += n;
  }
  friend ListIterator operator-(ListIterator it, difference_type n) {
    return it -= n;
  }
  friend difference_type operator-(const ListIterator& a, const ListIterator& b) {
    return a.distance_from(b);
  }
  friend bool operator==(const ListIterator& a, const ListIterator& b) {
    return a.slot_ == b.slot_;
  }
  friend bool operator!=(const ListIterator& a, const ListIterator& b) {
    return a.slot_ != b.slot_;
  }
  friend bool operator<(const ListIterator& a, const ListIterator& b) {
    return a.slot_ < b.slot_;
  }
  friend bool operator<=(const ListIterator& a, const ListIterator& b) {
    return a.slot_ <= b.slot_;
  }
  friend bool operator>(const ListIterator& a, const ListIterator& b) {
    return a.slot_ > b.slot_;
  }
  friend bool operator>=(const ListIterator& a, const ListIterator& b) {
    return a.slot_ >= b.slot_;
  }

 private:
  friend class List<T>;
  difference_type distance_from(const ListIterator& other) const;
  IValue* slot_ = nullptr;
};

template <class T>
List<T> toTypedList(List<IValue> list);
template <class T>
List<IValue> toList(List<T>&& list);
template <class T>
List<IValue> toList(const List<T>& list);
template <class T>
const IValue* ptr_to_first_element(const List<T>& list);

} // namespace impl

/// A list of values of one type with pointer semantics: copies share the elements, copy() does not.
template <class T>
class List final {
 public:
  using value_type = T;
  using size_type = size_t;
  using iterator = impl::ListIterator<T>;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using internal_reference_type = impl::ListElementReference<T>;
  using internal_const_reference_type = impl::list_const_reference_t<T>;

  List();
  List(std::initializer_list<T> values);
  explicit List(ArrayRef<T> values);
  /// For List<IValue> only: an empty list whose elements will be of the given type.
  explicit List(TypePtr elementType);
  /// Also what a move does: a list that was moved from may still be used.
  List(const List&) = default;
  List& operator=(const List&) = default;

  List copy() const {
    return List(impl_->copy());
  }

  /// Element access; throws std::out_of_range.
  internal_const_reference_type get(size_type pos) const;
  internal_const_reference_type operator[](size_type pos) const;
  internal_reference_type operator[](size_type pos);
  /// Moves the element out; the list keeps an unusable value in its place.
  T extract(size_type pos) const;
  void set(size_type pos, const T& value) const;
  void set(size_type pos, T&& value) const;

  iterator begin() const;
  iterator end() const;
  bool empty() const;
  size_type size() const;
  void reserve(size_type capacity) const;
  void clear() const;
  iterator insert(iterator pos, const T& value) const;
  iterator insert(iterator pos, T&& value) const;
  template <class... Args>
  iterator emplace(iterator pos, Args&&... args) const {
    return insert(pos, T(std::forward<Args>(args)...));
  }
  void push_back(const T& value) const;
  void push_back(T&& value) const;
  void append(List<T> other) const;
  template <class... Args>
  void emplace_back(Args&&... args) const {
    push_back(T(std::forward<Args>(args)...));
  }
  iterator erase(iterator pos) const;
  iterator erase(iterator first, iterator last) const;
  void pop_back() const;
  void resize(size_type count) const;
  void resize(size_type count, const T& value) const;

  template <class U>
  friend bool operator==(const List<U>& a, const List<U>& b);
  template <class U>
  friend bool operator!=(const List<U>& a, const List<U>& b);

  /// Whether both are the same list, not just equal.
  bool is(const List<T>& other) const {
    return impl_ == other.impl_;
  }
  std::vector<T> vec() const;
  size_t use_count() const {
    return impl_.use_count();
  }
  TypePtr elementType() const;
  /// For boxed code that learns the type later; the elements are not checked.
  void unsafeSetElementType(TypePtr type);

 private:
  explicit List(intrusive_ptr<detail::ListImpl> impl) : impl_(std::move(impl)) {}
  IValue& checked_slot(size_type pos) const;

  friend struct IValue;
  template <class U>
  friend class List;
  template <class U>
  friend List<U> impl::toTypedList(List<IValue>);
  template <class U>
  friend List<IValue> impl::toList(List<U>&&);
  template <class U>
  friend List<IValue> impl::toList(const List<U>&);
  template <class U>
  friend const IValue* impl::ptr_to_first_element(const List<U>&);

  intrusive_ptr<detail::ListImpl> impl_;
};

namespace impl {
using GenericList = List<IValue>;
}

} // namespace c10

namespace torch {
template <class T>
using List = c10::List<T>;
}
