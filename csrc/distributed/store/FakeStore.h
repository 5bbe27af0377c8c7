// FakeStore: a store that keeps nothing, for groups whose other ranks do not exist.
#pragma once

#include <csrc/distributed/store/Store.h>

namespace c10d {

/// Every call succeeds at once and does nothing.
class FakeStore : public Store {
 public:
  using Store::set;

  c10::intrusive_ptr<Store> clone() override {
    return c10::make_intrusive<FakeStore>();
  }
  void set(const std::string&, const std::vector<uint8_t>&) override {}
  std::vector<uint8_t> get(const std::string&) override {
    return {};
  }
  int64_t add(const std::string&, int64_t value) override {
    return value;
  }
  bool deleteKey(const std::string&) override {
    return true;
  }
  bool check(const std::vector<std::string>&) override {
    return true;
  }
  int64_t getNumKeys() override {
    return 0;
  }
  void wait(const std::vector<std::string>&) override {}
  void wait(const std::vector<std::string>&, const std::chrono::milliseconds&) override {}
};

} // namespace c10d
