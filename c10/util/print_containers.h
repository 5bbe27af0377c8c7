#pragma once

#include <map>
#include <ostream>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

// Printing of standard containers, as libtorch's logging header brings it: elements separated by blanks, at most 100 of
// them; a pair as `(first, second)`. The operators stand in namespace std, where lookup finds them for containers of
// any type, and exist only for elements that print: a program that asks whether a container prints gets the true
// answer.

namespace c10 {

template <class Iterator>
void PrintSequence(std::ostream& out, Iterator begin, Iterator end) {
  constexpr int kMost = 100;
  for (int count = 0; begin != end; ++begin, ++count) {
    if (count == kMost) {
      out << " ...";
      return;
    }
    out << (count == 0 ? "" : " ") << *begin;
  }
}

} // namespace c10

namespace std {

template <class First, class Second>
auto operator<<(ostream& out, const pair<First, Second>& value)
    -> decltype(void(out << value.first), void(out << value.second), out);
template <class Element, class... Rest>
auto operator<<(ostream& out, const vector<Element, Rest...>& values)
    -> decltype(void(out << std::declval<const Element&>()), out);
template <class Element, class... Rest>
auto operator<<(ostream& out, const set<Element, Rest...>& values)
    -> decltype(void(out << std::declval<const Element&>()), out);
template <class Key, class Value, class... Rest>
auto operator<<(ostream& out, const map<Key, Value, Rest...>& values)
    -> decltype(void(out << std::declval<const pair<const Key, Value>&>()), out);

template <class First, class Second>
auto operator<<(ostream& out, const pair<First, Second>& value)
    -> decltype(void(out << value.first), void(out << value.second), out) {
  return out << '(' << value.first << ", " << value.second << ')';
}
template <class Element, class... Rest>
auto operator<<(ostream& out, const vector<Element, Rest...>& values)
    -> decltype(void(out << std::declval<const Element&>()), out) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class Element, class... Rest>
auto operator<<(ostream& out, const set<Element, Rest...>& values)
    -> decltype(void(out << std::declval<const Element&>()), out) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class Key, class Value, class... Rest>
auto operator<<(ostream& out, const map<Key, Value, Rest...>& values)
    -> decltype(void(out << std::declval<const pair<const Key, Value>&>()), out) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}

} // namespace std
