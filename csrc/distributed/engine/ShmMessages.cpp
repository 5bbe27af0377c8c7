// Messages between two ranks: a header of size and tag, then the bytes.
//
// Bytes of a message for which no receive waits stay in the ring, and its sender waits, unless a receive of another tag
// from the same rank waits behind it: then they are put aside.
#include <csrc/distributed/engine/ShmMessages.h>

#include <c10/util/Exception.h>

#include <pthread.h>

#include <algorithm>

namespace c10d::detail {

namespace {
std::exception_ptr message_error(const std::string& text) {
  return std::make_exception_ptr(c10::DistBackendError({__func__, __FILE__, __LINE__}, text));
}
} // namespace

ShmMessages::ShmMessages(SharedSegment& segment)
    : segment_(segment),
      sends_(segment.size()),
      untaken_(segment.size()),
      incoming_(segment.size()),
      stash_(segment.size()) {}

ShmMessages::~ShmMessages() {
  stop();
}

void ShmMessages::add(std::list<Message>& list, Message message) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      C10_THROW_ERROR(DistBackendError, "shm: the group has been shut down");
    }
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { serve(); });
      ::pthread_setname_np(thread_.native_handle(), "shm_messages");
    }
    list.push_back(std::move(message));
    has_new_ = true;
  }
  changed_.notify_all();
  segment_.notify();
}

void ShmMessages::send(Message message) {
  add(new_sends_, std::move(message));
}

void ShmMessages::receive(Message message) {
  add(new_receives_, std::move(message));
}

void ShmMessages::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    has_new_ = true;
  }
  changed_.notify_all();
  segment_.notify();
  if (thread_.joinable()) {
    thread_.get_id() == std::this_thread::get_id() ? thread_.detach() : thread_.join();
  }
}

bool ShmMessages::idle() const {
  const auto all_empty = [](const auto& lists) {
    return std::all_of(lists.begin(), lists.end(), [](const auto& list) { return list.empty(); });
  };
  return receives_.empty() && all_empty(sends_) && all_empty(untaken_);
}

bool ShmMessages::awaits(int rank) const {
  const auto from = [&](const Message& m) { return m.peer == rank; };
  return !sends_[rank].empty() || !untaken_[rank].empty() || std::any_of(receives_.begin(), receives_.end(), from);
}

bool ShmMessages::other_receives(int from) const {
  return std::any_of(
      receives_.begin(), receives_.end(), [&](const Message& m) { return m.peer == from || m.peer < 0; });
}

SharedSegment::Clock::time_point ShmMessages::next_deadline() const {
  auto deadline = SharedSegment::Clock::time_point::max();
  for (const auto* lists : {&sends_, &untaken_}) {
    for (const auto& list : *lists) {
      for (const auto& outgoing : list) {
        deadline = std::min(deadline, outgoing.message.deadline);
      }
    }
  }
  for (const auto& receive : receives_) {
    deadline = std::min(deadline, receive.deadline);
  }
  return deadline;
}

void ShmMessages::serve() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || has_new_ || !idle(); });
      if (stopping_) {
        break;
      }
      has_new_ = false;
      for (auto& send : new_sends_) {
        sends_[send.peer].push_back({std::move(send)});
      }
      new_sends_.clear();
      receives_.splice(receives_.end(), new_receives_);
    }
    try {
      bool moved = false;
      segment_.wait_until(
          [&] { return (moved = progress()) || has_new_ || idle(); }, [&](int rank) { return awaits(rank); },
          [this] { return c10::str("rank ", segment_.rank(), " in send or recv"); }, next_deadline());
      if (moved) {
        segment_.notify();
      }
    } catch (const std::exception&) {
      fail_all(std::current_exception());
    }
  }
  // Nothing new comes any more.
  for (auto& send : new_sends_) {
    sends_[send.peer].push_back({std::move(send)});
  }
  receives_.splice(receives_.end(), new_receives_);
  fail_all(message_error("shm: the group was shut down before the message was sent or received"));
}

bool ShmMessages::progress() {
  bool moved = take_stashed();
  for (int rank = 0; rank < segment_.size(); ++rank) {
    moved |= progress_sends(rank);
    moved |= progress_taken(rank);
    moved |= progress_receives(rank);
  }
  return moved;
}

bool ShmMessages::progress_sends(int to) {
  bool moved = false;
  while (!sends_[to].empty()) {
    Outgoing& first = sends_[to].front();
    const Header header{first.message.size, first.message.tag};
    const size_t total = sizeof header + first.message.size;
    while (first.sent < total) {
      const bool in_header = first.sent < sizeof header;
      const char* from = in_header ? reinterpret_cast<const char*>(&header) + first.sent
                                   : first.message.data + (first.sent - sizeof header);
      const size_t n = segment_.ring_write(to, from, (in_header ? sizeof header : total) - first.sent);
      if (n == 0) {
        return moved;
      }
      first.sent += n;
      moved = true;
    }
    Outgoing sent = std::move(first);
    sends_[to].pop_front();
    moved = true;
    if (sent.message.until_taken) {
      sent.end = segment_.ring_written(to);
      untaken_[to].push_back(std::move(sent));
    } else {
      sent.message.done(nullptr, to);
    }
  }
  return moved;
}

bool ShmMessages::progress_taken(int to) {
  bool moved = false;
  while (!untaken_[to].empty() && segment_.ring_was_read(to, untaken_[to].front().end)) {
    const auto done = std::move(untaken_[to].front().message.done);
    untaken_[to].pop_front();
    done(nullptr, to);
    moved = true;
  }
  return moved;
}

std::list<Message>::iterator ShmMessages::find_receive(int from, int64_t tag) {
  return std::find_if(receives_.begin(), receives_.end(), [&](const Message& m) {
    return (m.peer == from || m.peer < 0) && m.tag == tag;
  });
}

void ShmMessages::finish(std::list<Message>::iterator receive, int from, std::exception_ptr error) {
  const auto done = std::move(receive->done);
  receives_.erase(receive);
  done(std::move(error), from);
}

bool ShmMessages::take_stashed() {
  bool moved = false;
  for (int from = 0; from < segment_.size(); ++from) {
    auto& list = stash_[from];
    for (auto stashed = list.begin(); stashed != list.end();) {
      const bool complete = stashed->bytes.size() == stashed->header.size;
      const auto receive = complete ? find_receive(from, stashed->header.tag) : receives_.end();
      if (receive == receives_.end()) {
        ++stashed;
        continue;
      }
      std::exception_ptr error;
      if (stashed->header.size == receive->size) {
        std::copy(stashed->bytes.begin(), stashed->bytes.end(), receive->data);
      } else {
        error = message_error(c10::str(
            "shm: rank ", from, " sent ", stashed->header.size, " bytes, but rank ", segment_.rank(), " receives ",
            receive->size));
      }
      stashed = list.erase(stashed);
      finish(receive, from, error);
      moved = true;
    }
  }
  return moved;
}

bool ShmMessages::progress_receives(int from) {
  Incoming& in = incoming_[from];
  bool moved = false;
  for (;;) {
    if (in.header_bytes < sizeof in.header) {
      const size_t n = segment_.ring_read(
          from, reinterpret_cast<char*>(&in.header) + in.header_bytes, sizeof in.header - in.header_bytes);
      in.header_bytes += n;
      moved |= n > 0;
      if (in.header_bytes < sizeof in.header) {
        return moved;
      }
    }
    if (!in.targeted && !in.stashing) {
      in.target = find_receive(from, in.header.tag);
      if (in.target != receives_.end() && in.target->size == in.header.size) {
        in.targeted = true;
        in.target->tag = -1 - in.target->tag; // taken: no other message matches it
        in.target->peer = from;
      } else if (in.target != receives_.end() || other_receives(from)) {
        in.stashing = true;
        stash_[from].push_back({in.header, {}});
      } else {
        return moved;
      }
    }
    while (in.received < in.header.size) {
      char piece[4096];
      char* to = in.targeted ? in.target->data + in.received : piece;
      const size_t n = segment_.ring_read(
          from, to, std::min<size_t>(in.header.size - in.received, in.targeted ? SIZE_MAX : sizeof piece));
      if (n == 0) {
        return moved;
      }
      if (in.stashing) {
        auto& bytes = stash_[from].back().bytes;
        bytes.insert(bytes.end(), piece, piece + n);
      }
      in.received += n;
      moved = true;
    }
    const bool targeted = in.targeted;
    const auto target = in.target;
    in = Incoming();
    moved = true;
    if (targeted) {
      finish(target, from, nullptr);
    } else {
      take_stashed();
    }
  }
}

void ShmMessages::fail_all(std::exception_ptr error) {
  for (auto* lists : {&untaken_, &sends_}) {
    for (auto& list : *lists) {
      for (auto& outgoing : std::exchange(list, {})) {
        outgoing.message.done(error, outgoing.message.peer);
      }
    }
  }
  for (auto& receive : std::exchange(receives_, {})) {
    receive.done(error, receive.peer);
  }
  for (auto& in : incoming_) {
    in.targeted = false;
  }
}

} // namespace c10d::detail
