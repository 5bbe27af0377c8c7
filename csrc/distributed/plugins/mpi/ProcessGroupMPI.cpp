// ProcessGroupMPI: communicators, and the backend's name.
#include <csrc/distributed/plugins/mpi/ProcessGroupMPI.h>

#include <c10/util/Exception.h>
#include <csrc/distributed/backends/backend_registry.h>
#include <csrc/distributed/plugins/mpi/MpiCarrier.h>

#include <algorithm>
#include <functional>

namespace c10d {

using detail::MpiCarrier;
using detail::MpiRuntime;

namespace {

c10::intrusive_ptr<Backend::Options> usual_options() {
  return c10::make_intrusive<Backend::Options>(MPI_BACKEND_NAME);
}

struct World {
  int rank = 0;
  int size = 1;
  World() {
    MpiRuntime& mpi = MpiRuntime::get();
    mpi.call("MPI_Comm_rank", [&] { return MPI_Comm_rank(MPI_COMM_WORLD, &rank); });
    mpi.call("MPI_Comm_size", [&] { return MPI_Comm_size(MPI_COMM_WORLD, &size); });
  }
};

// A communicator of some ranks of all, which only they call.
MPI_Comm communicator_of(const std::vector<int>& world_ranks, int tag) {
  MpiRuntime& mpi = MpiRuntime::get();
  MPI_Group all;
  MPI_Group some;
  MPI_Comm made = MPI_COMM_NULL;
  mpi.call("MPI_Comm_group", [&] { return MPI_Comm_group(MPI_COMM_WORLD, &all); });
  mpi.call("MPI_Group_incl", [&] {
    return MPI_Group_incl(all, static_cast<int>(world_ranks.size()), world_ranks.data(), &some);
  });
  mpi.call("MPI_Comm_create_group", [&] { return MPI_Comm_create_group(MPI_COMM_WORLD, some, tag, &made); });
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return made;
}

// Ranks of a group tell one another through the store which processes of MPI they are.
c10::intrusive_ptr<Backend> make_mpi(const DistributedBackendOptions& options) {
  const World world;
  const auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(options.timeout);
  options.store->set("mpi/" + std::to_string(options.group_rank), std::to_string(world.rank));
  std::vector<int> ranks;
  for (int rank = 0; rank < options.group_size; ++rank) {
    const std::string key = "mpi/" + std::to_string(rank);
    options.store->wait({key}, timeout);
    ranks.push_back(std::stoi(options.store->get_to_str(key)));
    if (std::count(ranks.begin(), ranks.end(), ranks.back()) > 1) {
      C10_THROW_ERROR(
          DistBackendError,
          c10::str(
              "mpi: two ranks of the group are MPI's process ", ranks.back(),
              ". Start the program with mpirun or srun"));
    }
  }
  constexpr size_t tags = 32768;
  const int tag = static_cast<int>(std::hash<std::string>()(options.group_id) % tags);
  auto own = c10::make_intrusive<Backend::Options>(MPI_BACKEND_NAME, timeout);
  own->group_name = options.group_id;
  return c10::make_intrusive<ProcessGroupMPI>(
      options.group_rank, options.group_size, communicator_of(ranks, tag), options.store, own);
}

const bool registered = [] {
  detail::register_plugin_backend(MPI_BACKEND_NAME, make_mpi);
  return true;
}();

} // namespace

ProcessGroupMPI::ProcessGroupMPI(int rank, int size, MPI_Comm pgComm)
    : ProcessGroupMPI(rank, size, pgComm, nullptr, usual_options()) {}

ProcessGroupMPI::ProcessGroupMPI(
    int rank, int size, MPI_Comm pgComm, const c10::intrusive_ptr<Store>& store, c10::intrusive_ptr<Options> options)
    : QueueBackend(std::make_shared<MpiCarrier>(rank, size, pgComm), store, rank, size, std::move(options)) {
  TORCH_CHECK(pgComm != MPI_COMM_NULL, "pgComm_ must not be MPI_COMM_NULL");
}

ProcessGroupMPI::~ProcessGroupMPI() {
  stop();
}

c10::intrusive_ptr<ProcessGroupMPI> ProcessGroupMPI::createProcessGroupMPI(std::vector<int> ranks) {
  const World world;
  for (const int rank : ranks) {
    TORCH_CHECK_VALUE(
        rank >= 0 && rank < world.size && std::count(ranks.begin(), ranks.end(), rank) == 1,
        "createProcessGroupMPI: ranks must differ and be in the range [0, ", world.size, "), but got ", rank);
  }
  MPI_Comm made = MPI_COMM_NULL;
  if (ranks.empty()) {
    MpiRuntime::get().call("MPI_Comm_dup", [&] { return MPI_Comm_dup(MPI_COMM_WORLD, &made); });
    return c10::make_intrusive<ProcessGroupMPI>(world.rank, world.size, made);
  }
  const auto place = std::find(ranks.begin(), ranks.end(), world.rank);
  if (place == ranks.end()) {
    return {};
  }
  made = communicator_of(ranks, 0);
  return c10::make_intrusive<ProcessGroupMPI>(
      static_cast<int>(place - ranks.begin()), static_cast<int>(ranks.size()), made);
}

} // namespace c10d
