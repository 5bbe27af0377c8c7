// What PyTorch does under autocast, see reference.py. Dtypes are letters: f float32, l the lower precision, d float64,
// i int64, b bool, c complex64.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace test {

/// What an operator's kernel gets when all tensors of the call are float32, lower precision, both by turns, float64,
/// int64: the dtypes of its tensors, then ">" and the dtype that it is asked for.
struct ReachedDtypes {
  std::string device;
  std::string name;
  std::vector<std::string> by_kind;
};
extern const std::vector<ReachedDtypes> expected_reached;

/// Dtypes of results on the CPU by the names of calls; the same for bfloat16 and half.
extern const std::map<std::string, std::string> expected_results;

/// Losses of each step by "network/dtype".
extern const std::map<std::string, std::vector<double>> expected_losses;

} // namespace test
