// Integers that differ from trace to trace, as functions of sizes.
#pragma once

#include <csrc/fx/graph.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace torch::capture {

/// A number as it was in each trace.
using Observed = std::vector<int64_t>;

/// Finds functions of sizes, see Note [Unified traces], and makes them part of a graph.
class SizeFit {
 public:
  explicit SizeFit(fx::Graph& graph) : graph_(graph) {}

  /// A size of an input.
  void add_symbol(const Observed& values, fx::Dim symbol);
  /// A size of a result; it is read with aten::sym_size where it is used.
  void add_result(const Observed& values, fx::Value tensor, int64_t dim);

  /// The number as a constant, a size, or the result of nodes that are appended to the graph.
  std::optional<fx::Arg> fit(const Observed& values);
  /// The number as a size, of the inputs' sizes alone and without new nodes.
  std::optional<fx::Dim> fit_size(const Observed& values);
  /// A floating number: an integer's value, its root, or one by these; as a constant or the result of nodes.
  std::optional<fx::Arg> fit_double(const std::vector<double>& values);

 private:
  struct Atom {
    Observed values;
    fx::Arg arg; // a size; of results empty until it is read
    fx::Value tensor;
    int64_t dim = 0;
  };
  struct Term {
    fx::SizeOp op;
    int64_t number;
  };

  std::optional<fx::Arg> find(const Observed& values);
  std::optional<fx::Arg> find_of_pairs(const Observed& values);
  std::optional<fx::Arg> find_of_triples(const Observed& values);
  std::optional<std::vector<Term>> of_one(const Observed& atom, const Observed& values) const;
  fx::Arg apply(fx::Arg arg, const std::vector<Term>& terms);
  fx::Arg combine(fx::SizeOp op, const fx::Arg& a, const fx::Arg& b);
  fx::Arg read(Atom& atom);

  fx::Graph& graph_;
  std::vector<Atom> symbols_, results_;
  std::map<Observed, fx::Arg> known_;
};

} // namespace torch::capture
