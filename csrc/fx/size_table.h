// Sizes as a graph knows them: numbers, or expressions over symbols whose values a call brings.
#pragma once

#include <c10/macros/Export.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace torch::fx {

/// A size: a number, or an entry of the graph's SizeTable.
class Dim {
 public:
  /* implicit */ constexpr Dim(int64_t value = 0) : value_(value) {}
  static constexpr Dim expression(uint32_t index) {
    Dim dim(index);
    dim.is_expression_ = true;
    return dim;
  }

  constexpr bool is_expression() const {
    return is_expression_;
  }
  /// The number; what is_expression() has none.
  constexpr int64_t value() const {
    return value_;
  }
  /// The entry in the table.
  constexpr uint32_t index() const {
    return static_cast<uint32_t>(value_);
  }
  constexpr bool operator==(const Dim& other) const {
    return is_expression_ == other.is_expression_ && value_ == other.value_;
  }
  constexpr bool operator!=(const Dim& other) const {
    return !(*this == other);
  }

 private:
  int64_t value_;
  bool is_expression_ = false;
};

/// What an entry of a SizeTable is made by. All but Symbol take one or two sizes.
enum class SizeOp : uint8_t { Symbol, Add, Sub, Mul, FloorDiv, CeilDiv, Mod, Min, Max };

/// The values that the symbols of one call have, by entry.
using SymbolValues = std::vector<std::optional<int64_t>>;

/// The expressions of one graph. Equal ones are one entry; numbers are folded.
class TORCH_API SizeTable {
 public:
  /// An expression; `name`, `min` and `max` are of symbols.
  struct Entry {
    SizeOp op;
    Dim a;
    Dim b;
    std::string name;
    std::optional<int64_t> min;
    std::optional<int64_t> max;
  };

  /// The symbol of this name, made if there is none. Its range becomes the part that it has in common with [min, max].
  Dim symbol(const std::string& name, std::optional<int64_t> min = {}, std::optional<int64_t> max = {});
  /// Throws where the symbol is not known.
  Dim find_symbol(const std::string& name) const;
  /// The expression `op(a, b)`, simplified. Throws on division by the number 0 and where numbers overflow.
  Dim make(SizeOp op, Dim a, Dim b);

  /// All entries, in the order of their index: operands come before what is made of them.
  const std::vector<Entry>& entries() const {
    return entries_;
  }
  size_t size() const {
    return entries_.size();
  }

  /// The value; empty while a symbol in it has none. Throws c10::Error on overflow and division by zero.
  std::optional<int64_t> evaluate(Dim dim, const SymbolValues& values) const;
  /// Gives the symbols in `dim` values such that it becomes `size`, where that is possible for one unknown symbol.
  /// Returns whether `dim` has the value `size` afterwards or is still not known; throws when a symbol leaves its
  /// range.
  bool bind(Dim dim, int64_t size, SymbolValues& values) const;
  /// "2", "s0", "s0 * 2 + 1".
  std::string print(Dim dim) const;
  /// The same expression in this table for one of `other`.
  Dim import(Dim dim, const SizeTable& other);

 private:
  std::optional<int64_t> walk(Dim dim, const SymbolValues& values) const;
  std::string print(Dim dim, int outer) const;

  std::vector<Entry> entries_;
  std::vector<uint32_t> depths_;
  std::vector<uint32_t> lengths_; // of the expression written out
  std::map<std::string, uint32_t> symbols_;
  std::map<std::tuple<SizeOp, bool, int64_t, bool, int64_t>, uint32_t> made_;
};

} // namespace torch::fx
