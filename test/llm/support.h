// The recorded models of test/llm/data.
#pragma once

#include <csrc/llm/llm.h>
#include <aten/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace test {

/// A model of transformers with random weights, and what it gives.
struct RecordedModel {
  std::shared_ptr<const torch::llm::Model> model;
  std::vector<int64_t> prompt;
  at::Tensor logits; ///< of each position of the prompt
  std::vector<int64_t> greedy; ///< what follows the first five tokens of the prompt
};

std::string model_folder(const std::string& name);
const std::vector<std::string>& model_names();
RecordedModel load_recorded(const std::string& name, const torch::llm::LoadOptions& options = {});

/// The largest difference of elements.
double distance(const at::Tensor& a, const at::Tensor& b);

std::vector<int64_t> to_vector(const at::Tensor& tensor);

/// What a call throws, or nothing.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

} // namespace test
