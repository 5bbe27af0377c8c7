// Graphs of sources, word by word as libtorch 2.15 prints them: names, numbers and order of values.
#include <catch2/catch.hpp>

#include <torch/jit.h>
#include <torch/script.h>

#include <string>

using namespace torch::jit;

namespace {

std::string text_of(const std::string& source) {
  return toGraphFunction(compile(source)->get_function(c10::QualifiedName("f"))).graph()->toString(false);
}

// Within blocks, places are always printed.
std::string without_places(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    out += line.substr(0, line.find(" # <string>:")) + '\n';
    begin = end + 1;
  }
  return out;
}

} // namespace

TEST_CASE("Graphs have libtorch's text: conditionals that return early", "[jit][ir]") {
  CHECK(
      without_places(text_of(R"(def f(n: int, x: Tensor):
    if n > 3:
        return x + 1
    if bool(x.sum() > 0):
        x = x.neg()
    return x
)")) ==
      R"(graph(%n.1 : int,
      %x.1 : Tensor):
  %42 : NoneType = prim::Constant()
  %3 : int = prim::Constant[value=3]()
  %7 : int = prim::Constant[value=1]()
  %13 : int = prim::Constant[value=0]()
  %4 : bool = aten::gt(%n.1, %3)
  %51 : Tensor = prim::If(%4)
    block0():
      %9 : Tensor = aten::add(%x.1, %7, %7)
      -> (%9)
    block1():
      %43 : Tensor = aten::sum(%x.1, %42)
      %44 : Tensor = aten::gt(%43, %13)
      %46 : bool = aten::Bool(%44)
      %x.23 : Tensor = prim::If(%46)
        block0():
          %x.25 : Tensor = aten::neg(%x.1)
          -> (%x.25)
        block1():
          -> (%x.1)
      -> (%x.23)
  return (%51)
)");
}

TEST_CASE("Graphs have libtorch's text: loops that end early", "[jit][ir]") {
  CHECK(
      without_places(text_of(R"(def f(n: int):
    s = 0
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        if i > 50:
            break
        s = s + i
    return s
)")) ==
      R"(graph(%n.1 : int):
  %s.1 : int = prim::Constant[value=0]()
  %2 : int = prim::Constant[value=9223372036854775807]()
  %9 : int = prim::Constant[value=1]()
  %14 : int = prim::Constant[value=3]()
  %19 : int = prim::Constant[value=50]()
  %50 : bool = prim::Constant[value=0]()
  %49 : bool = prim::Constant[value=1]()
  %52 : int = prim::Uninitialized()
  %51 : bool = prim::Uninitialized()
  %47 : bool = aten::lt(%s.1, %n.1)
  %s : int, %i : int = prim::Loop(%2, %47, %s.1, %s.1)
    block0(%7 : int, %s.11 : int, %i.17 : int):
      %i.5 : int = aten::add(%i.17, %9)
      %15 : int = aten::remainder(%i.5, %14)
      %16 : bool = aten::eq(%15, %s.1)
      %101 : bool, %102 : bool, %104 : int, %103 : int, %98 : bool, %100 : int, %99 : int = prim::If(%16)
        block0():
          %39 : bool = aten::lt(%i.5, %n.1)
          -> (%49, %39, %s.11, %i.5, %51, %52, %52)
        block1():
          %82 : bool = aten::gt(%i.5, %19)
          %111 : bool, %112 : bool, %114 : int, %113 : int, %108 : bool, %110 : int, %109 : int = prim::If(%82)
            block0():
              -> (%49, %50, %s.11, %i.5, %51, %52, %52)
            block1():
              %s.17 : int = aten::add(%s.11, %i.5)
              %106 : bool = aten::lt(%i.5, %n.1)
              -> (%50, %51, %52, %52, %106, %s.17, %i.5)
          -> (%111, %112, %114, %113, %108, %110, %109)
      %75 : bool, %77 : int, %76 : int = prim::If(%101)
        block0():
          -> (%102, %104, %103)
        block1():
          -> (%98, %100, %99)
      -> (%75, %77, %76)
  return (%s)
)");
}

TEST_CASE("Graphs have libtorch's text: tuples, dictionaries and lists", "[jit][ir]") {
  CHECK(
      without_places(text_of(R"(def f(a: int, b: float):
    d = {a: b, a + 1: -b}
    t = (a, b, d[a])
    x, y = t[1], t[2]
    q, r = divmod(a, 3)
    return [x * v for v in d.values()], (q, r)[0], str(a)
)")) ==
      R"(graph(%a.1 : int,
      %b.1 : float):
  %31 : bool = prim::Constant[value=1]()
  %5 : int = prim::Constant[value=1]()
  %23 : int = prim::Constant[value=3]()
  %6 : int = aten::add(%a.1, %5)
  %8 : float = aten::neg(%b.1)
  %d.1 : Dict(int, float) = prim::DictConstruct(%a.1, %b.1, %6, %8)
  %q.1 : int, %r.1 : int = aten::divmod(%a.1, %23)
  %27 : float[] = prim::ListConstruct()
  %29 : float[] = aten::values(%d.1)
  %30 : int = aten::len(%29)
   = prim::Loop(%30, %31)
    block0(%32 : int):
      %v.1 : float = aten::__getitem__(%29, %32)
      %36 : float = aten::mul(%b.1, %v.1)
      %37 : float[] = aten::append(%27, %36)
      -> (%31)
  %45 : str = aten::str(%a.1)
  %46 : (float[], int, str) = prim::TupleConstruct(%27, %q.1, %45)
  return (%46)
)");
}

TEST_CASE("Graphs have libtorch's text: slices and subscripts", "[jit][ir]") {
  CHECK(
      without_places(text_of(R"(def f(s: str, a: List[int], x: Tensor):
    a[0] += 1
    x[0] = 1
    x[1, 2:] += 2
    if s.startswith('a'):
        s = s[1:]
    return s[:2], a[::2], x[:, 0], x.T, x.shape[0]
)")) ==
      R"(graph(%s.1 : str,
      %a.1 : int[],
      %x.1 : Tensor):
  %32 : int = prim::Constant[value=-1]()
  %30 : str = prim::Constant[value="a"]()
  %24 : NoneType = prim::Constant()
  %14 : bool = prim::Constant[value=0]()
  %4 : int = prim::Constant[value=0]()
  %5 : int = prim::Constant[value=1]()
  %22 : int = prim::Constant[value=2]()
  %6 : int = aten::__getitem__(%a.1, %4)
  %7 : int = aten::add(%6, %5)
  %8 : int[] = aten::_set_item(%a.1, %4, %7)
  %11 : Tensor = aten::select(%x.1, %4, %4)
  %12 : int = prim::dtype(%11)
  %13 : Device = prim::device(%11)
  %15 : Tensor = aten::tensor(%5, %12, %13, %14)
  %17 : Tensor = aten::copy_(%11, %15, %14)
  %20 : Tensor = aten::select(%x.1, %4, %5)
  %25 : Tensor = aten::slice(%20, %4, %22, %24, %5)
  %27 : Tensor = aten::add_(%25, %22, %5)
  %33 : bool = aten::startswith(%s.1, %30, %4, %32)
  %s : str = prim::If(%33)
    block0():
      %s.9 : str = aten::slice(%s.1, %5, %24, %5)
      -> (%s.9)
    block1():
      -> (%s.1)
  %47 : str = aten::slice(%s, %24, %22, %5)
  %51 : int[] = aten::slice(%a.1, %24, %24, %22)
  %57 : Tensor = aten::slice(%x.1, %4, %24, %24, %5)
  %59 : Tensor = aten::select(%57, %5, %4)
  %61 : Tensor = aten::numpy_T(%x.1)
  %63 : int[] = aten::size(%x.1)
  %64 : int = aten::__getitem__(%63, %4)
  %65 : (str, int[], Tensor, Tensor, int) = prim::TupleConstruct(%47, %51, %59, %61, %64)
  return (%65)
)");
}

TEST_CASE("Graphs have libtorch's text: optionals and exceptions", "[jit][ir]") {
  CHECK(
      without_places(text_of(R"(def f(x: Optional[int], w: Dict[str, int]):
    y: Optional[List[int]] = [1, 2]
    if x is None:
        return -1
    assert x > 0, 'must be positive'
    z: Optional[int] = None
    for k, v in w.items():
        z = v + x
    return z if z is not None else x
)")) ==
      R"(graph(%x.1 : int?,
      %w.1 : Dict(str, int)):
  %80 : bool = prim::Constant[value=1]()
  %95 : str = prim::Constant[value="AssertionError: must be positive"]()
  %7 : NoneType = prim::Constant()
  %9 : int = prim::Constant[value=-1]()
  %18 : int = prim::Constant[value=0]()
  %8 : bool = aten::__is__(%x.1, %7)
  %94 : int = prim::If(%8)
    block0():
      -> (%9)
    block1():
      %x.7 : int = prim::unchecked_cast(%x.1)
      %71 : bool = aten::gt(%x.7, %18)
       = prim::If(%71)
        block0():
          -> ()
        block1():
           = prim::RaiseException(%95, %7)
          -> ()
      %78 : (str, int)[] = aten::items(%w.1)
      %79 : int = aten::len(%78)
      %z.25 : int? = prim::Loop(%79, %80, %7)
        block0(%82 : int, %z.17 : int?):
          %84 : (str, int) = aten::__getitem__(%78, %82)
          %k.1 : str, %v.3 : int = prim::TupleUnpack(%84)
          %z.29 : int = aten::add(%v.3, %x.7)
          -> (%80, %z.29)
      %89 : bool = aten::__isnot__(%z.25, %7)
      %90 : int = prim::If(%89)
        block0():
          %z.37 : int = prim::unchecked_cast(%z.25)
          -> (%z.37)
        block1():
          -> (%x.7)
      -> (%90)
  return (%94)
)");
}
