// Graphs from texts, compiled and interpreted.
#pragma once

#include <csrc/compile/runner.h>
#include <torch/fx.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

/// A graph whose results are known for such inputs.
inline std::shared_ptr<torch::fx::Graph> graph_for(const char* text, const std::vector<at::Tensor>& inputs) {
  auto graph = torch::fx::Graph::parse(text);
  torch::fx::GraphModule module(graph);
  torch::fx::propagate_shapes(module, std::vector<c10::IValue>(inputs.begin(), inputs.end()));
  return graph;
}

/// The results of the operators, called one by one.
inline std::vector<at::Tensor> interpret(
    const std::shared_ptr<torch::fx::Graph>& graph, const std::vector<at::Tensor>& inputs) {
  std::vector<at::Tensor> results;
  for (c10::IValue& result :
       torch::fx::GraphModule(graph).forward(std::vector<c10::IValue>(inputs.begin(), inputs.end()))) {
    results.push_back(result.isTensor() ? std::move(result).toTensor() : at::Tensor());
  }
  return results;
}

inline std::vector<at::Tensor> run(const torch::fused::FusedGraph& compiled, std::vector<at::Tensor> inputs) {
  return compiled(inputs);
}

/// The same dtype, sizes, strides and bits, but for those of NaN, which processors take from either operand.
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  if (!a.defined() || !b.defined()) {
    return a.defined() == b.defined();
  }
  if (a.scalar_type() != b.scalar_type() || !a.sizes().equals(b.sizes()) || !a.strides().equals(b.strides())) {
    return false;
  }
  at::Tensor x = a.contiguous(), y = b.contiguous();
  if (c10::isFloatingType(x.scalar_type()) && x.isnan().equal(y.isnan())) {
    x = x.masked_fill(x.isnan(), 0);
    y = y.masked_fill(y.isnan(), 0);
  }
  return std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}
