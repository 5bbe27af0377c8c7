// The arguments of tensor-launch, by the names of torchrun's.
#include <csrc/distributed/launch/agent.h>

#include <c10/util/Exception.h>

#include <charconv>
#include <thread>

namespace torch::distributed::launch {

namespace {

int whole_number(const std::string& name, const std::string& text, int lowest) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  TORCH_CHECK_VALUE(
      error == std::errc() && end == text.data() + text.size() && value >= lowest, "--", name,
      " must be a number of at least ", lowest, ", but got '", text, "'");
  return value;
}

void set_option(LaunchOptions& options, const std::string& name, const std::string& value) {
  if (name == "nproc-per-node") {
    options.nproc_per_node = value == "auto" || value == "cpu"
        ? std::max(1, static_cast<int>(std::thread::hardware_concurrency()))
        : whole_number(name, value, 1);
  } else if (name == "nnodes") {
    const size_t colon = value.find(':');
    options.min_nodes = whole_number(name, value.substr(0, colon), 1);
    options.nnodes = colon == std::string::npos ? options.min_nodes : whole_number(name, value.substr(colon + 1), 1);
    TORCH_CHECK_VALUE(
        options.min_nodes <= options.nnodes, "--nnodes must be N or MIN:MAX with MIN <= MAX, but got '", value, "'");
  } else if (name == "node-rank") {
    options.node_rank = whole_number(name, value, 0);
  } else if (name == "master-addr") {
    options.master_addr = value;
  } else if (name == "master-port") {
    options.master_port = whole_number(name, value, 0);
  } else if (name == "max-restarts") {
    options.max_restarts = whole_number(name, value, 0);
  } else if (name == "last-call") {
    options.last_call = std::chrono::seconds(whole_number(name, value, 0));
  } else if (name == "rdzv-id" || name == "run-id") {
    options.run_id = value;
  } else {
    TORCH_CHECK_VALUE(false, "unknown option --", name, "\n", usage());
  }
}

} // namespace

std::string usage() {
  return "usage: tensor-launch [options] PROGRAM [ARGUMENT...]\n"
         "  --nproc-per-node N   processes on this machine (auto: one for each core)\n"
         "  --nnodes N           machines; on each the same command with its --node-rank\n"
         "  --nnodes MIN:MAX     so many as there are: those that come later are taken in, without those that go the\n"
         "                       job begins again\n"
         "  --last-call S        seconds to wait for more than MIN (5)\n"
         "  --node-rank R        which machine this is; with MIN:MAX only machine 0, which the others meet, needs it\n"
         "  --master-addr HOST   machine 0, with --master-port PORT\n"
         "  --max-restarts N     start all processes again when one fails, up to N times\n"
         "  --run-id ID          a name for the job\n"
         "  --standalone         one machine, any free port (the default)\n";
}

LaunchOptions parse_arguments(const std::vector<std::string>& arguments) {
  LaunchOptions options;
  size_t i = 0;
  for (; i < arguments.size() && arguments[i].rfind("--", 0) == 0; ++i) {
    if (arguments[i] == "--") {
      ++i;
      break;
    }
    std::string name = arguments[i].substr(2);
    const size_t equals = name.find('=');
    std::string value = equals == std::string::npos ? "" : name.substr(equals + 1);
    name = name.substr(0, equals);
    for (char& c : name) {
      c = c == '_' ? '-' : c;
    }
    if (name == "standalone") {
      continue;
    }
    if (equals == std::string::npos) {
      TORCH_CHECK_VALUE(i + 1 < arguments.size(), "--", name, " needs a value\n", usage());
      value = arguments[++i];
    }
    set_option(options, name, value);
  }
  if (options.min_nodes < options.nnodes) {
    options.lost_after = std::chrono::seconds(5); // the others go on without it
  }
  options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  TORCH_CHECK_VALUE(!options.command.empty(), "tensor-launch needs a program to start\n", usage());
  TORCH_CHECK_VALUE(
      options.node_rank < options.nnodes || options.min_nodes < options.nnodes,
      "--node-rank must be below --nnodes, but got ", options.node_rank);
  TORCH_CHECK_VALUE(
      options.nnodes == 1 || (!options.master_addr.empty() && options.master_port > 0),
      "several machines need --master-addr and --master-port");
  return options;
}

} // namespace torch::distributed::launch
