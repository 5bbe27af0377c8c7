// Operators of lists.
#include <csrc/jit/runtime/ops/rows.h>

#include <aten/core/class_type.h>
#include <aten/core/function.h>
#include <aten/core/jit_type.h>

#include <algorithm>
#include <limits>
#include <sstream>

namespace torch::jit::ops {

SliceRange slice_range(std::optional<int64_t> start, std::optional<int64_t> end, int64_t step, size_t size) {
  TORCH_CHECK_VALUE(step != 0, "List slice should have non-zero step");
  const int64_t length = static_cast<int64_t>(size);
  const int64_t lowest = step > 0 ? 0 : -1;
  const int64_t highest = step > 0 ? length : length - 1;
  const auto clamped = [&](int64_t index) {
    return std::min(std::max(index < 0 ? index + length : index, lowest), highest);
  };
  // libtorch writes an end that was left out as the greatest integer, for negative steps too.
  constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();
  const int64_t first = start && *start != kOpen ? clamped(*start) : (step > 0 ? 0 : highest);
  const int64_t stop = end && *end != kOpen ? clamped(*end) : (step > 0 ? length : lowest);
  if (step > 0) {
    return {first, step, stop > first ? (stop - first - 1) / step + 1 : 0};
  }
  const int64_t down = step == std::numeric_limits<int64_t>::min() ? std::numeric_limits<int64_t>::max() : -step;
  return {first, -down, first > stop ? (first - stop - 1) / down + 1 : 0};
}

namespace {

bool objects_less(const IValue& a, const IValue& b) {
  Function* const less = a.toObjectRef().type()->findMethod("__lt__");
  TORCH_CHECK(
      less,
      "Only list of Tensors, ints, floats, bools, strs, a User Defined Class that defines the __lt__ compare "
      "method or Tuples of aforementioned types can be sorted, got list of ",
      a.toObjectRef().type()->repr_str());
  return (*less)({a, b}).toBool();
}

bool tensors_less(const Tensor& a, const Tensor& b) {
  return a.lt(b).is_nonzero();
}

template <class Values>
bool sequences_less(const Values& a, const Values& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (less_than(a[i], b[i])) {
      return true;
    }
    if (less_than(b[i], a[i])) {
      return false;
    }
  }
  return a.size() < b.size();
}

} // namespace

bool less_than(const IValue& a, const IValue& b) {
  if (a.isInt()) {
    return a.toInt() < b.toInt();
  }
  if (a.isDouble()) {
    return a.toDouble() < b.toDouble();
  }
  if (a.isBool()) {
    return !a.toBool() && b.toBool();
  }
  if (a.isString()) {
    return a.toStringRef() < b.toStringRef();
  }
  if (a.isTensor()) {
    return tensors_less(a.toTensor(), b.toTensor());
  }
  if (a.isTuple()) {
    return sequences_less(a.toTupleRef().elements(), b.toTupleRef().elements());
  }
  if (a.isObject()) {
    return objects_less(a, b);
  }
  TORCH_CHECK(
      false,
      "Only list of Tensors, ints, floats, bools, strs, a User Defined Class that defines the __lt__ compare "
      "method or Tuples of aforementioned types can be sorted, got list of ",
      a.type()->repr_str());
}

namespace {

// Elements are tested by value; tensors elementwise, so that only a single true one is equal.
bool same_element(const IValue& a, const IValue& b) {
  return a.isTensor() ? a.toTensor().eq(b.toTensor()).is_nonzero() : a == b;
}

AnyList new_list_like(const AnyList& list) {
  return AnyList(list.elementType());
}

// ---- access

IValue element(AnyList list, int64_t index) {
  return list.get(list_position(index, list.size()));
}
AnyList set_element(AnyList list, int64_t index, IValue& value) {
  list.set(list_position(index, list.size()), std::move(value));
  return list;
}
AnyList append(AnyList list, IValue& value) {
  list.push_back(std::move(value));
  return list;
}
void insert(AnyList list, int64_t index, IValue& value) {
  const int64_t size = static_cast<int64_t>(list.size());
  const int64_t position = std::min(size, std::max<int64_t>(0, index < 0 ? index + size : index));
  list.insert(list.begin() + position, std::move(value));
}
IValue pop(AnyList list, int64_t index) {
  TORCH_CHECK_INDEX(!list.empty(), "pop from empty list");
  const size_t position = list_position(index, list.size());
  IValue value = list.extract(position);
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(position));
  return value;
}
void erase(AnyList list, int64_t index) {
  TORCH_CHECK_INDEX(!list.empty(), "pop index out of range");
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(list_position(index, list.size())));
}

// ---- search

size_t first_place(const AnyList& list, const IValue& value) {
  size_t i = 0;
  while (i < list.size() && !same_element(list.get(i), value)) {
    ++i;
  }
  return i;
}
bool contains(AnyList list, IValue& value) {
  return first_place(list, value) < list.size();
}
int64_t index(AnyList list, IValue& value) {
  const size_t place = first_place(list, value);
  if (place == list.size()) {
    std::ostringstream printed;
    if (value.isDouble()) {
      printed << value.toDouble();
    } else if (value.isBool()) {
      printed << value.toBool();
    } else {
      printed << value;
    }
    TORCH_CHECK_VALUE(false, "'", printed.str(), "' is not in list");
  }
  return static_cast<int64_t>(place);
}
int64_t count(AnyList list, IValue& value) {
  int64_t found = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    found += same_element(list.get(i), value) ? 1 : 0;
  }
  return found;
}
void remove(AnyList list, IValue& value) {
  const size_t place = first_place(list, value);
  TORCH_CHECK_VALUE(place < list.size(), "list.remove(x): x not in list");
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place));
}

// ---- whole lists

AnyList extended(AnyList list, AnyList other) {
  const size_t count = other.size(); // the lists may be one
  list.reserve(list.size() + count);
  for (size_t i = 0; i < count; ++i) {
    list.push_back(other.get(i));
  }
  return list;
}
AnyList sum(AnyList a, AnyList b) {
  return extended(a.copy(), std::move(b));
}
AnyList repeated(AnyList list, int64_t times) {
  AnyList out = new_list_like(list);
  const size_t size = list.size();
  if (times == 0 || size == 0) {
    return out;
  }
  TORCH_CHECK(times > 0, "vector::reserve: a list of ", size, " elements ", times, " times");
  TORCH_CHECK(
      times <= (int64_t{1} << 40) / static_cast<int64_t>(size), "a list repeated ", times, " times is too long");
  out.reserve(size * static_cast<size_t>(times));
  for (int64_t time = 0; time < times; ++time) {
    extended(out, list);
  }
  return out;
}
AnyList repeat_in_place(AnyList list, int64_t times) {
  if (times <= 0) {
    list.clear();
    return list;
  }
  const AnyList once = list.copy();
  TORCH_CHECK(
      once.empty() || times <= (int64_t{1} << 40) / static_cast<int64_t>(once.size()), "a list repeated ", times,
      " times is too long");
  for (int64_t time = 1; time < times && !once.empty(); ++time) {
    extended(list, once);
  }
  return list;
}
AnyList slice(AnyList list, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  const SliceRange range = slice_range(start, end, step, list.size());
  AnyList out = new_list_like(list);
  out.reserve(static_cast<size_t>(range.count));
  for (int64_t i = 0; i < range.count; ++i) {
    out.push_back(list.get(static_cast<size_t>(range.start + i * range.step)));
  }
  return out;
}
void reverse(AnyList list) {
  std::reverse(list.begin(), list.end());
}

// A stable merge sort that stays in bounds whatever the comparison answers: a program's own __lt__ need be no order.
std::vector<IValue> sorted_values(const AnyList& list, bool reverse) {
  std::vector<IValue> values = IValue(list).toListRef().vec();
  std::vector<IValue> merged(values.size());
  const auto before = [reverse](const IValue& a, const IValue& b) {
    return reverse ? less_than(b, a) : less_than(a, b);
  };
  const size_t size = values.size();
  for (size_t width = 1; width < size; width *= 2) {
    for (size_t low = 0; low < size; low += 2 * width) {
      const size_t middle = std::min(low + width, size);
      const size_t high = std::min(low + 2 * width, size);
      size_t left = low;
      size_t right = middle;
      for (size_t place = low; place < high; ++place) {
        const bool take_right = left == middle || (right < high && before(values[right], values[left]));
        merged[place] = std::move(values[take_right ? right++ : left++]);
      }
    }
    values.swap(merged);
  }
  return values;
}
void sort(AnyList list, bool reverse) {
  std::vector<IValue> values = sorted_values(list, reverse);
  list.clear(); // a comparison of the program's own may have changed it
  for (IValue& value : values) {
    list.push_back(std::move(value));
  }
}
AnyList sorted(AnyList list) {
  AnyList out = new_list_like(list);
  out.reserve(list.size());
  for (IValue& value : sorted_values(list, false)) {
    out.push_back(std::move(value));
  }
  return out;
}

bool same_lists(AnyList a, AnyList b) {
  if (a.size() != b.size()) {
    return false;
  }
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same_element(a.get(i), b.get(i))) {
      return false;
    }
  }
  return true;
}
bool different_lists(AnyList a, AnyList b) {
  return !same_lists(std::move(a), std::move(b));
}
c10::List<int64_t> range_list(int64_t n) {
  TORCH_CHECK(n <= (int64_t{1} << 40), "a range of ", n, " is too long for a list");
  c10::List<int64_t> out;
  out.reserve(static_cast<size_t>(std::max<int64_t>(n, 0)));
  for (int64_t i = 0; i < n; ++i) {
    out.push_back(i);
  }
  return out;
}

constexpr OperatorRow kRows[] = {
    {"aten::__getitem__.t(t[](a) list, int idx) -> t(*)", call<element>},
    {"aten::select.t(t[](a) list, int idx) -> t(*)", call<element>},
    {"aten::_set_item.t(t[](a!) l, int idx, t(b -> *) el) -> t[](a!)", call<set_element>},
    {"aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)", call<append>},
    {"aten::insert.t(t[](a!) self, int idx, t(b -> *) el) -> ()", call<insert>},
    {"aten::pop.t(t[](a!) self, int idx=-1) -> t(*)", call<pop>},
    {"aten::Delete.t(t[](a!) self, int idx) -> ()", call<erase>},
    {"aten::clear.t(t[](a!) self) -> ()", call<[](AnyList self) { self.clear(); }>},
    {"aten::copy.t(t[](a) self) -> t[]", call<[](AnyList self) { return self.copy(); }>},
    {"aten::list.t(t[] l) -> t[]", call<[](AnyList self) { return self.copy(); }>},
    {"aten::reverse.t(t[](a!) self) -> ()", call<reverse>},
    {"aten::extend.t(t[](a!) self, t[] other) -> ()",
     call<[](AnyList self, AnyList other) { extended(std::move(self), std::move(other)); }>},
    {"aten::add.t(t[] a, t[] b) -> t[]", call<sum>},
    {"aten::add_.t(t[](a!) self, t[] b) -> t[]", call<extended>},
    {"aten::mul.left_t(t[] l, int n) -> t[]", call<repeated>},
    {"aten::mul.right_(int n, t[] l) -> t[]",
     call<[](int64_t n, AnyList list) { return repeated(std::move(list), n); }>},
    {"aten::mul_.t(t[](a!) l, int n) -> t[](a!)", call<repeat_in_place>},
    {"aten::slice.t(t[] l, int? start=None, int? end=None, int step=1) -> t[]", call<slice>},
    {"aten::len.t(t[] a) -> int", call<[](AnyList a) { return static_cast<int64_t>(a.size()); }>},
    {"aten::len.any(Any[] a) -> int", call<[](AnyList a) { return static_cast<int64_t>(a.size()); }>},
    {"aten::__contains__.int_list(int[] l, int item) -> bool", call<contains>},
    {"aten::__contains__.float_list(float[] l, float item) -> bool", call<contains>},
    {"aten::__contains__.str_list(str[] l, str item) -> bool", call<contains>},
    {"prim::rangelist(int n) -> int[]", call<range_list>},
    {"aten::index.list_int(int[] self, int el) -> int", call<index>},
    {"aten::count.int(int[] self, int el) -> int", call<count>},
    {"aten::remove.int(int[](a!) self, int el) -> ()", call<remove>},
    {"aten::sort.int(int[](a!) self, bool reverse=False) -> ()", call<sort>},
    {"aten::sorted.int(int[](a) input) -> int[]", call<sorted>},
    {"aten::eq.int_list(int[] a, int[] b) -> bool", call<same_lists>},
    {"aten::ne.int_list(int[] a, int[] b) -> bool", call<different_lists>},
    {"aten::index.list_float(float[] self, float el) -> int", call<index>},
    {"aten::count.float(float[] self, float el) -> int", call<count>},
    {"aten::remove.float(float[](a!) self, float el) -> ()", call<remove>},
    {"aten::sort.float(float[](a!) self, bool reverse=False) -> ()", call<sort>},
    {"aten::sorted.float(float[](a) input) -> float[]", call<sorted>},
    {"aten::eq.float_list(float[] a, float[] b) -> bool", call<same_lists>},
    {"aten::ne.float_list(float[] a, float[] b) -> bool", call<different_lists>},
    {"aten::index.list_bool(bool[] self, bool el) -> int", call<index>},
    {"aten::count.bool(bool[] self, bool el) -> int", call<count>},
    {"aten::remove.bool(bool[](a!) self, bool el) -> ()", call<remove>},
    {"aten::sort.bool(bool[](a!) self, bool reverse=False) -> ()", call<sort>},
    {"aten::sorted.bool(bool[](a) input) -> bool[]", call<sorted>},
    {"aten::eq.bool_list(bool[] a, bool[] b) -> bool", call<same_lists>},
    {"aten::ne.bool_list(bool[] a, bool[] b) -> bool", call<different_lists>},
    {"aten::index.list_str(str[] self, str el) -> int", call<index>},
    {"aten::count.str(str[] self, str el) -> int", call<count>},
    {"aten::remove.str(str[](a!) self, str el) -> ()", call<remove>},
    {"aten::sort.str(str[](a!) self, bool reverse=False) -> ()", call<sort>},
    {"aten::sorted.str(str[](a) input) -> str[]", call<sorted>},
    {"aten::eq.str_list(str[] a, str[] b) -> bool", call<same_lists>},
    {"aten::ne.str_list(str[] a, str[] b) -> bool", call<different_lists>},
    {"aten::index.list_Tensor(Tensor[] self, Tensor el) -> int", call<index>},
    {"aten::count.Tensor(Tensor[] self, Tensor el) -> int", call<count>},
    {"aten::remove.Tensor(Tensor[](a!) self, Tensor el) -> ()", call<remove>},
    {"aten::sort.Tensor(Tensor[](a!) self, bool reverse=False) -> ()", call<sort>},
    {"aten::sorted.Tensor(Tensor[](a) input) -> Tensor[]", call<sorted>},
    {"aten::eq.Tensor_list(Tensor[] a, Tensor[] b) -> bool", call<same_lists>},
    {"aten::ne.Tensor_list(Tensor[] a, Tensor[] b) -> bool", call<different_lists>},
    {"aten::sort.any(t[](a!) self, bool reverse=False) -> ()", call<sort>},
    {"aten::sorted.any(t[](a) self) -> t[]", call<sorted>},
};

} // namespace

at::ArrayRef<OperatorRow> list_rows() {
  return kRows;
}

} // namespace torch::jit::ops
