// Messages between two ranks on one host, through rings in shared memory.
#pragma once

#include <csrc/distributed/transport/SharedSegment.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <mutex>
#include <thread>

namespace c10d::detail {

/// A send or a receive. The memory must live until `done` has been called, in the messages' thread.
struct Message {
  int peer = -1; // of a receive: -1 for any
  int32_t tag = 0;
  char* data = nullptr;
  size_t size = 0;
  /// Of a send: it is over when the other rank has taken the bytes, not when they are on their way.
  bool until_taken = false;
  std::function<void(std::exception_ptr error, int peer)> done;
  SharedSegment::Clock::time_point deadline;
};

/// One thread moves all messages of a rank. Those from one rank with one tag come in order.
class ShmMessages {
 public:
  explicit ShmMessages(SharedSegment& segment);
  ~ShmMessages();

  void send(Message message);
  void receive(Message message);
  /// What has not been sent or received ends with an error.
  void stop();

 private:
  struct Header {
    uint64_t size;
    int64_t tag;
  };
  // What has come from a rank: the message whose bytes come next.
  struct Incoming {
    Header header{};
    size_t header_bytes = 0;
    size_t received = 0;
    std::list<Message>::iterator target;
    bool targeted = false;
    bool stashing = false;
  };
  struct Stashed {
    Header header;
    std::vector<char> bytes;
  };
  struct Outgoing {
    Message message;
    size_t sent = 0; // of header and data
    uint64_t end = 0; // of what was written to the ring, where all is sent
  };

  void add(std::list<Message>& list, Message message);
  void serve();
  bool progress();
  bool progress_sends(int to);
  bool progress_taken(int to);
  bool progress_receives(int from);
  bool take_stashed();
  std::list<Message>::iterator find_receive(int from, int64_t tag);
  void finish(std::list<Message>::iterator receive, int from, std::exception_ptr error);
  void fail_all(std::exception_ptr error);
  bool idle() const;
  bool awaits(int rank) const;
  bool other_receives(int from) const;
  SharedSegment::Clock::time_point next_deadline() const;

  SharedSegment& segment_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Message> new_sends_;
  std::list<Message> new_receives_;
  std::atomic<bool> has_new_{false};
  bool stopping_ = false;
  std::thread thread_;
  // Of the thread alone.
  std::vector<std::deque<Outgoing>> sends_;
  std::vector<std::deque<Outgoing>> untaken_; // sent, until they are taken
  std::list<Message> receives_;
  std::vector<Incoming> incoming_;
  std::vector<std::deque<Stashed>> stash_;
};

} // namespace c10d::detail
