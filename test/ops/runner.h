// Runs a check over the rows of the operator table and collects what went wrong.
#pragma once

#include <functional>
#include <string>

#include "test/ops/samples.h"

namespace test {

/// Takes the failures of one row; only the first few of a row are kept.
class Failures {
 public:
  void add(const std::string& what) {
    if (++count_ <= 3) {
      text_ += "\n  " + what;
    }
  }
  /// Runs `body`; an exception is a failure.
  void guard(const std::string& note, const std::function<void()>& body);

  bool none() const {
    return count_ == 0;
  }
  std::string text() const;

 private:
  int count_ = 0;
  std::string text_;
};

/// Calls `check` for every row whose operator exists, or for those named by the environment variable TENSOR_TEST_OP
/// ("add" or "add.Tensor", comma separated), and reports failures to Catch by operator.
void for_each_row(const std::function<void(const OpRow&, const BoxedOp&, Failures&)>& check);

/// Every floating or complex tensor in `args` becomes a leaf that requires grad, but for those at `constants`.
Stack with_grad(const Stack& args, const std::vector<int>& constants);

/// Clones every tensor, so that the operator may write to them.
Stack with_copies(const Stack& args);

/// Arguments of `out`, the out form of `op`, for a call of `op` with `args`.
Stack out_arguments(const BoxedOp& op, const BoxedOp& out, const Stack& args, const std::vector<at::Tensor>& outs);

} // namespace test
