// Whether a process lives, and runs: fields 3 and 22 of /proc/PID/stat.
#include <csrc/distributed/transport/process_state.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace c10d::detail {

ProcessState process_state(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) {
    return {};
  }
  // The second field is a name in parentheses, with anything in it.
  std::istringstream fields(line.substr(std::min(line.rfind(')') + 2, line.size())));
  std::string field;
  ProcessState state;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 3) {
      state.alive = field != "Z" && field != "X";
      state.stopped = field == "T" || field == "t";
    } else if (number == 22) {
      state.started = std::stoull(field);
    }
  }
  return state;
}

} // namespace c10d::detail
