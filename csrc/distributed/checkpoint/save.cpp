// Writing a checkpoint: each rank its part, then one the list of all, then the folder takes its place.
#include <csrc/distributed/checkpoint/checkpoint.h>

#include <aten/Functions.h>
#include <aten/core/jit_type.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>
#include <csrc/distributed/checkpoint/folder.h>
#include <csrc/distributed/store/HashStore.h>
#include <csrc/serialize/serialize.h>
#include <csrc/serialize/tensor_file.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

namespace torch::distributed::checkpoint {

namespace {

using c10::IValue;
using c10::impl::GenericDict;

// One thing to write, with the box of the tensor that it is.
struct Item {
  size_t entry;
  std::vector<int64_t> offsets;
  IValue value; // a contiguous tensor on the CPU, or anything else
};

// All that is needed once the caller goes on.
struct Plan {
  Metadata metadata; // entries without places
  std::vector<Item> items; // of this rank
  std::string folder;
  c10::intrusive_ptr<c10d::Store> store;
  int rank = 0;
  int size = 1;
  std::chrono::milliseconds timeout;
};

Path optimizer_path(const std::string& name, const std::string& parameter, const std::string& field) {
  return {name, std::string("state"), parameter, field};
}

// Optimizers become entries like others: tensors as their parameter lies, and values.
struct Flat {
  std::vector<State::Entry> entries;
  std::vector<std::unique_ptr<IValue>> values; // that entries refer to
};

void flatten_optimizer(const State::OptimizerEntry& of, Flat& flat) {
  const auto state = of.optimizer->state_dict().toGenericDict();
  std::vector<at::Tensor> params;
  for (const auto& group : of.optimizer->param_groups()) {
    params.insert(params.end(), group.params().begin(), group.params().end());
  }
  for (const auto& item : state.at(std::string("state")).toGenericDict()) {
    const auto number = static_cast<size_t>(item.key().toInt());
    const std::string& parameter = of.parameters.at(number);
    const auto shard = dtensor_of(params[number]);
    for (const auto& field : item.value().toGenericDict()) {
      const std::string& key = field.key().toStringRef();
      State::Entry entry{
          of.name + ".state." + parameter + "." + key, optimizer_path(of.name, parameter, key), at::Tensor()};
      if (!field.value().isTensor()) {
        flat.values.push_back(std::make_unique<IValue>(field.value()));
        entry.content = flat.values.back().get();
      } else if (
          shard && field.value().toTensor().sizes() == params[number].sizes() && field.value().toTensor().dim() > 0) {
        entry.content = DTensor::from_local(
            field.value().toTensor(), shard->device_mesh(), shard->placements(), shard->sizes().vec());
      } else {
        entry.content = field.value().toTensor();
      }
      flat.entries.push_back(std::move(entry));
    }
  }
  // Groups name their parameters, since numbers depend on the program.
  c10::impl::GenericList groups(c10::AnyType::get());
  size_t next = 0;
  for (const IValue& group : state.at(std::string("param_groups")).toListRef()) {
    const auto fields = group.toGenericDict().copy();
    c10::List<std::string> names;
    for (size_t i = fields.at(std::string("params")).toListRef().size(); i > 0; --i) {
      names.push_back(of.parameters.at(next++));
    }
    fields.insert_or_assign(std::string("params"), names);
    groups.push_back(fields);
  }
  flat.values.push_back(std::make_unique<IValue>(groups));
  flat.entries.push_back({of.name + ".param_groups", {of.name, std::string("param_groups")}, flat.values.back().get()});
}

// Whether this rank writes its part: of ranks that have the same, the first.
bool writes(const DTensor& tensor) {
  for (size_t d = 0; d < tensor.placements().size(); ++d) {
    if (std::holds_alternative<Replicate>(tensor.placements()[d]) && tensor.device_mesh().get_coordinate()[d] != 0) {
      return false;
    }
  }
  return tensor.to_local().numel() > 0;
}

// A tensor of its own, so that no more is written than the part, and the program may go on.
at::Tensor copied(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU).clone(at::MemoryFormat::Contiguous);
}

Plan make_plan(
    const State& state, const std::string& folder, const GroupPtr& wanted, std::chrono::milliseconds timeout) {
  const c10::NoGradGuard no_grad;
  Plan plan;
  plan.folder = folder;
  plan.timeout = timeout;
  if (const GroupPtr group = wanted || !is_initialized() ? wanted : default_group()) {
    plan.store = group->getStore();
    plan.rank = group->getRank();
    plan.size = group->getSize();
    TORCH_CHECK(plan.store || plan.size == 1, "checkpoint::save: the process group has no store");
  }
  if (!plan.store) {
    plan.store = c10::make_intrusive<c10d::HashStore>();
  }
  Flat flat;
  flat.entries = state.entries();
  for (const auto& optimizer : state.optimizers()) {
    flatten_optimizer(optimizer, flat);
  }
  std::vector<std::pair<int64_t, size_t>> shared; // tensors that all ranks have, by size
  for (size_t i = 0; i < flat.entries.size(); ++i) {
    const auto& entry = flat.entries[i];
    StoredEntry stored{entry.name, entry.path, StoredBytes()};
    if (const auto* tensor = std::get_if<at::Tensor>(&entry.content)) {
      stored.content = StoredTensor{tensor->scalar_type(), tensor->sizes().vec(), tensor->requires_grad(), {}};
      shared.emplace_back(static_cast<int64_t>(tensor->nbytes()), i);
    } else if (const auto* part = std::get_if<DTensor>(&entry.content)) {
      stored.content = StoredTensor{part->scalar_type(), part->sizes().vec(), part->to_local().requires_grad(), {}};
      if (writes(*part)) {
        plan.items.push_back({i, part->part().offsets, copied(part->to_local())});
      }
    } else if (plan.rank == 0) {
      plan.items.push_back({i, {}, std::get<IValue*>(entry.content)->deepcopy()});
    }
    plan.metadata.entries.push_back(std::move(stored));
  }
  // The largest first, each to the rank with least; all ranks find the same.
  std::stable_sort(shared.begin(), shared.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<int64_t> load(static_cast<size_t>(plan.size), 0);
  for (const auto& [bytes, i] : shared) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += bytes;
    if (least - load.begin() == plan.rank) {
      const auto& tensor = std::get<at::Tensor>(flat.entries[i].content);
      plan.items.push_back({i, std::vector<int64_t>(static_cast<size_t>(tensor.dim()), 0), copied(tensor)});
    }
  }
  return plan;
}

struct CountingSink final : serialize::ByteSink {
  explicit CountingSink(serialize::ByteSink& to_) : to(to_) {}
  void write(const void* data, size_t size) override {
    to.write(data, size);
    count += static_cast<int64_t>(size);
  }
  serialize::ByteSink& to;
  int64_t count = 0;
};

// Writes this rank's file. Returns where each item lies: [[entry, offsets, sizes, offset, length], ...].
IValue write_items(const Plan& plan, const std::string& folder) {
  c10::impl::GenericList places(c10::AnyType::get());
  if (plan.items.empty()) {
    return places;
  }
  const std::string file = folder + "/__" + std::to_string(plan.rank) + "_0.distcp";
  serialize::AtomicFile disk(file);
  CountingSink sink(disk);
  for (const Item& item : plan.items) {
    const int64_t begin = sink.count;
    serialize::write_pickle(sink, "archive", item.value);
    const auto sizes = item.value.isTensor() ? item.value.toTensor().sizes().vec() : std::vector<int64_t>();
    places.push_back(c10::ivalue::Tuple::create(
        {static_cast<int64_t>(item.entry), c10::List<int64_t>(item.offsets), c10::List<int64_t>(sizes), begin,
         sink.count - begin}));
  }
  disk.commit();
  return places;
}

void take_places(Metadata& metadata, const IValue& places, int rank) {
  for (const IValue& place : places.toListRef()) {
    const auto& fields = place.toTupleRef().elements();
    auto& entry = metadata.entries.at(static_cast<size_t>(fields[0].toInt()));
    StoredBytes bytes{"__" + std::to_string(rank) + "_0.distcp", fields[3].toInt(), fields[4].toInt()};
    if (auto* tensor = std::get_if<StoredTensor>(&entry.content)) {
      tensor->chunks.push_back({fields[1].toIntVector(), fields[2].toIntVector(), std::move(bytes)});
    } else {
      entry.content = std::move(bytes);
    }
  }
}

// How the ranks of one save tell each other of it: through the store, so that a thread may do it while the program
// goes on with collectives.
class Meeting {
 public:
  explicit Meeting(const Plan& plan) : plan_(plan), deadline_(std::chrono::steady_clock::now() + plan.timeout) {
    const auto number = plan.store->add("checkpoint/rank" + std::to_string(plan.rank), 1);
    prefix_ = "checkpoint/" + std::to_string(number) + "/";
    // All ranks have read the end of the save before the last when they began the last one.
    if (plan.rank == 0 && number > 2) {
      plan.store->deleteKey("checkpoint/" + std::to_string(number - 2) + "/end");
    }
  }
  void tell(const std::string& key, const std::vector<char>& bytes) {
    plan_.store->set(prefix_ + key, std::vector<uint8_t>(bytes.begin(), bytes.end()));
  }
  std::vector<char> hear(const std::string& key, int from) {
    // Polled: a wait would keep the store from the program.
    while (!plan_.store->check({prefix_ + key})) {
      TORCH_CHECK(
          std::chrono::steady_clock::now() < deadline_, "checkpoint::save: rank ", from,
          " has not written its part within ", plan_.timeout.count() / 1000., " s; the old checkpoint stays");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const auto bytes = plan_.store->get(prefix_ + key);
    return std::vector<char>(bytes.begin(), bytes.end());
  }
  void forget(const std::string& key) {
    plan_.store->deleteKey(prefix_ + key);
  }

 private:
  const Plan& plan_;
  std::string prefix_;
  std::chrono::steady_clock::time_point deadline_;
};

// A report is [true, places] or [false, the error].
std::vector<char> report(const std::function<IValue()>& work) {
  try {
    return pickle_save(c10::ivalue::Tuple::create({true, work()}));
  } catch (const std::exception& error) {
    const auto* c10_error = dynamic_cast<const c10::Error*>(&error);
    return pickle_save(c10::ivalue::Tuple::create(
        {false, std::string(c10_error ? c10_error->what_without_backtrace() : error.what())}));
  }
}

IValue result_of(const std::vector<char>& bytes, int rank) {
  const IValue pair = pickle_load(bytes);
  const auto& fields = pair.toTupleRef().elements();
  TORCH_CHECK(fields[0].toBool(), "checkpoint::save: rank ", rank, " has failed: ", fields[1].toStringRef());
  return fields[1];
}

void finish_as_first(Plan& plan, Meeting& meeting, const std::string& folder, const std::vector<char>& own) {
  const auto end = report([&] {
    for (int rank = 0; rank < plan.size; ++rank) {
      const std::string key = "part" + std::to_string(rank);
      take_places(plan.metadata, result_of(rank == 0 ? own : meeting.hear(key, rank), rank), rank);
      if (rank != 0) {
        meeting.forget(key);
      }
    }
    serialize::AtomicFile list(folder + "/.metadata");
    const std::string pickle = write_metadata(plan.metadata);
    list.write(pickle.data(), pickle.size());
    list.commit();
    put_in_place(folder, plan.folder);
    return IValue();
  });
  meeting.tell("end", end);
  meeting.forget("folder");
  try {
    result_of(end, 0);
  } catch (...) {
    remove_partial(folder);
    throw;
  }
}

void run(Plan plan) {
  Meeting meeting(plan);
  std::string folder;
  if (plan.rank == 0) {
    const auto begin = report([&] { return IValue(make_partial(plan.folder)); });
    meeting.tell("folder", begin);
    folder = result_of(begin, 0).toStringRef();
  } else {
    folder = result_of(meeting.hear("folder", 0), 0).toStringRef();
  }
  const auto own = report([&] { return write_items(plan, folder); });
  if (plan.rank == 0) {
    finish_as_first(plan, meeting, folder, own);
  } else {
    meeting.tell("part" + std::to_string(plan.rank), own);
    result_of(meeting.hear("end", 0), 0);
  }
}

// The save that a thread does for a group, if any.
struct UnderWay {
  std::mutex mutex;
  std::map<std::pair<const void*, int>, c10::intrusive_ptr<c10::ivalue::Future>> futures;
  ~UnderWay() {
    for (auto& [group, future] : futures) {
      future->wait();
    }
  }
};

UnderWay& under_way() {
  static UnderWay all;
  return all;
}

c10::intrusive_ptr<c10::ivalue::Future> take_earlier(const std::pair<const void*, int>& key) {
  UnderWay& all = under_way();
  const std::lock_guard lock(all.mutex);
  const auto found = all.futures.find(key);
  if (found == all.futures.end()) {
    return {};
  }
  auto future = std::move(found->second);
  all.futures.erase(found);
  return future;
}

std::pair<const void*, int> key_of(const GroupPtr& group) {
  const GroupPtr held = group || !is_initialized() ? group : default_group();
  return {held.get(), held ? held->getRank() : 0};
}

void wait_for_earlier(const GroupPtr& group) {
  if (const auto earlier = take_earlier(key_of(group))) {
    earlier->waitAndThrow();
  }
}

} // namespace

void save(const State& state, const std::string& folder, const GroupPtr& group, std::chrono::milliseconds timeout) {
  wait_for_earlier(group);
  run(make_plan(state, folder, group, timeout));
}

c10::intrusive_ptr<c10::ivalue::Future> async_save(
    const State& state, const std::string& folder, const GroupPtr& group, std::chrono::milliseconds timeout) {
  wait_for_earlier(group);
  auto future = c10::make_intrusive<c10::ivalue::Future>(c10::NoneType::get());
  std::thread([plan = make_plan(state, folder, group, timeout), future]() mutable {
    try {
      run(std::move(plan));
      future->markCompleted();
    } catch (...) {
      future->setError(std::current_exception());
    }
  }).detach();
  UnderWay& all = under_way();
  const std::lock_guard lock(all.mutex);
  all.futures[key_of(group)] = future;
  return future;
}

} // namespace torch::distributed::checkpoint
