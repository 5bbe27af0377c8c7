// What TCPStore's clients and server say to each other: the form of PyTorch 2.15, so that its processes can take part.
//
// A request is one byte of Query and its arguments; numbers are little-endian, text and bytes come after a length of
// eight bytes, lists after a count of eight.
#pragma once

#include <cstddef>
#include <cstdint>

namespace c10d::detail {

enum class Query : uint8_t {
  VALIDATE = 0, // the first of all: kMagic; no answer
  SET = 1, // key, value; no answer
  COMPARE_SET = 2, // key, expected, desired -> value
  GET = 3, // key -> value
  ADD = 4, // key, number -> number
  CHECK = 5, // keys -> byte: 0 if all are there
  WAIT = 6, // keys -> byte: kStopWaiting when all are there
  GETNUMKEYS = 7, // -> number
  DELETE_KEY = 8, // key -> number: 1 if it was there
  APPEND = 9, // key, value; no answer
  MULTI_GET = 10, // keys -> values, without a count
  MULTI_SET = 11, // count, then key and value of each; no answer
  CANCEL_WAIT = 12, // -> byte: kWaitCanceled
  PING = 13, // four bytes -> the same
  QUEUE_PUSH = 14, // key, value; no answer
  QUEUE_POP = 15, // key -> number: 0, or 1 and the value
  QUEUE_LEN = 16, // key -> number
  LIST_KEYS = 17, // -> keys
  BARRIER = 18, // key, number of participants -> byte: kStopWaiting when as many have come
  // Not of PyTorch, whose servers end the connection: key -> WatchReport::kWatching, and from then on for each change a
  // WatchReport, key, value before, value after.
  WATCH_KEY = 128,
};

enum class WatchReport : uint8_t { kWatching = 0, kCreated = 1, kUpdated = 2, kDeleted = 3 };

constexpr uint32_t kMagic = 0x3C85F7CE;
constexpr uint8_t kStopWaiting = 0;
constexpr uint8_t kWaitCanceled = 1;

// Limits that no honest client reaches.
constexpr uint64_t kMaxKeyBytes = 64 << 10;
constexpr uint64_t kMaxValueBytes = 64 << 20;
constexpr uint64_t kMaxKeys = 128 << 10;
constexpr uint64_t kMaxRequestBytes = 256 << 20;

} // namespace c10d::detail
