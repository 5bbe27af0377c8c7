// Which machines take part in a round.
//
// Keys of the store: launch/round which one it is; and of each round joined how many came, size how many take part,
// beat/N a number that machine N changes, wanted that somebody waits, failed why the round has ended, done how many
// have ended well.
#include <csrc/distributed/launch/membership.h>

#include <c10/util/Exception.h>

#include <algorithm>
#include <thread>

namespace torch::distributed::launch {

using Clock = std::chrono::steady_clock;

namespace {
constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr auto kBeat = std::chrono::seconds(1);
constexpr auto kSilent = std::chrono::seconds(5);
constexpr auto kExpected = std::chrono::milliseconds(3000);
constexpr const char* kChange = "tensor-launch: machines have changed: ";
} // namespace

std::string Membership::key(const std::string& name) const {
  return c10::str("launch/", round_, "/", name);
}

bool Membership::is_change(const std::string& reason) {
  return reason.rfind(kChange, 0) == 0;
}

// By node 0: waits for all, or for the least number and then a while for others: longer for those that were there in
// the last round, or have asked for this one.
int Membership::close_round() {
  int expected = 0;
  if (round_ > 0) {
    const std::string wanted = c10::str("launch/", round_ - 1, "/wanted");
    const auto newcomers = store_.check({wanted}) ? std::stoi(store_.get_to_str(wanted)) : 0;
    expected = std::min(options_.nnodes, place_.nodes + newcomers);
  }
  auto enough_since = Clock::time_point::max();
  for (;;) {
    const auto joined = static_cast<int>(store_.add(key("joined"), 0));
    if (joined >= options_.min_nodes && enough_since == Clock::time_point::max()) {
      enough_since = Clock::now();
    }
    const auto limit = options_.last_call + (joined < expected ? kExpected : std::chrono::milliseconds(0));
    const bool waited = enough_since != Clock::time_point::max() && Clock::now() - enough_since >= limit;
    if (joined >= options_.nnodes || waited) {
      const int size = std::min(joined, options_.nnodes);
      store_.set(key("size"), std::to_string(size));
      return size;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

Place Membership::join(int& round) {
  round_ = round;
  if (!elastic()) {
    place_ = {options_.node_rank, options_.nnodes};
  }
  while (elastic()) {
    if (options_.node_rank == 0) {
      store_.set("launch/round", std::to_string(round_));
    } else {
      store_.wait({"launch/round"}, options_.rendezvous_timeout);
      round_ = std::max(round_, std::stoi(store_.get_to_str("launch/round")));
    }
    const auto number = static_cast<int>(store_.add(key("joined"), 1));
    const int size = options_.node_rank == 0
        ? close_round()
        : (store_.wait({key("size")}, options_.rendezvous_timeout), std::stoi(store_.get_to_str(key("size"))));
    if (number <= size) {
      place_ = {number - 1, size};
      break;
    }
    // Too late for this one: the others begin another.
    store_.add(key("wanted"), 1);
    const std::string old = std::to_string(round_);
    while (store_.get_to_str("launch/round") == old) {
      std::this_thread::sleep_for(kPoll);
    }
  }
  round = round_;
  beats_.assign(static_cast<size_t>(place_.nodes), "");
  seen_.assign(static_cast<size_t>(place_.nodes), Clock::now());
  next_beat_ = Clock::now();
  return place_;
}

std::string Membership::silent_node() {
  for (int node = 0; node < place_.nodes; ++node) {
    const auto at = static_cast<size_t>(node);
    const std::string name = key("beat/" + std::to_string(node));
    const std::string beat = store_.check({name}) ? store_.get_to_str(name) : "";
    if (node == place_.node || beat != beats_[at]) {
      beats_[at] = beat;
      seen_[at] = Clock::now();
    } else if (Clock::now() - seen_[at] > kSilent) {
      return c10::str(kChange, "machine ", node, " of ", place_.nodes, " does not answer any more\n");
    }
  }
  return "";
}

std::string Membership::look_around() {
  if (place_.nodes > 1 || elastic()) {
    if (store_.check({key("failed")})) {
      return store_.get_to_str(key("failed"));
    }
  }
  if (!elastic() || Clock::now() < next_beat_) {
    return "";
  }
  next_beat_ = Clock::now() + kBeat;
  store_.set(key("beat/" + std::to_string(place_.node)), std::to_string(++beat_));
  std::string reason = silent_node();
  if (reason.empty() && place_.nodes < options_.nnodes && store_.check({key("wanted")})) {
    reason = c10::str(kChange, "another one has come\n");
  }
  if (!reason.empty()) {
    end_round(reason);
    return store_.get_to_str(key("failed"));
  }
  return "";
}

void Membership::end_round(const std::string& reason) {
  store_.compareSet(key("failed"), "", reason);
}

bool Membership::all_done(std::string& reason) {
  if (place_.nodes == 1) {
    return true;
  }
  store_.add(key("done"), 1);
  for (;;) {
    if (store_.add(key("done"), 0) >= place_.nodes) {
      // The store lives in node 0's agent: it leaves last.
      store_.add(key("gone"), 1);
      const auto deadline = Clock::now() + kSilent;
      while (options_.node_rank == 0 && store_.add(key("gone"), 0) < place_.nodes && Clock::now() < deadline) {
        std::this_thread::sleep_for(kPoll);
      }
      return true;
    }
    reason = look_around();
    if (!reason.empty()) {
      return false;
    }
    std::this_thread::sleep_for(kPoll);
  }
}

} // namespace torch::distributed::launch
