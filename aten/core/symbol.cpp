#include <aten/core/symbol.h>

#include <aten/core/known_symbols.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace c10 {

namespace {

struct InternedName {
  const char* qualified;
  size_t name_begin;

  std::string_view domain() const {
    return std::string_view(qualified, name_begin - 2);
  }
};

size_t find_name_begin(std::string_view qualified) {
  const size_t separator = qualified.find("::");
  TORCH_CHECK(
      separator != std::string_view::npos,
      "all symbols must have a namespace, <namespace>::<string>, but found: ", qualified);
  return separator + 2;
}

// Numbers are those of detail::KnownSymbol, then those of detail::operator_symbol_names(), which cost nothing until
// they are used, then those of other names in the order in which they come.
class SymbolTable {
 public:
  SymbolTable() {
    intern("prim::Invalid");
#define C10_INTERN(name) intern("prim::" #name);
    C10_FORALL_PRIM_SYMBOLS(C10_INTERN)
#undef C10_INTERN
#define C10_INTERN(name) intern("attr::" #name);
    C10_FORALL_ATTR_SYMBOLS(C10_INTERN)
#undef C10_INTERN
#define C10_INTERN(name) intern("aten::" #name);
    C10_FORALL_ATEN_SYMBOLS(C10_INTERN)
#undef C10_INTERN
  }
  uint32_t intern(const std::string& qualified) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = index_.find(qualified);
    if (found != index_.end()) {
      return found->second;
    }
    const bool is_known = names_.size() < detail::kFirstOperatorSymbol;
    const char* const* generated = is_known ? nullptr : find_generated(qualified);
    if (generated) {
      const auto value = detail::kFirstOperatorSymbol + static_cast<uint32_t>(generated - generated_.begin());
      index_.emplace(*generated, value);
      return value;
    }
    find_name_begin(qualified);
    names_.push_back(qualified);
    const size_t value = names_.size() - 1 + (is_known ? 0 : generated_.size());
    index_.emplace(names_.back(), static_cast<uint32_t>(value));
    return static_cast<uint32_t>(value);
  }
  InternedName operator[](uint32_t value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(value < names_.size() + generated_.size(), "unknown symbol number ", value);
    const char* qualified;
    if (value < detail::kFirstOperatorSymbol) {
      qualified = names_[value].c_str();
    } else if (value - detail::kFirstOperatorSymbol < generated_.size()) {
      qualified = generated_[value - detail::kFirstOperatorSymbol];
    } else {
      qualified = names_[value - generated_.size()].c_str();
    }
    return InternedName{qualified, find_name_begin(qualified)};
  }
  static SymbolTable& get() {
    static SymbolTable* const table = new SymbolTable();
    return *table;
  }

 private:
  const char* const* find_generated(std::string_view qualified) const {
    const auto found = std::lower_bound(generated_.begin(), generated_.end(), qualified);
    return found != generated_.end() && *found == qualified ? found : nullptr;
  }

  const ArrayRef<const char*> generated_ = detail::operator_symbol_names();
  std::mutex mutex_;
  // Entries never move (deque) and are never removed, so the characters handed out stay valid.
  std::deque<std::string> names_;
  std::unordered_map<std::string_view, uint32_t> index_;
};

} // namespace

Symbol Symbol::fromQualString(const std::string& s) {
  return Symbol(SymbolTable::get().intern(s));
}

Symbol Symbol::fromDomainAndUnqualString(const std::string& domain, const std::string& s) {
  constexpr std::string_view kPrefix = "org.pytorch.";
  const std::string_view ns = std::string_view(domain).substr(0, kPrefix.size()) == kPrefix
      ? std::string_view(domain).substr(kPrefix.size())
      : std::string_view(domain);
  return fromQualString(std::string(ns) + "::" + s);
}

Symbol Symbol::attr(const std::string& s) {
  return fromQualString("attr::" + s);
}
Symbol Symbol::aten(const std::string& s) {
  return fromQualString("aten::" + s);
}
Symbol Symbol::prim(const std::string& s) {
  return fromQualString("prim::" + s);
}
Symbol Symbol::user(const std::string& s) {
  return fromQualString("user::" + s);
}
Symbol Symbol::cuda(const std::string& s) {
  return fromQualString("cuda::" + s);
}
Symbol Symbol::onnx(const std::string& s) {
  return fromQualString("onnx::" + s);
}
Symbol Symbol::scope(const std::string& s) {
  return fromQualString("scope::" + s);
}
Symbol Symbol::dimname(const std::string& s) {
  return fromQualString("dimname::" + s);
}

Symbol Symbol::ns() const {
  return fromQualString("namespaces::" + std::string(SymbolTable::get()[value_].domain()));
}

const char* Symbol::toUnqualString() const {
  const InternedName name = SymbolTable::get()[value_];
  return name.qualified + name.name_begin;
}

const char* Symbol::toQualString() const {
  return SymbolTable::get()[value_].qualified;
}

std::string Symbol::domainString() const {
  return "org.pytorch." + std::string(SymbolTable::get()[value_].domain());
}

bool Symbol::is_attr() const {
  return SymbolTable::get()[value_].domain() == "attr";
}
bool Symbol::is_aten() const {
  return SymbolTable::get()[value_].domain() == "aten";
}
bool Symbol::is_dimname() const {
  return SymbolTable::get()[value_].domain() == "dimname";
}
bool Symbol::is_user() const {
  return SymbolTable::get()[value_].domain() == "user";
}
bool Symbol::is_cuda() const {
  return SymbolTable::get()[value_].domain() == "cuda";
}
bool Symbol::is_onnx() const {
  return SymbolTable::get()[value_].domain() == "onnx";
}
bool Symbol::is_prim() const {
  return SymbolTable::get()[value_].domain() == "prim";
}

} // namespace c10
