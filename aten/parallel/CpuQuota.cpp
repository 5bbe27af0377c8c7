#include <aten/parallel/CpuQuota.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace at::internal {

namespace {

/// The least limit of those given, 0 while none is.
struct Tightest {
  int cpus = 0;

  void take(double quota, double period) {
    if (!(quota > 0 && period > 0)) {
      return; // -1 and "max" stand for no limit
    }
    const int granted = static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
    cpus = cpus == 0 ? granted : std::min(cpus, granted);
  }
};

double number_in(const std::string& path) {
  double number = 0;
  std::ifstream(path) >> number;
  return number;
}

void take_version_1(const std::string& folder, Tightest& tightest) {
  tightest.take(number_in(folder + "/cpu.cfs_quota_us"), number_in(folder + "/cpu.cfs_period_us"));
}

void take_version_2(const std::string& folder, Tightest& tightest) {
  double quota = 0, period = 0;
  std::ifstream(folder + "/cpu.max") >> quota >> period;
  tightest.take(quota, period);
}

/// A group and its parents. In a container the path may be the host's, and the limits lie at the mount itself.
template <class Take>
void take_group(const std::string& mount, std::string path, const Take& take, Tightest& tightest) {
  for (; path.size() > 1; path.resize(path.find_last_of('/'))) {
    take(mount + path, tightest);
  }
  take(mount, tightest);
}

bool names_cpu(const std::string& controllers) {
  std::istringstream list(controllers);
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "cpu") {
      return true;
    }
  }
  return false;
}

} // namespace

int cgroup_cpu_quota(const std::string& groups, const std::string& mount) {
  Tightest tightest;
  std::ifstream file(groups);
  // Lines of version 1 are ID:CONTROLLERS:PATH, and each hierarchy is mounted by the names of its controllers, or by
  // one of them; the line of version 2 is 0::PATH.
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos || line.compare(second + 1, 1, "/") != 0) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) {
      take_group(mount, path, take_version_2, tightest);
      // Beside version 1 the second is mounted here.
      take_group(mount + "/unified", path, take_version_2, tightest);
    } else if (names_cpu(controllers)) {
      take_group(mount + "/" + controllers, path, take_version_1, tightest);
      take_group(mount + "/cpu", path, take_version_1, tightest);
    }
  }
  return tightest.cpus;
}

} // namespace at::internal
