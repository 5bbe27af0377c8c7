// Passes that programs add to those that graphs go through before they run.
#pragma once

#include <csrc/jit/ir/ir.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace torch::jit {

using GraphPass = std::function<void(std::shared_ptr<Graph>&)>;
/// A number that stands for a registered pass.
using GraphPassNameType = unsigned int;
using GraphPassEntry = std::pair<GraphPass, GraphPassNameType>;

/// Passes that run after the library's own, and those that run before. A graph goes through them once, when it is made
/// ready to run: functions that have run already are as they are. Registering is for one thread alone.
TORCH_API std::vector<GraphPassEntry>& getCustomPostPasses();
TORCH_API std::vector<GraphPassEntry>& getCustomPrePasses();

TORCH_API GraphPassNameType registerPostPass(GraphPass pass);
TORCH_API GraphPassNameType registerPrePass(GraphPass pass);
/// Without effect if there is no such pass.
TORCH_API void clearPostPass(GraphPassNameType pass);
TORCH_API void clearPrePass(GraphPassNameType pass);
TORCH_API void clearAllPostPasses();
TORCH_API void clearAllPrePasses();

/// Registers a pass when it is made: `static RegisterPass pass(my_pass);`
struct TORCH_API RegisterPostPass {
  explicit RegisterPostPass(GraphPass pass);
};
using RegisterPass = RegisterPostPass;

/// Base of a class that stands for one pass: registers it once, and removes it.
template <typename DerivedType>
struct C10_EXPORT PassManager {
  virtual ~PassManager() = default;

  /// True, and nothing happens, if the class has registered one.
  static bool registerPass(GraphPass pass) {
    if (registered()) {
      return true;
    }
    id() = registerPostPass(std::move(pass));
    registered() = true;
    return false;
  }
  static void clearPass() {
    if (registered()) {
      clearPostPass(id());
      registered() = false;
    }
  }

 protected:
  static bool& registered() {
    static bool value = false;
    return value;
  }
  static GraphPassNameType& id() {
    static GraphPassNameType value = 0;
    return value;
  }

 private:
  virtual void abstract() = 0;
};

} // namespace torch::jit
