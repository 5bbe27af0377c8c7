#include <c10/util/thread_name.h>

#include <pthread.h>

namespace c10 {

namespace {
constexpr size_t kMaxLength = 16; // with the terminating zero; longer names are refused
}

void setThreadName(std::string name) {
  name.resize(name.size() < kMaxLength ? name.size() : kMaxLength - 1);
  pthread_setname_np(pthread_self(), name.c_str());
}

std::string getThreadName() {
  char name[kMaxLength] = {};
  pthread_getname_np(pthread_self(), name, sizeof(name));
  return name;
}

} // namespace c10
