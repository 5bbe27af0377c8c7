// What backends tell each other in the store of the collectives they begin and end, and reports of ranks that lag.
#pragma once

#include <aten/core/Dict.h>
#include <aten/core/List.h>
#include <aten/core/ivalue.h>
#include <c10/util/irange.h>
#include <csrc/compat/distributed/Utils.h>
#include <csrc/distributed/store/Store.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace c10d {

/// Keys of a rank's last collective, as it begins and as it ends.
TORCH_API std::string getTraceStartKey(const std::string& pgName, int rank);
TORCH_API std::string getTraceEndKey(const std::string& pgName, int rank);
/// Writes a collective's number and name. False, with a warning, if the store fails.
TORCH_API bool traceUpdate(
    c10::intrusive_ptr<Store>& store, const std::string& key, uint64_t seq, const std::string& col);
/// Reads them back. False, with a warning, if the store fails or holds something else.
TORCH_API bool parseTraceValue(
    c10::intrusive_ptr<Store>& store, const std::string& key, uint64_t& seq, std::string& col);

enum TraceDebugEvent {
  kEventStart,
  kEventEnd,
};
/// By number, then rank: the name of the collective, and whether it has ended.
using TraceMap = std::map<uint64_t, std::map<int, std::pair<std::string, TraceDebugEvent>>>;

/// "0, 2, 5".
TORCH_API std::string ranksToString(const std::vector<int>& ranks);
TORCH_API std::string ranksFromTrace(const std::vector<std::pair<int, std::string>>& items);
/// "[0, 2, 5]".
TORCH_API std::string ranks_str(const std::vector<uint64_t>& ranks);
/// Parts of a report, in lines that begin with "\n\t".
TORCH_API std::string analyzeMissingRanks(const std::vector<int>& missingRanks);
TORCH_API std::string analyzeLaggingRanks(const TraceMap& traceMap);
TORCH_API std::string dumpSnapshot(TraceMap& traceMap);
/// What the store's entries say about a collective of `myRank` that timed out: the ranks that have not begun any, or
/// those behind and the state of all.
TORCH_API std::string retrieveDesyncReport(
    c10::intrusive_ptr<Store>& store, const std::string& pgName, int myRank, int worldSize);

/// The pickle of a value.
TORCH_API std::string pickle_str(const c10::IValue& v);
/// The C++ stack of the caller; there are no Python frames.
TORCH_API std::string get_python_cpp_trace();
TORCH_API c10::Dict<c10::IValue, c10::IValue> new_dict();
TORCH_API c10::List<c10::IValue> new_list();

} // namespace c10d
