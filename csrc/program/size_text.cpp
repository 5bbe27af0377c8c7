#include <csrc/program/size_text.h>

#include <c10/util/Exception.h>

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace torch::program {

namespace {

using fx::Dim;
using fx::SizeOp;

constexpr int kMaxNestedSizes = 100;
constexpr int64_t kMaxPower = 8;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

class SizeParser {
 public:
  SizeParser(const std::string& text, fx::SizeTable& sizes) : text_(text), sizes_(sizes) {}

  Dim run() {
    const Dim dim = sum();
    skip_spaces();
    check(position_ == text_.size());
    return dim;
  }

 private:
  void check(bool holds) const {
    TORCH_CHECK(holds, "the size '", text_.substr(0, 200), "' cannot be read");
  }
  void skip_spaces() {
    while (position_ < text_.size() && text_[position_] == ' ') {
      ++position_;
    }
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.compare(position_, token.size(), token) != 0) {
      return false;
    }
    position_ += token.size();
    return true;
  }
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  Dim sum() {
    check(++depth_ <= kMaxNestedSizes);
    Dim dim = accept("-") ? sizes_.make(SizeOp::Mul, product(), -1) : product();
    for (;;) {
      if (accept("+")) {
        dim = sizes_.make(SizeOp::Add, dim, product());
      } else if (accept("-")) {
        dim = sizes_.make(SizeOp::Sub, dim, product());
      } else {
        --depth_;
        return dim;
      }
    }
  }

  Dim product() {
    Dim dim = power();
    for (;;) {
      if (accept("//")) {
        dim = sizes_.make(SizeOp::FloorDiv, dim, power());
      } else if (accept("*")) {
        dim = sizes_.make(SizeOp::Mul, dim, power());
      } else if (accept("%")) {
        dim = sizes_.make(SizeOp::Mod, dim, power());
      } else {
        return dim;
      }
    }
  }

  Dim power() {
    const Dim base = atom();
    return accept("**") ? raised(base, atom()) : base;
  }

  Dim raised(Dim base, Dim exponent) {
    check(!exponent.is_expression() && exponent.value() >= 0 && exponent.value() <= kMaxPower);
    // Powers of powers would be long in few letters.
    check(!base.is_expression() || sizes_.entries()[base.index()].op == SizeOp::Symbol || exponent.value() <= 2);
    Dim dim = 1;
    for (int64_t i = 0; i < exponent.value(); ++i) {
      dim = sizes_.make(SizeOp::Mul, dim, base);
    }
    return dim;
  }

  int64_t number() {
    skip_spaces();
    int64_t value = 0;
    const char *first = text_.data() + position_, *last = text_.data() + text_.size();
    const auto [end, error] = std::from_chars(first, last, value);
    check(error == std::errc());
    position_ += static_cast<size_t>(end - first);
    return value;
  }

  Dim atom() {
    if (accept("(")) {
      const Dim dim = sum();
      check(accept(")"));
      return dim;
    }
    if (is_decimal(peek()) || peek() == '-') {
      return number();
    }
    const std::string name = word();
    if (!accept("(")) {
      return sizes_.symbol(name);
    }
    if (name == "Symbol") {
      return symbol();
    }
    if (name == "Integer") {
      const Dim dim = number();
      check(accept(")"));
      return dim;
    }
    std::vector<Dim> arguments;
    if (!accept(")")) {
      do {
        arguments.push_back(sum());
      } while (accept(","));
      check(accept(")"));
    }
    return call(name, arguments);
  }

  std::string word() {
    skip_spaces();
    const size_t begin = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_decimal(text_[position_]))) {
      ++position_;
    }
    check(position_ > begin);
    return text_.substr(begin, position_ - begin);
  }

  /// What follows "Symbol(": the name, and assumptions that nobody needs.
  Dim symbol() {
    check(accept("'"));
    const std::string name = word();
    check(accept("'"));
    while (accept(",")) {
      word();
      check(accept("="));
      word();
    }
    check(accept(")"));
    return sizes_.symbol(name);
  }

  Dim fold(SizeOp op, const std::vector<Dim>& arguments) {
    check(!arguments.empty());
    Dim dim = arguments[0];
    for (size_t i = 1; i < arguments.size(); ++i) {
      dim = sizes_.make(op, dim, arguments[i]);
    }
    return dim;
  }

  Dim call(const std::string& name, const std::vector<Dim>& arguments) {
    const struct {
      const char* name;
      SizeOp op;
      bool takes_two;
    } table[] = {
        {"Add", SizeOp::Add, false},        {"Mul", SizeOp::Mul, false},          {"Max", SizeOp::Max, false},
        {"Min", SizeOp::Min, false},        {"FloorDiv", SizeOp::FloorDiv, true}, {"CleanDiv", SizeOp::FloorDiv, true},
        {"CeilDiv", SizeOp::CeilDiv, true}, {"Mod", SizeOp::Mod, true},           {"PythonMod", SizeOp::Mod, true},
    };
    for (const auto& row : table) {
      if (name == row.name) {
        check(!row.takes_two || arguments.size() == 2);
        return fold(row.op, arguments);
      }
    }
    if (name == "Pow" || name == "PowByNatural") {
      check(arguments.size() == 2);
      return raised(arguments[0], arguments[1]);
    }
    if (name == "Identity") {
      check(arguments.size() == 1);
      return arguments[0];
    }
    check(false);
    return 0;
  }

  const std::string& text_;
  fx::SizeTable& sizes_;
  size_t position_ = 0;
  int depth_ = 0;
};

} // namespace

Dim parse_size(const std::string& text, fx::SizeTable& sizes) {
  return SizeParser(text, sizes).run();
}

std::string print_size(Dim dim, const fx::SizeTable& sizes) {
  if (!dim.is_expression()) {
    return fmt::format("Integer({})", dim.value());
  }
  const fx::SizeTable::Entry& entry = sizes.entries()[dim.index()];
  const auto call = [&](const char* name) {
    return fmt::format("{}({}, {})", name, print_size(entry.a, sizes), print_size(entry.b, sizes));
  };
  switch (entry.op) {
    case SizeOp::Symbol:
      return fmt::format("Symbol('{}', positive=True, integer=True)", entry.name);
    case SizeOp::Add:
      return call("Add");
    case SizeOp::Sub:
      return fmt::format("Add({}, Mul(Integer(-1), {}))", print_size(entry.a, sizes), print_size(entry.b, sizes));
    case SizeOp::Mul:
      return call("Mul");
    case SizeOp::FloorDiv:
      return call("FloorDiv");
    case SizeOp::CeilDiv:
      return call("CeilDiv");
    case SizeOp::Mod:
      return call("Mod");
    case SizeOp::Min:
      return call("Min");
    case SizeOp::Max:
      return call("Max");
  }
  return "";
}

} // namespace torch::program
