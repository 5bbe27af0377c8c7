// Tensors whose dimensions have names.
#include <ATen/ATen.h>
#include <ATen/NamedTensorUtils.h>
#include <torch/library.h>

#include <catch2/catch.hpp>

#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

using at::Dimname;
using at::Tensor;

namespace {

Dimname n(const std::string& name) {
  return Dimname::fromSymbol(at::Symbol::dimname(name));
}

/// From "N,*,C".
std::vector<Dimname> ns(const std::string& text) {
  std::vector<Dimname> names;
  std::istringstream in(text);
  for (std::string name; std::getline(in, name, ',');) {
    names.push_back(n(name));
  }
  return names;
}

Tensor z(at::IntArrayRef sizes) {
  return at::zeros(sizes);
}
Tensor z(at::IntArrayRef sizes, const std::string& names) {
  return at::zeros(sizes, ns(names));
}

std::string shown(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor.names();
  return out.str();
}
std::string shown(bool value) {
  return value ? "true" : "false";
}
std::string shown(int64_t value) {
  return std::to_string(value);
}
std::string shown(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) {
    text += (text.empty() ? "" : " ") + shown(tensor);
  }
  return text;
}
std::string shown(const std::tuple<Tensor, Tensor>& tensors) {
  return shown(std::get<0>(tensors)) + " " + shown(std::get<1>(tensors));
}

/// What `call` gives, or the first line of its error.
template <class Call>
std::string outcome(Call&& call) {
  try {
    return shown(call());
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    return "! " + what.substr(0, what.find('\n'));
  }
}

struct Fact {
  const char* call;
  std::string got;
  std::string expected;
};

std::vector<Fact> facts() {
  const Tensor x = z({2, 3}, "N,C");
  const Tensor y = z({2, 3, 4}, "N,C,H");
  const Tensor v = z({3}, "C");
  const Tensor u = z({2, 3});
  const Tensor b = u.to(at::kBool);
  const Tensor i0 = at::zeros({1}, at::kLong);
  Tensor out = u.clone();
  Tensor out1 = z({0});
  Tensor other_names = x.rename(ns("A,B"));
  std::vector<Fact> result;
#define FACT(call, expected) result.push_back({#call, outcome([&] { return call; }), expected});
#include "test/aten/named_tensor_facts.inc"
#undef FACT
  return result;
}

// Where results are others on purpose: norms have a rule here, and stack is made of operators that refuse.
const std::map<std::string, std::string> kOthers = {
    {"(x.norm())", "[]"},
    {"(at::stack({x, x}))", "! unflatten: input is a named tensor but no names were given for unflattened sizes"},
};

} // namespace

TEST_CASE("operators name their results as recorded", "[names]") {
  for (const Fact& fact : facts()) {
    const auto other = kOthers.find(fact.call);
    CAPTURE(fact.call);
    CHECK(fact.got == (other == kOthers.end() ? fact.expected : other->second));
  }
}

TEST_CASE("names match, unify and print", "[names]") {
  CHECK(n("N") == n("N"));
  CHECK(n("N") != n("C"));
  CHECK(n("*").isWildcard());
  CHECK(n("*").type() == at::NameType::WILDCARD);
  CHECK(n("N").isBasic());
  CHECK(n("N").matches(Dimname::wildcard()));
  CHECK_FALSE(n("N").matches(n("C")));
  CHECK(Dimname::wildcard().unify(n("N")) == n("N"));
  CHECK(n("N").unify(Dimname::wildcard()) == n("N"));
  CHECK_FALSE(n("N").unify(n("C")).has_value());
  CHECK(Dimname::isValidName("_a1"));
  CHECK_FALSE(Dimname::isValidName(""));
  CHECK_FALSE(Dimname::isValidName("1a"));
  CHECK_FALSE(Dimname::isValidName("a b"));
  std::ostringstream text;
  text << n("N") << ' ' << Dimname::wildcard();
  CHECK(text.str() == "'N' None");
  CHECK_THROWS_AS(Dimname::fromSymbol(at::Symbol::attr("N")), c10::Error);
}

TEST_CASE("a tensor without names has wildcards and no key", "[names]") {
  const Tensor x = z({2, 3});
  CHECK_FALSE(x.has_names());
  CHECK_FALSE(x.opt_names().has_value());
  CHECK(x.names() == at::DimnameList(ns("*,*")));
  CHECK_FALSE(x.key_set().has(c10::DispatchKey::Named));
  Tensor named = x.rename(ns("N,C"));
  CHECK(named.key_set().has(c10::DispatchKey::Named));
  CHECK_FALSE(x.has_names());
  CHECK(named.is_alias_of(x));
  named.rename_(std::nullopt);
  CHECK_FALSE(named.has_names());
  CHECK_FALSE(named.key_set().has(c10::DispatchKey::Named));
  named.rename_(ns("*,*"));
  CHECK_FALSE(named.key_set().has(c10::DispatchKey::Named));
}

TEST_CASE("names are disregarded under a guard", "[names]") {
  const Tensor x = z({2, 3}, "N,C");
  Tensor viewed;
  {
    at::NoNamesGuard guard;
    CHECK_FALSE(at::NamesMode::is_enabled());
    CHECK_FALSE(x.has_names());
    CHECK_FALSE((x + x).has_names());
    viewed = x.view({6});
    guard.reset();
    CHECK(x.has_names());
  }
  CHECK(at::NamesMode::is_enabled());
  CHECK_FALSE(viewed.key_set().has(c10::DispatchKey::Named));
  CHECK(viewed.unsqueeze(0).dim() == 2);
}

TEST_CASE("gradients pass through named tensors and have no names", "[names][autograd]") {
  Tensor x = at::arange(6, at::kDouble).view({2, 3}).rename(ns("N,C")).detach().requires_grad_();
  Tensor w = at::ones({3, 4}, at::kDouble).rename(ns("C,K")).detach().requires_grad_();
  const Tensor y = (x.matmul(w).tanh() * 2).sum(ns("K"));
  CHECK(shown(y) == "['N']");
  y.sum().backward();
  REQUIRE(x.grad().defined());
  CHECK_FALSE(x.grad().has_names());

  Tensor plain = x.detach().rename(std::nullopt).requires_grad_();
  Tensor plain_w = w.detach().rename(std::nullopt).requires_grad_();
  (plain.matmul(plain_w).tanh() * 2).sum(1).sum().backward();
  CHECK(at::equal(x.grad(), plain.grad()));
  CHECK(at::equal(w.grad(), plain_w.grad()));
}

TEST_CASE("values of named tensors are those of tensors without names", "[names]") {
  const Tensor u = at::arange(24, at::kFloat).view({2, 3, 4});
  const Tensor y = u.rename(ns("N,C,H"));
  const auto same = [](const Tensor& named, const Tensor& plain) {
    CHECK(at::equal(named.rename(std::nullopt), plain));
  };
  same(y.sum(ns("C")), u.sum(1));
  same(y.transpose(n("N"), n("H")), u.transpose(0, 2));
  same(y.align_to(ns("H,N,C")), u.permute({2, 0, 1}));
  same(y.align_to(ns("H,Z,N,C")), u.permute({2, 0, 1}).unsqueeze(1));
  same(y.flatten(ns("C,H"), n("F")), u.flatten(1, 2));
  same(y.unflatten(n("H"), {2, 2}, ns("a,b")), u.unflatten(2, {2, 2}));
  same(y.softmax(n("C")), u.softmax(1));
  same(y.index_fill(n("C"), at::zeros({1}, at::kLong), 5), u.index_fill(1, at::zeros({1}, at::kLong), 5));
  const auto both = at::align_tensors({u.select(0, 0).rename(ns("C,H")), y});
  CHECK(shown(both[0]) == "['N', 'C', 'H']");
  same(both[0], u.narrow(0, 0, 1));
}

TEST_CASE("an out tensor with names must have those of the result", "[names]") {
  const Tensor x = z({2, 3}, "N,C");
  Tensor out = z({3}, "C");
  at::sum_out(out, x, ns("N"));
  CHECK(shown(out) == "['C']");
  Tensor wrong = z({3}, "N");
  CHECK_THROWS_AS(at::sum_out(wrong, x, ns("N")), c10::Error);
  CHECK_THROWS_WITH(
      at::sum_out(wrong, x, {0}), Catch::StartsWith("Name mismatch: specified out tensor with names ['N']"));
  Tensor fresh = z({0});
  at::sum_out(fresh, x, ns("N"));
  CHECK(shown(fresh) == "['C']");
}

TEST_CASE("operators without a rule refuse named tensors in words", "[names]") {
  CHECK_THROWS_WITH(
      z({2, 3}, "N,C").unsqueeze(0),
      Catch::StartsWith(
          "aten::unsqueeze is not yet supported with named tensors. Please drop names via "
          "`tensor = tensor.rename(None)`, call the op with an unnamed tensor, and set names on the result of "
          "the operation."));
}

TEST_CASE("an operator of a program's own refuses names unless it lets them through", "[names]") {
  auto lib = torch::Library(torch::Library::DEF, "named_ops", std::nullopt, __FILE__, __LINE__);
  lib.def("twice(Tensor x) -> Tensor", [](const Tensor& x) { return x + x; });
  lib.def("asked(Tensor x) -> Tensor");
  auto cpu = torch::Library(torch::Library::IMPL, "named_ops", c10::DispatchKey::CPU, __FILE__, __LINE__);
  cpu.impl("asked", [](const Tensor& x) { return x.clone(); });
  const auto call = [](const char* name, const Tensor& x) {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Tensor(const Tensor&)>().call(x);
  };
  const Tensor x = z({2, 3}, "N,C");
  CHECK(shown(call("named_ops::twice", x)) == "['N', 'C']");
  CHECK_THROWS_WITH(call("named_ops::asked", x), Catch::Contains("is not yet supported with named tensors"));
  auto named = torch::Library(torch::Library::IMPL, "named_ops", c10::DispatchKey::Named, __FILE__, __LINE__);
  named.impl("asked", torch::CppFunction::makeFallthrough());
  CHECK(shown(call("named_ops::asked", x)) == "['N', 'C']");
}

TEST_CASE("names pass through boxed calls as strings", "[names]") {
  const Tensor x = z({2, 3}, "N,C");
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::sum", "dim_DimnameList");
  for (const char* name : {"N", "dimname::N"}) {
    torch::jit::Stack stack{x, c10::List<std::string>({name}), false, c10::IValue()};
    op.callBoxed(&stack);
    CHECK(shown(stack.at(0).toTensor()) == "['C']");
  }
  torch::jit::Stack stack{x, c10::IValue()};
  c10::Dispatcher::singleton().findSchemaOrThrow("aten::rename", "").callBoxed(&stack);
  CHECK_FALSE(stack.at(0).toTensor().has_names());
}

TEST_CASE("a named tensor is printed as one without names", "[names]") {
  std::ostringstream named, plain;
  named << z({2, 3}, "N,C");
  plain << z({2, 3});
  CHECK(named.str() == plain.str());
}

TEST_CASE("names are computed for kernels of programs", "[names]") {
  namespace names = at::namedinference;
  const Tensor x = z({2, 3}, "N,C");
  const Tensor result = z({3});
  names::propagate_names_for_reduction(result, x, {0}, /*keepdim=*/false);
  CHECK(shown(result) == "['C']");
  const Tensor wide = z({4, 2, 3});
  names::propagate_names_for_expand(wide, x);
  CHECK(shown(wide) == "[None, 'N', 'C']");
  CHECK(at::DimnameList(names::compute_matmul_outnames(x, z({3, 5}, "C,K"))) == at::DimnameList(ns("N,K")));
  CHECK(names::compute_broadcast_outnames(z({2}), z({2})).empty());
  CHECK(names::are_names_equal(x.unsafeGetTensorImpl(), x.clone().unsafeGetTensorImpl()));
  const std::vector<Tensor> plain = {z({2})};
  const std::vector<Tensor> mixed = {z({2}), x};
  CHECK_FALSE(at::has_names(plain));
  CHECK(at::has_names(mixed));
  CHECK(at::DimnameList(at::unify_from_right(ns("N,*"), ns("C"))) == at::DimnameList(ns("N,C")));
}
