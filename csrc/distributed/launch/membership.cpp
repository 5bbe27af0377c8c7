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
constexpr auto kLook = std::chrono::seconds(1);
constexpr auto kFarewell = std::chrono::seconds(5);
constexpr auto kExpected = std::chrono::milliseconds(3000);
constexpr const char* kChange = "tensor-launch: machines have changed: ";
constexpr const char* kEnd = "tensor-launch: the job ends: ";
} // namespace

std::string Membership::key(const std::string& name) const {
  return c10::str("launch/", round_, "/", name);
}

bool Membership::is_change(const std::string& reason) {
  return reason.rfind(kChange, 0) == 0;
}

bool Membership::is_end(const std::string& reason) {
  return reason.rfind(kEnd, 0) == 0;
}

void Membership::pause() {
  std::this_thread::sleep_for(kPoll);
  try {
    signals_.check();
  } catch (const Interruption& interruption) {
    leave(interruption.number);
    throw;
  }
}

std::string Membership::awaited(const std::string& name) {
  const auto deadline = Clock::now() + options_.rendezvous_timeout;
  while (!store_.check({name})) {
    if (Clock::now() >= deadline) {
      C10_THROW_ERROR(
          DistStoreError,
          c10::str(
              "machine 0 at ", options_.master_addr, ":", options_.master_port, " has not begun a round for ",
              options_.rendezvous_timeout.count(), " ms: are there ", options_.min_nodes, " machines?"));
    }
    pause();
  }
  return store_.get_to_str(name);
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
    pause();
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
      round_ = std::max(round_, std::stoi(awaited("launch/round")));
    }
    const auto number = static_cast<int>(store_.add(key("joined"), 1));
    const int size = options_.node_rank == 0 ? close_round() : std::stoi(awaited(key("size")));
    if (number <= size) {
      place_ = {number - 1, size};
      break;
    }
    // Too late for this one: the others begin another.
    store_.add(key("wanted"), 1);
    const std::string old = std::to_string(round_);
    while (store_.get_to_str("launch/round") == old) {
      pause();
    }
  }
  round = round_;
  beats_.assign(static_cast<size_t>(place_.nodes), "");
  seen_.assign(static_cast<size_t>(place_.nodes), Clock::now());
  next_look_ = Clock::now();
  if (place_.nodes > 1 || elastic()) {
    heartbeat_ = std::make_unique<Heartbeat>(store_, key("beat/" + std::to_string(place_.node)), options_.lost_after);
  }
  return place_;
}

// Of a fixed number of machines some may begin long after the others; they are silent until then.
std::string Membership::silent_node() {
  for (int node = 0; node < place_.nodes; ++node) {
    const auto at = static_cast<size_t>(node);
    const std::string name = key("beat/" + std::to_string(node));
    const std::string beat = store_.check({name}) ? store_.get_to_str(name) : "";
    const bool began = elastic() || !beat.empty();
    if (node == place_.node || beat != beats_[at]) {
      beats_[at] = beat;
      seen_[at] = Clock::now();
    } else if (Clock::now() - seen_[at] > (began ? options_.lost_after : options_.rendezvous_timeout)) {
      return departure(node, !elastic(), began ? "does not answer any more" : "has not come");
    }
  }
  return "";
}

std::string Membership::departure(int node, bool ends, const std::string& how) const {
  return c10::str(ends ? kEnd : kChange, "machine ", node, " of ", place_.nodes, " ", how, "\n");
}

std::string Membership::store_lost(const std::exception& error) const {
  const auto* known = dynamic_cast<const c10::Error*>(&error);
  return c10::str(
      kEnd, "machine 0 at ", options_.master_addr, ":", options_.master_port,
      ", which has the store, does not answer any more (", known ? known->what_without_backtrace() : error.what(),
      ")\n");
}

std::string Membership::reason_to_end() {
  if (place_.nodes == 1 && !elastic()) {
    return "";
  }
  if (store_.check({key("failed")})) {
    return store_.get_to_str(key("failed"));
  }
  if (Clock::now() < next_look_) {
    return "";
  }
  next_look_ = Clock::now() + kLook;
  std::string reason = silent_node();
  if (reason.empty() && place_.nodes < options_.nnodes && store_.check({key("wanted")})) {
    reason = c10::str(kChange, "another one has come\n");
  }
  if (!reason.empty()) {
    store_.compareSet(key("failed"), "", reason);
    return store_.get_to_str(key("failed"));
  }
  return "";
}

std::string Membership::look_around() {
  try {
    return reason_to_end();
  } catch (const c10::DistNetworkError& error) {
    return store_lost(error);
  }
}

void Membership::end_round(const std::string& reason) {
  try {
    store_.compareSet(key("failed"), "", reason);
  } catch (const c10::DistNetworkError&) {
    // The others learn of the store's end as this machine does.
  }
}

void Membership::leave(int signal) {
  if (place_.nodes > 1) {
    const bool ends = !elastic() || options_.node_rank == 0; // whose store goes with it
    end_round(departure(place_.node, ends, c10::str("was ended by signal ", signal)));
  }
}

bool Membership::all_done(std::string& reason) {
  if (place_.nodes == 1) {
    return true;
  }
  try {
    store_.add(key("done"), 1);
    while (store_.add(key("done"), 0) < place_.nodes) {
      reason = reason_to_end();
      if (!reason.empty()) {
        return false;
      }
      pause();
    }
  } catch (const c10::DistNetworkError& error) {
    reason = store_lost(error);
    return false;
  }
  say_farewell();
  return true;
}

// The store lives in node 0's agent: it leaves last.
void Membership::say_farewell() {
  try {
    store_.add(key("gone"), 1);
    const auto deadline = Clock::now() + kFarewell;
    while (options_.node_rank == 0 && store_.add(key("gone"), 0) < place_.nodes && Clock::now() < deadline) {
      std::this_thread::sleep_for(kPoll);
    }
  } catch (const c10::DistNetworkError&) {
    // Everybody is done, and the store has ended before this machine could say that it goes.
  }
}

} // namespace torch::distributed::launch
