// The flight recorder's entries in words, as JSON and pickled.
#include <csrc/distributed/recorder/FlightRecorder.h>
#include <csrc/distributed/recorder/trace.h>

#include <aten/core/ivalue.h>
#include <aten/core/jit_type.h>
#include <c10/util/Exception.h>
#include <csrc/serialize/pickler.h>

#include <algorithm>

namespace c10d {

namespace detail {

namespace {

const char* state_of(const TraceEntry& entry) {
  return entry.completed != 0 ? "completed" : entry.started != 0 ? "started" : "scheduled";
}

std::vector<int64_t> sizes_of(const TraceTensors::One& one) {
  return {one.sizes, one.sizes + one.dims};
}

std::string lower_name(OpType type) {
  std::string text = opTypeToString(type);
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string milliseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", static_cast<double>(ns) / 1e6);
  return text;
}

} // namespace

std::string words_of(const TraceEntry& entry) {
  std::string text = c10::str(lower_name(entry.type), " number ", entry.number);
  const TraceTensors& tensors = entry.inputs.count > 0 ? entry.inputs : entry.outputs;
  for (size_t i = 0; i < tensors.kept; ++i) {
    text += c10::str(
        i == 0 ? " of " : ", ", c10::IntArrayRef(tensors.tensors[i].sizes, tensors.tensors[i].dims), " ",
        tensors.tensors[i].dtype);
  }
  if (tensors.count > tensors.kept) {
    text += c10::str(" and ", tensors.count - tensors.kept, " more");
  }
  if (entry.completed != 0) {
    return text + ": completed in " +
        milliseconds(entry.completed - (entry.started != 0 ? entry.started : entry.created));
  }
  return text + (entry.started != 0 ? ": begun, not ended" : ": not begun");
}

} // namespace detail

namespace {

using c10::IValue;
using detail::Trace;
using detail::TraceEntry;
using detail::TraceTensors;
using Dict = c10::impl::GenericDict;

Dict new_dictionary() {
  return Dict(c10::AnyType::get(), c10::AnyType::get());
}

c10::impl::GenericList new_items() {
  return c10::impl::GenericList(c10::AnyType::get());
}

IValue sizes_value(const TraceTensors& tensors) {
  auto all = new_items();
  for (size_t i = 0; i < tensors.kept; ++i) {
    auto sizes = new_items();
    for (const int64_t size : detail::sizes_of(tensors.tensors[i])) {
      sizes.push_back(size);
    }
    all.push_back(sizes);
  }
  return all;
}

IValue dtypes_value(const TraceTensors& tensors) {
  auto all = new_items();
  for (size_t i = 0; i < tensors.kept; ++i) {
    all.push_back(std::string(c10::toString(tensors.tensors[i].dtype)));
  }
  return all;
}

Dict entry_value(const Trace& trace, const TraceEntry& entry) {
  Dict dict = new_dictionary();
  const auto group = trace.groups.find(entry.group);
  const bool known = group != trace.groups.end();
  const bool p2p = isP2POp(entry.type);
  const auto set = [&](const char* key, IValue value) { dict.insert(std::string(key), std::move(value)); };
  const auto number = static_cast<int64_t>(entry.number);
  set("record_id", static_cast<int64_t>(entry.id));
  set("pg_id", static_cast<int64_t>(entry.group));
  set("process_group",
      c10::ivalue::Tuple::create(
          {IValue(known ? group->second.name : ""), IValue(known ? group->second.description : "")}));
  set("collective_seq_id", p2p ? int64_t(0) : number);
  set("p2p_seq_id", p2p ? number : int64_t(0));
  set("op_id", static_cast<int64_t>(entry.id));
  set("profiling_name", c10::str(known ? group->second.engine : "", ":", entry.title));
  set("time_created_ns", entry.created);
  if (entry.completed != 0 && entry.started != 0) {
    set("duration_ms", static_cast<double>(entry.completed - entry.started) / 1e6);
  }
  set("input_sizes", sizes_value(entry.inputs));
  set("input_dtypes", dtypes_value(entry.inputs));
  set("output_sizes", sizes_value(entry.outputs));
  set("output_dtypes", dtypes_value(entry.outputs));
  set("state", std::string(detail::state_of(entry)));
  set("time_discovered_started_ns", entry.started != 0 ? IValue(entry.started) : IValue());
  set("time_discovered_completed_ns", entry.completed != 0 ? IValue(entry.completed) : IValue());
  set("retired", entry.completed != 0);
  set("timeout_ms", entry.timeout_ms);
  set("is_p2p", p2p);
  set("frames", new_items());
  return dict;
}

Dict trace_value(bool collectives, bool only_active) {
  const Trace trace = detail::snapshot_of_trace();
  Dict config = new_dictionary();
  Dict status = new_dictionary();
  for (const auto& [number, group] : trace.groups) {
    std::string ranks;
    for (int rank = 0; rank < group.size; ++rank) {
      ranks += (rank > 0 ? ", " : "") + std::to_string(rank);
    }
    Dict about = new_dictionary();
    about.insert(std::string("name"), group.name);
    about.insert(std::string("desc"), group.description);
    about.insert(std::string("ranks"), "[" + ranks + "]");
    config.insert(group.name, about);
    Dict counts = new_dictionary();
    counts.insert(std::string("last_enqueued_collective"), static_cast<int64_t>(group.enqueued));
    counts.insert(std::string("last_started_collective"), static_cast<int64_t>(group.started));
    counts.insert(std::string("last_completed_collective"), static_cast<int64_t>(group.completed));
    status.insert(std::to_string(number), counts);
  }
  Dict dict = new_dictionary();
  dict.insert(std::string("version"), std::string("2.10"));
  dict.insert(std::string("pg_config"), config);
  dict.insert(std::string("pg_status"), status);
  if (collectives) {
    auto entries = new_items();
    for (const auto& entry : trace.entries) {
      if (!only_active || entry.completed == 0) {
        entries.push_back(entry_value(trace, entry));
      }
    }
    dict.insert(std::string("entries"), entries);
  }
  return dict;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Values of the kinds above; the depth is theirs.
std::string json_of(const IValue& value) {
  std::string out;
  if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) {
      out += (out.empty() ? "" : ", ") + quoted(item.key().toStringRef()) + ": " + json_of(item.value());
    }
    return "{" + out + "}";
  }
  if (value.isList() || value.isTuple()) {
    const auto items = value.isTuple() ? value.toTupleRef().elements().vec() : value.toListRef().vec();
    for (const auto& item : items) {
      out += (out.empty() ? "" : ", ") + json_of(item);
    }
    return "[" + out + "]";
  }
  if (value.isString()) {
    return quoted(value.toStringRef());
  }
  if (value.isBool()) {
    return value.toBool() ? "true" : "false";
  }
  return value.isNone() ? "null" : value.isDouble() ? std::to_string(value.toDouble()) : std::to_string(value.toInt());
}

} // namespace

std::string dump_fr_trace(bool includeCollectives, bool, bool onlyActive, const std::string&) {
  torch::serialize::Pickler pickler(torch::serialize::Pickler::Style::Python);
  pickler.push(trace_value(includeCollectives, onlyActive));
  return pickler.finish();
}

std::string dump_fr_trace_json(bool includeCollectives, bool onlyActive, const std::string&) {
  return json_of(trace_value(includeCollectives, onlyActive));
}

} // namespace c10d
