// What backends tell each other in the store of the collectives they begin and end.
#include <csrc/compat/distributed/TraceUtils.h>

#include <aten/core/jit_type.h>
#include <c10/util/Backtrace.h>
#include <c10/util/Logging.h>
#include <csrc/serialize/pickler.h>

#include <cstring>

namespace c10d {

namespace {

template <class Ranks>
std::string comma_separated(const Ranks& ranks) {
  std::string text;
  for (const auto rank : ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(rank);
  }
  return text;
}

// Ranks by the name of their collective, of those in one state.
std::map<std::string, std::vector<int>> by_collective(const TraceMap::mapped_type& ranks, TraceDebugEvent event) {
  std::map<std::string, std::vector<int>> found;
  for (const auto& [rank, entry] : ranks) {
    if (entry.second == event) {
      found[entry.first].push_back(rank);
    }
  }
  return found;
}

std::vector<int> ranks_in(const TraceMap::mapped_type& ranks, TraceDebugEvent event) {
  std::vector<int> found;
  for (const auto& [rank, entry] : ranks) {
    if (entry.second == event) {
      found.push_back(rank);
    }
  }
  return found;
}

struct StoredTraces {
  TraceMap by_number;
  std::vector<int> missing;
  uint64_t own_number = 0;
  std::string own_name;
};

// False if the store fails.
bool read_rank(c10::intrusive_ptr<Store>& store, const std::string& group, int rank, bool own, StoredTraces& traces) {
  if (!store->check({getTraceStartKey(group, rank)})) {
    traces.missing.push_back(rank);
    return true;
  }
  uint64_t begun = 0;
  std::string name;
  if (!parseTraceValue(store, getTraceStartKey(group, rank), begun, name)) {
    return false;
  }
  if (own) {
    traces.own_number = begun;
    traces.own_name = name;
  }
  auto& entry = traces.by_number[begun][rank];
  entry = {name, kEventStart};
  if (!store->check({getTraceEndKey(group, rank)})) {
    return true;
  }
  uint64_t ended = 0;
  if (!parseTraceValue(store, getTraceEndKey(group, rank), ended, name)) {
    return false;
  }
  entry.second = ended == begun ? kEventEnd : kEventStart;
  return true;
}

} // namespace

std::string getTraceStartKey(const std::string& pgName, int rank) {
  return pgName + "_" + std::to_string(rank) + "_trace_start";
}

std::string getTraceEndKey(const std::string& pgName, int rank) {
  return pgName + "_" + std::to_string(rank) + "_trace_end";
}

// The number's eight bytes, the name, and a zero.
bool traceUpdate(c10::intrusive_ptr<Store>& store, const std::string& key, uint64_t seq, const std::string& col) {
  std::vector<uint8_t> value(sizeof seq + col.size() + 1);
  std::memcpy(value.data(), &seq, sizeof seq);
  std::copy(col.begin(), col.end(), value.begin() + sizeof seq);
  try {
    store->set(key, value);
    return true;
  } catch (const std::exception& error) {
    LOG(ERROR) << "the store cannot take " << key << " of collective " << seq << ": " << error.what();
    return false;
  }
}

bool parseTraceValue(c10::intrusive_ptr<Store>& store, const std::string& key, uint64_t& seq, std::string& col) {
  std::vector<uint8_t> value;
  try {
    value = store->get(key);
  } catch (const std::exception& error) {
    LOG(ERROR) << "the store cannot give " << key << ": " << error.what();
    return false;
  }
  if (value.size() <= sizeof seq) {
    LOG(ERROR) << "the store has " << value.size() << " bytes for " << key << ", which needs a number and a name";
    return false;
  }
  std::memcpy(&seq, value.data(), sizeof seq);
  col.assign(value.begin() + sizeof seq, std::find(value.begin() + sizeof seq, value.end(), '\0'));
  return true;
}

std::string ranksToString(const std::vector<int>& ranks) {
  return comma_separated(ranks);
}

std::string ranksFromTrace(const std::vector<std::pair<int, std::string>>& items) {
  std::vector<int> ranks;
  for (const auto& item : items) {
    ranks.push_back(item.first);
  }
  return comma_separated(ranks);
}

std::string ranks_str(const std::vector<uint64_t>& ranks) {
  return "[" + comma_separated(ranks) + "]";
}

std::string analyzeMissingRanks(const std::vector<int>& missingRanks) {
  return c10::str(
      "\n\t - ranks [", ranksToString(missingRanks), "] have begun no collective: the others wait for them");
}

std::string analyzeLaggingRanks(const TraceMap& traceMap) {
  if (traceMap.empty()) {
    return "";
  }
  const auto& [number, ranks] = *traceMap.begin();
  const auto begun = ranks_in(ranks, kEventStart);
  const auto ended = ranks_in(ranks, kEventEnd);
  std::string report = "\n\t - the ranks that are behind:";
  if (!begun.empty()) {
    report += c10::str("\n\t   - [", ranksToString(begun), "] have begun collective #", number, " and not ended it");
  }
  if (!ended.empty()) {
    report += c10::str(
        "\n\t   - [", ranksToString(ended), "] have ended collective #", number, " and not begun #", number + 1);
  }
  return report;
}

std::string dumpSnapshot(TraceMap& traceMap) {
  std::string report = "\n\t - the last collective of each rank:";
  for (const auto& [number, ranks] : traceMap) {
    for (const auto& [name, which] : by_collective(ranks, kEventStart)) {
      report += c10::str("\n\t   #", number, " ", name, ": begun by [", ranksToString(which), "]");
    }
    for (const auto& [name, which] : by_collective(ranks, kEventEnd)) {
      report += c10::str("\n\t   #", number, " ", name, ": ended by [", ranksToString(which), "]");
    }
  }
  return report;
}

std::string retrieveDesyncReport(
    c10::intrusive_ptr<Store>& store, const std::string& pgName, int myRank, int worldSize) {
  StoredTraces traces;
  for (int rank = 0; rank < worldSize; ++rank) {
    if (!read_rank(store, pgName, rank, rank == myRank, traces)) {
      return "";
    }
  }
  TORCH_CHECK(
      !traces.own_name.empty(), "retrieveDesyncReport: rank ", myRank, " of group ", pgName,
      " has told the store of no collective: call traceUpdate with getTraceStartKey first");
  const std::string report =
      c10::str("\n\t - [", myRank, "] Timeout at collective: ", traces.own_name, ", #", traces.own_number);
  return report +
      (traces.missing.empty() ? analyzeLaggingRanks(traces.by_number) + dumpSnapshot(traces.by_number)
                              : analyzeMissingRanks(traces.missing));
}

std::string pickle_str(const c10::IValue& v) {
  torch::serialize::Pickler pickler(torch::serialize::Pickler::Style::Python);
  pickler.push(v);
  return pickler.finish();
}

std::string get_python_cpp_trace() {
  return c10::get_backtrace(1);
}

c10::Dict<c10::IValue, c10::IValue> new_dict() {
  return c10::Dict<c10::IValue, c10::IValue>(c10::AnyType::get(), c10::AnyType::get());
}

c10::List<c10::IValue> new_list() {
  return c10::List<c10::IValue>(c10::AnyType::get());
}

} // namespace c10d
