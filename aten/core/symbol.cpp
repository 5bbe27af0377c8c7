#include <aten/core/symbol.h>

#include <aten/core/known_symbols.h>

#include <c10/util/Exception.h>

#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace c10 {

namespace {

struct InternedName {
  std::string qualified;
  size_t name_begin;

  std::string_view domain() const {
    return std::string_view(qualified).substr(0, name_begin - 2);
  }
};

// Entries never move (deque) and are never removed, so the characters handed out stay valid.
class SymbolTable {
 public:
  SymbolTable() {
    intern("prim::Invalid");
    // In the order of detail::KnownSymbol, so that their numbers are the constants of <aten/core/known_symbols.h>.
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
    const size_t separator = qualified.find("::");
    TORCH_CHECK(
        separator != std::string::npos && separator > 0,
        "all symbols must have a namespace, <namespace>::<string>, but found: ", qualified);
    names_.push_back(InternedName{qualified, separator + 2});
    const uint32_t value = static_cast<uint32_t>(names_.size() - 1);
    index_.emplace(names_.back().qualified, value);
    return value;
  }
  const InternedName& operator[](uint32_t value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    TORCH_CHECK(value < names_.size(), "unknown symbol number ", value);
    return names_[value];
  }
  static SymbolTable& get() {
    static SymbolTable* const table = new SymbolTable();
    return *table;
  }

 private:
  std::mutex mutex_;
  std::deque<InternedName> names_;
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
  const InternedName& name = SymbolTable::get()[value_];
  return name.qualified.c_str() + name.name_begin;
}

const char* Symbol::toQualString() const {
  return SymbolTable::get()[value_].qualified.c_str();
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
