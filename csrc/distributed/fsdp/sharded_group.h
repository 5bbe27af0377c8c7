// Parameters that are gathered and reduced together. For the sources of fully_shard.
#pragma once

#include <csrc/distributed/ddp/parameter_swap.h>
#include <csrc/distributed/fsdp/gathered_memory.h>
#include <csrc/distributed/fsdp/options.h>

#include <memory>
#include <vector>

namespace torch::autograd {
struct GraphTask;
} // namespace torch::autograd

namespace torch::distributed::fsdp {

class ShardedGroup;

/// The device that this rank's part of the mesh computes on: the current one of its type.
c10::Device device_of(const DeviceMesh& mesh);

/// What the groups of one root share: the order in which forward went through them, and what a backward pass has begun.
struct RootState {
  std::vector<std::weak_ptr<ShardedGroup>> order, last_order;
  int64_t pass = -1;
  bool pass_has_ended = false;
  std::vector<std::shared_ptr<ShardedGroup>> reducing; // begun, not taken yet
  std::vector<std::shared_ptr<ShardedGroup>> gathered; // by this pass
  void note_gathered(const std::shared_ptr<ShardedGroup>& group);
};

/// The parameters that one call of fully_shard has taken. Each rank keeps a shard of each, cut along dimension 0; whole
/// they are from the beginning of the module's forward to its end, and again in backward.
class ShardedGroup : public std::enable_shared_from_this<ShardedGroup> {
 public:
  ShardedGroup(std::vector<ParameterPlaces> parameters, FullyShardOptions options);

  // ---- whole parameters ------------------------------------------------------------------------------------------
  /// Begins to gather, unless the parameters are whole already.
  void begin_gather();
  void finish_gather();
  void gather() {
    begin_gather();
    finish_gather();
  }
  void let_go();
  bool is_whole() const {
    return state_ == State::Whole;
  }
  /// What the modules' members are, whole, to be changed in place; see write_back.
  std::vector<at::Tensor> whole_parameters() const;
  /// This rank's parts of the whole parameters into the shards.
  void write_back();
  /// New shards on a device, or on the CPU where they are offloaded, for those that were made on the meta device.
  void to_empty(c10::Device device);

  // ---- hooks -----------------------------------------------------------------------------------------------------
  void before_forward(std::vector<at::Tensor>& inputs);
  void after_forward(std::vector<at::Tensor>& outputs);
  /// From the nodes of the graph: gradients of the module's results are there; those of its parameters are.
  void before_backward();
  void reduce(const std::vector<size_t>& trained, std::vector<at::Tensor> grads);
  void take_reduction();
  void end_pass();

  std::vector<ParameterPlaces>& parameters() {
    return places_;
  }
  const std::vector<at::Tensor>& shards() const {
    return shards_;
  }
  const DeviceMesh& mesh() const {
    return *options_.mesh();
  }

  std::shared_ptr<RootState> root;
  bool is_root = false;
  bool sync = true;
  bool reshard_after_backward = true;
  std::optional<bool> reshard_after_forward;
  std::vector<std::weak_ptr<ShardedGroup>> forward_prefetch, backward_prefetch; // in place of the order

 private:
  enum class State { Shards, Gathering, Whole };
  /// How a parameter lies: rows of its whole and of each rank's part, and numbers in a row.
  struct Layout {
    int64_t rows, chunk, width;
    std::vector<int64_t> sizes;
  };

  int64_t shard_dim() const {
    return mesh().ndim() - 1;
  }
  c10d::ProcessGroup& shard_ranks() const {
    return *mesh().get_group(shard_dim());
  }
  int64_t own_rows(const Layout& layout) const;
  void cut();
  void mark(size_t parameter);
  bool is_stale() const;
  c10::ScalarType gathered_dtype() const;
  /// Where parameters are whole and gradients are reduced.
  c10::Device working_device() const {
    return options_.offload_policy() ? device_of(mesh()) : shards_[0].device();
  }
  /// `shard`, a new tensor, where shards are kept.
  at::Tensor to_home(at::Tensor shard) const;
  void show_shards();
  void show_whole();
  void prefetch_after(bool forward);
  bool in_backward() const;
  void enter_pass(autograd::GraphTask& pass);

  std::vector<ParameterPlaces> places_;
  FullyShardOptions options_;
  std::vector<Layout> layouts_;
  std::vector<at::Tensor> shards_;

  State state_ = State::Shards;
  std::vector<GatheredMemory> whole_;
  at::Tensor sent_, received_;
  c10::intrusive_ptr<c10d::Work> work_;
  std::vector<uint32_t> gathered_versions_;
  size_t place_in_order_ = 0;
  int pending_ = 0; // calls whose backward has begun and not ended
  int expected_ = 0; // ends of calls that the pass has still to come to

  std::vector<at::Tensor> unreduced_; // whole gradients of passes that did not sync
  struct Reduction {
    c10::intrusive_ptr<c10d::Work> work;
    at::Tensor sent, received;
    std::vector<size_t> trained;
  };
  std::optional<Reduction> reduction_;
};

} // namespace torch::distributed::fsdp
