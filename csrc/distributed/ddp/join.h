// Join: ranks whose inputs end early follow the steps of the others.
#pragma once

#include <csrc/distributed/session/init.h>

#include <vector>

namespace torch::distributed {

class Join;

/// What the ranks that have not ended yet do in the step under way.
struct JoinStep {
  std::vector<bool> active; // by rank
  bool syncs = false; // whether gradients are averaged
  int active_count() const;
  /// The first of those that have not ended; -1 if all have.
  int first_active() const;
};

/// Takes part in steps of other ranks while this one has no more inputs: DistributedDataParallel,
/// ZeroRedundancyOptimizer.
class TORCH_API Joinable {
 public:
  virtual ~Joinable();
  virtual GroupPtr join_group() const = 0;
  /// All collectives of the step, without an effect on its result.
  virtual void follow(const JoinStep& step) = 0;
  /// When all ranks have ended: takes over what those of the last step have.
  virtual void after_join(const JoinStep& last) = 0;

 protected:
  /// To be called in each step before its first collective, by the first joinable of a Join. Null without a Join.
  const JoinStep* notify(bool syncs);
  /// Whether sums are divided by the number of all ranks; true without a Join.
  bool join_divides_by_world() const;

 private:
  friend class Join;
  Join* join_ = nullptr;
};

/// While it lives, ranks may have different numbers of inputs. At its end a rank follows the others' steps until all
/// are done; then all have the parameters of those that ended last.
///
///   {
///     Join join({&ddp});
///     for (auto& batch : loader) { ... }
///   }
class TORCH_API Join {
 public:
  /// The first is the one whose forward begins a step. Sums are divided by the number of ranks, or with
  /// `divide_by_initial_world_size` off by that of the ranks which still have inputs. `throw_on_early_termination` ends
  /// all ranks with an error as soon as one has no more.
  explicit Join(
      std::vector<Joinable*> joinables,
      bool divide_by_initial_world_size = true,
      bool throw_on_early_termination = false);
  /// finish(), unless an exception is under way.
  ~Join() noexcept(false);
  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  void finish();

 private:
  friend class Joinable;
  const JoinStep& exchange(bool active, bool syncs);
  void release();

  std::vector<Joinable*> joinables_;
  GroupPtr group_;
  JoinStep step_;
  JoinStep last_; // the last step that somebody took
  bool divide_by_initial_world_size_;
  bool throw_on_early_termination_;
  int exceptions_;
  bool finished_ = false;
};

} // namespace torch::distributed
