// Values that PyTorch gives, see reference.py.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace test {

/// Parameters after the steps of an optimizer, by "name/dtype".
extern const std::map<std::string, std::vector<double>> expected_steps;
/// Tables after 20 steps with sparse gradients, by "name/dtype".
extern const std::map<std::string, std::vector<double>> expected_sparse;
/// For each step the learning rates of two groups, then for schedulers of momentum those momenta.
extern const std::map<std::string, std::vector<double>> expected_rates;

} // namespace test
