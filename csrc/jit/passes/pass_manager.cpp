#include <csrc/jit/passes/pass_manager.h>

#include <algorithm>

namespace torch::jit {

namespace {

GraphPassNameType next_id() {
  static GraphPassNameType last = 0;
  return ++last;
}

GraphPassNameType add(std::vector<GraphPassEntry>& passes, GraphPass pass) {
  passes.emplace_back(std::move(pass), next_id());
  return passes.back().second;
}

void remove(std::vector<GraphPassEntry>& passes, GraphPassNameType id) {
  passes.erase(
      std::remove_if(passes.begin(), passes.end(), [id](const GraphPassEntry& entry) { return entry.second == id; }),
      passes.end());
}

} // namespace

std::vector<GraphPassEntry>& getCustomPostPasses() {
  static auto& passes = *new std::vector<GraphPassEntry>();
  return passes;
}

std::vector<GraphPassEntry>& getCustomPrePasses() {
  static auto& passes = *new std::vector<GraphPassEntry>();
  return passes;
}

GraphPassNameType registerPostPass(GraphPass pass) {
  return add(getCustomPostPasses(), std::move(pass));
}

GraphPassNameType registerPrePass(GraphPass pass) {
  return add(getCustomPrePasses(), std::move(pass));
}

void clearPostPass(GraphPassNameType pass) {
  remove(getCustomPostPasses(), pass);
}

void clearPrePass(GraphPassNameType pass) {
  remove(getCustomPrePasses(), pass);
}

void clearAllPostPasses() {
  getCustomPostPasses().clear();
}

void clearAllPrePasses() {
  getCustomPrePasses().clear();
}

RegisterPostPass::RegisterPostPass(GraphPass pass) {
  registerPostPass(std::move(pass));
}

} // namespace torch::jit
