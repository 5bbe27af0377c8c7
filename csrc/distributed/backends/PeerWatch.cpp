// What a rank knows of the others.
//
// Keys of the store: peer/N who rank N is, beat/N a number that it changes, failed the first failure, state/N what rank
// N was doing when it learned of that, left/N that it has ended well.
#include <csrc/distributed/backends/PeerWatch.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/transport/host_identity.h>
#include <csrc/distributed/transport/process_state.h>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace c10d {

using Clock = std::chrono::steady_clock;

namespace {
constexpr auto kLook = std::chrono::milliseconds(500);
constexpr auto kSilent = std::chrono::seconds(3);
constexpr auto kAnswers = std::chrono::milliseconds(700);
constexpr auto kStoreAnswers = std::chrono::seconds(2);
} // namespace

PeerWatch::PeerWatch(const c10::intrusive_ptr<Store>& store, int rank, int size, std::chrono::milliseconds timeout)
    : store_(store->clone()), own_store_(store->clone()), rank_(rank), size_(size), peers_(static_cast<size_t>(size)) {
  const std::string host = detail::host_identity();
  store_->set(key("peer", rank), c10::str(host, " ", ::getpid(), " ", detail::process_state(::getpid()).started));
  std::vector<std::string> keys;
  for (int other = 0; other < size; ++other) {
    keys.push_back(key("peer", other));
  }
  store_->wait(keys, timeout);
  const auto all = store_->multiGet(keys);
  for (size_t i = 0; i < peers_.size(); ++i) {
    std::istringstream text(std::string(all[i].begin(), all[i].end()));
    std::string where;
    text >> where >> peers_[i].pid >> peers_[i].started;
    peers_[i].here = where == host;
    peers_[i].seen = Clock::now();
    beats_ |= !peers_[i].here;
  }
  if (beats_) { // the store may be behind a link that is cut
    store_->setTimeout(kStoreAnswers);
    own_store_->setTimeout(kStoreAnswers);
  }
  thread_ = std::thread([this] { watch(); });
  ::pthread_setname_np(thread_.native_handle(), "peer_watch");
}

PeerWatch::~PeerWatch() {
  stop();
}

void PeerWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(stopping_, true)) {
      return;
    }
  }
  changed_.notify_all();
  thread_.join();
  try {
    own_store_->set(key("left", rank_), "1");
  } catch (const std::exception&) {
    // The store's server has ended before; nobody reads it any more.
  }
}

std::string PeerWatch::key(const char* kind, int rank) const {
  return c10::str("watch/", kind, "/", rank);
}

void PeerWatch::set_state(std::string state, bool waiting) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  if (waiting && !waiting_) {
    for (auto& peer : peers_) {
      peer.seen = Clock::now();
    }
  }
  waiting_ = waiting;
}

void PeerWatch::on_failure(std::function<void(const std::string&)> callback) {
  const std::lock_guard lock(mutex_);
  callback_ = std::move(callback);
}

void PeerWatch::watch() {
  auto answered = Clock::now(); // by the store
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    try {
      look_around();
      answered = Clock::now();
    } catch (const std::exception&) {
      find_store_again(answered);
    }
    lock.lock();
    changed_.wait_for(lock, kLook, [&] { return stopping_; });
  }
}

// Within a host the engine's own timeout remains where the store has ended. On another one this rank may be cut off
// from all others, which then do not wait for it any more.
void PeerWatch::find_store_again(Clock::time_point answered) {
  if (!beats_) {
    return;
  }
  try {
    store_ = store_->clone();
  } catch (const std::exception& error) {
    const auto silent = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - answered);
    bool gives_up = false;
    {
      const std::lock_guard lock(mutex_);
      gives_up = waiting_ && !failed_ && silent >= kSilent;
      store_lost_ = store_lost_ || gives_up;
    }
    if (gives_up) {
      fail(c10::str(
          "the store has not answered for ", silent.count(), " s: rank ", rank_,
          " is cut off from the machine that has it, "
          "or the store has ended (",
          error.what(), ")"));
    }
  }
}

void PeerWatch::look_around() {
  if (beats_) {
    store_->set(key("beat", rank_), std::to_string(++beat_));
  }
  bool waiting = false;
  {
    const std::lock_guard lock(mutex_);
    if (failed_) {
      return;
    }
    waiting = waiting_;
  }
  if (store_->check({"watch/failed"})) {
    fail(store_->get_to_str("watch/failed"));
  } else if (waiting) {
    const std::string lost = lost_peer();
    if (!lost.empty()) {
      fail(lost);
    }
  }
}

std::string PeerWatch::value_of(const std::string& name) {
  return store_->check({name}) ? store_->get_to_str(name) : "";
}

std::string PeerWatch::lost_peer() {
  const auto now = Clock::now();
  for (int rank = 0; rank < size_; ++rank) {
    Peer& peer = peers_[static_cast<size_t>(rank)];
    if (rank == rank_) {
      continue;
    }
    bool shows_life = true;
    std::string how = "does not answer any more";
    if (store_->check({key("left", rank)})) {
      // Who is the first to have all it needs may leave while others are at it.
      shows_life = false;
      how = "has left the group";
    } else if (peer.here) {
      const auto state = detail::process_state(peer.pid);
      if (!state.alive || state.started != peer.started) {
        return c10::str("rank ", rank, " (process ", peer.pid, ") has died");
      }
      shows_life = !state.stopped;
      how = "has been stopped";
    } else {
      const std::string beat = value_of(key("beat", rank));
      shows_life = beat != peer.beat;
      peer.beat = beat;
    }
    const std::lock_guard lock(mutex_);
    if (shows_life) {
      peer.seen = now;
    } else if (now - peer.seen > kSilent) {
      return c10::str("rank ", rank, " (process ", peer.pid, ") ", how);
    }
  }
  return "";
}

void PeerWatch::fail(const std::string& reason) {
  std::function<void(const std::string&)> callback;
  std::string state;
  {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    callback = callback_;
    state = state_;
  }
  try {
    store_->compareSet("watch/failed", "", reason);
    store_->set(key("state", rank_), state);
  } catch (const std::exception&) {
    // The others find out by themselves.
  }
  if (callback) {
    callback(reason);
  }
}

std::string PeerWatch::report(const std::string& reason) {
  std::string state;
  {
    const std::lock_guard lock(mutex_);
    state = state_;
    failed_ = true;
    if (store_lost_) {
      return "\n  (the store cannot be asked about the others)";
    }
  }
  std::string words;
  try {
    own_store_->compareSet("watch/failed", "", c10::str("rank ", rank_, " ", state, ": ", reason));
    own_store_->set(key("state", rank_), state);
    const auto deadline = Clock::now() + kAnswers;
    std::vector<int> silent;
    do {
      silent.clear();
      for (int rank = 0; rank < size_; ++rank) {
        if (!own_store_->check({key("state", rank)})) {
          silent.push_back(rank);
        }
      }
      if (!silent.empty()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    } while (!silent.empty() && Clock::now() < deadline);
    for (int rank = 0; rank < size_; ++rank) {
      const bool answers = std::find(silent.begin(), silent.end(), rank) == silent.end();
      const Peer& peer = peers_[static_cast<size_t>(rank)];
      const bool dead = peer.here && !detail::process_state(peer.pid).alive;
      words += c10::str(
          "\n  rank ", rank, " ",
          answers ? own_store_->get_to_str(key("state", rank))
                  : c10::str("(process ", peer.pid, dead ? ") has died" : ") does not answer"));
    }
  } catch (const std::exception& error) {
    words = c10::str("\n  (the store cannot be asked about the others: ", error.what(), ")");
  }
  return words;
}

} // namespace c10d
