// From the place where processes meet to a store, a rank and a size.
#include <csrc/distributed/session/rendezvous.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/store/FileStore.h>
#include <csrc/distributed/store/HashStore.h>
#include <csrc/distributed/store/PrefixStore.h>
#include <csrc/distributed/store/TCPStore.h>

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace torch::distributed::detail {

namespace {

using StorePtr = c10::intrusive_ptr<c10d::Store>;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int number(const std::string& what, const std::string& text, int lowest, int highest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TORCH_CHECK_VALUE(
      error == std::errc() && end == text.data() + text.size() && value >= lowest && value <= highest,
      "init_process_group: ", what, " must be a number from ", lowest, " to ", highest, ", but got '", text, "'");
  return value;
}

// What a launcher calls rank and size, and what names its job.
struct Launcher {
  const char* rank;
  const char* size;
  std::initializer_list<const char*> job;
};
const Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", {}},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    {"PMI_RANK", "PMI_SIZE", {"PMI_ID_NAMESPACE", "HYDI_CONTROL_FD"}},
    {"SLURM_PROCID", "SLURM_NTASKS", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

StorePtr tcp_store(const std::string& host, int port, int rank, int size, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(port);
  options.isServer = rank == 0 && variable("TORCHELASTIC_USE_AGENT_STORE") != "True";
  options.numWorkers = static_cast<size_t>(size);
  options.waitWorkers = false;
  options.timeout = timeout;
  return c10::make_intrusive<c10d::TCPStore>(host, options);
}

// Processes of one host whose launcher names no address meet in a file that the job's name and this user have to
// themselves.
StorePtr store_of_job(const Launcher& launcher, int size) {
  std::string job;
  for (const char* name : launcher.job) {
    job += "_" + variable(name);
  }
  const auto path = std::filesystem::temp_directory_path() / c10::str("tensor_", ::getuid(), "_", ::getppid(), job);
  return c10::make_intrusive<c10d::FileStore>(path.string(), size);
}

Meeting meet_by_environment(const InitOptions& options) {
  for (const auto& launcher : kLaunchers) {
    const std::string rank = options.rank() >= 0 ? std::to_string(options.rank()) : variable(launcher.rank);
    const std::string size = options.world_size() >= 0 ? std::to_string(options.world_size()) : variable(launcher.size);
    if (rank.empty() || size.empty()) {
      TORCH_CHECK_VALUE(
          rank.empty() == size.empty(), "init_process_group: of the environment variables ", launcher.rank, " and ",
          launcher.size, " only one is set");
      continue;
    }
    Meeting meeting;
    meeting.size = number(launcher.size, size, 1, 1 << 20);
    meeting.rank = number(launcher.rank, rank, 0, meeting.size - 1);
    const std::string address = variable("MASTER_ADDR");
    if (!address.empty()) {
      const std::string port = variable("MASTER_PORT");
      TORCH_CHECK_VALUE(!port.empty(), "init_process_group: MASTER_ADDR is set, but MASTER_PORT is not");
      meeting.store =
          tcp_store(address, number("MASTER_PORT", port, 1, 65535), meeting.rank, meeting.size, options.timeout());
    } else {
      TORCH_CHECK_VALUE(
          launcher.job.size() > 0,
          "init_process_group: RANK and WORLD_SIZE are set, but MASTER_ADDR and MASTER_PORT are not. Start the program "
          "with tensor-launch, or set all four");
      meeting.store = store_of_job(launcher, meeting.size);
    }
    // Keys of an earlier run or round are never read.
    meeting.store = c10::make_intrusive<c10d::PrefixStore>(
        c10::str("run/", variable("TORCHELASTIC_RUN_ID"), "/", variable("TORCHELASTIC_RESTART_COUNT")), meeting.store);
    return meeting;
  }
  return {c10::make_intrusive<c10d::HashStore>(), 0, 1};
}

// rank and world_size, given or behind the "?" of an address, which is cut off.
Meeting numbers_of(const InitOptions& options, std::string& address) {
  int rank = options.rank();
  int size = options.world_size();
  const size_t mark = address.find('?');
  std::string query = mark == std::string::npos ? "" : address.substr(mark + 1);
  address = address.substr(0, mark);
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string part = query.substr(0, end);
    query = query.substr(std::min(end + 1, query.size()));
    const size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    TORCH_CHECK_VALUE(
        equals != std::string::npos && (name == "rank" || name == "world_size"), "init_process_group: unknown part '",
        part, "' of the address; there are rank=N and world_size=N");
    (name == "rank" ? rank : size) = number(name, part.substr(equals + 1), 0, 1 << 20);
  }
  TORCH_CHECK_VALUE(
      size >= 1 && rank >= 0 && rank < size,
      "init_process_group: needs rank and world_size, with rank in the range [0, world_size), but got ", rank, " and ",
      size);
  return {nullptr, rank, size};
}

} // namespace

Meeting meet(const InitOptions& options) {
  std::string address = options.init_method();
  if (options.store()) {
    std::string none;
    Meeting meeting = numbers_of(options, none);
    meeting.store = options.store();
    return meeting;
  }
  if (address.rfind("tcp://", 0) == 0) {
    Meeting meeting = numbers_of(options, address);
    const std::string place = address.substr(6);
    const size_t colon = place.rfind(':');
    TORCH_CHECK_VALUE(
        colon != std::string::npos && colon > 0, "init_process_group: tcp:// needs host:port, but got '", place, "'");
    std::string host = place.substr(0, colon);
    if (host.front() == '[' && host.back() == ']') {
      host = host.substr(1, host.size() - 2);
    }
    const int port = number("the port of tcp://", place.substr(colon + 1), 1, 65535);
    meeting.store = tcp_store(host, port, meeting.rank, meeting.size, options.timeout());
    return meeting;
  }
  if (address.rfind("file://", 0) == 0) {
    Meeting meeting = numbers_of(options, address);
    meeting.store = c10::make_intrusive<c10d::FileStore>(address.substr(7), meeting.size);
    return meeting;
  }
  TORCH_CHECK_VALUE(
      address.rfind("env://", 0) == 0, "init_process_group: No rendezvous handler for '", address,
      "'; there are env://, tcp://host:port and file:///path");
  return meet_by_environment(options);
}

} // namespace torch::distributed::detail
