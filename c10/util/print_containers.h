#pragma once

#include <map>
#include <ostream>
#include <set>
#include <utility>
#include <vector>

// Printing of standard containers, as libtorch's logging header brings it: elements separated by blanks, at most 100 of them;
// a pair as `(first, second)`. The operators stand in namespace std, where lookup finds them for containers of any type.

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

}  // namespace c10

namespace std {

template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& value) {
  return out << '(' << value.first << ", " << value.second << ')';
}

template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& values) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& values) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& values) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}

}  // namespace std
