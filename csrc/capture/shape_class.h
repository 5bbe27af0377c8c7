// Recordings that differ in the sizes of inputs alone, as one graph.
#pragma once

#include <csrc/fx/graph_module.h>

#include <aten/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace torch::capture {

/// Gets recordings of the same function at several sizes, and makes one graph of them; see Note [Unified traces]. The
/// graph runs for sizes at which the function was recorded and did what the graph does: a branch on a size is never
/// missed. Sizes cost some bytes each, up to a bound; graphs are kept of a few recordings alone.
class ShapeClass {
 public:
  /// The graph, once there were two recordings that fit together.
  const std::shared_ptr<fx::GraphModule>& module() const {
    return module_;
  }
  /// Whether the graph holds for inputs of these sizes and strides.
  bool holds(const std::vector<at::Tensor>& inputs) const;
  /// Called for sizes that the graph holds for, each time that they come: whether a graph for these alone is worth
  /// being compiled, which is so after one, two, four ... calls, since it may have been let go since the last.
  bool is_worth_compiling(const std::vector<at::Tensor>& inputs);
  /// Takes a recording at further sizes. Gives whether the graph holds for it.
  bool add(const std::shared_ptr<fx::GraphModule>& recorded, const std::vector<at::Tensor>& inputs);
  /// Whether so many recordings did not fit that further ones are not worth trying.
  bool is_hopeless() const {
    return failures_ >= kMaxFailures;
  }
  size_t num_confirmed() const {
    return confirmed_.size();
  }

 private:
  static constexpr int kMaxFailures = 4;

  struct Uses {
    uint32_t calls = 0; // since it was compiled
    uint32_t compiled = 0; // times
  };

  bool unify_with(const std::shared_ptr<fx::GraphModule>& recorded);
  bool have_same_references(const fx::GraphModule& recorded) const;
  bool fits_strides(const std::vector<at::Tensor>& inputs) const;

  std::vector<std::shared_ptr<fx::GraphModule>> traces_;
  std::shared_ptr<fx::GraphModule> module_;
  std::string text_;
  std::map<std::vector<int64_t>, Uses> confirmed_; // by the sizes of all inputs
  int failures_ = 0;
};

} // namespace torch::capture
