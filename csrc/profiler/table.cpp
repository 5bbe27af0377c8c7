// Sums by operator, and their table.
#include <c10/util/Exception.h>
#include <csrc/profiler/results.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

namespace torch::profiler {

namespace {

std::string text_of_time(double ns) {
  if (ns >= 1e9) {
    return fmt::format("{:.3f}s", ns / 1e9);
  }
  return ns >= 1e6 ? fmt::format("{:.3f}ms", ns / 1e6) : fmt::format("{:.3f}us", ns / 1e3);
}

std::string text_of_bytes(int64_t bytes) {
  constexpr double kKilo = 1024, kMega = 1024 * kKilo, kGiga = 1024 * kMega;
  const double size = std::abs(static_cast<double>(bytes));
  if (size >= kGiga) {
    return fmt::format("{:.2f} Gb", static_cast<double>(bytes) / kGiga);
  }
  if (size >= kMega) {
    return fmt::format("{:.2f} Mb", static_cast<double>(bytes) / kMega);
  }
  return size >= kKilo ? fmt::format("{:.2f} Kb", static_cast<double>(bytes) / kKilo) : fmt::format("{} b", bytes);
}

std::string text_of_share(int64_t part, int64_t whole) {
  return whole > 0 ? fmt::format("{:.2f}%", 100 * static_cast<double>(part) / static_cast<double>(whole)) : "NaN";
}

double average_ns(const OperatorSummary& summary) {
  return static_cast<double>(summary.total_ns) / static_cast<double>(summary.calls);
}

bool comes_before(const OperatorSummary& a, const OperatorSummary& b, SortBy sort_by) {
  switch (sort_by) {
    case SortBy::kSelfTime:
      return a.self_ns > b.self_ns;
    case SortBy::kTotalTime:
      return a.total_ns > b.total_ns;
    case SortBy::kAverageTime:
      return average_ns(a) > average_ns(b);
    case SortBy::kCalls:
      return a.calls > b.calls;
    case SortBy::kSelfMemory:
      return a.self_cpu_bytes + a.self_device_bytes > b.self_cpu_bytes + b.self_device_bytes;
    case SortBy::kTotalMemory:
      return a.total_cpu_bytes + a.total_device_bytes > b.total_cpu_bytes + b.total_device_bytes;
    case SortBy::kName:
      return a.name < b.name;
  }
  TORCH_CHECK(false, "torch::profiler::Profile::table: ", static_cast<int>(sort_by), " is no SortBy");
}

// Cells under headings, the first column to the left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) {
    add(std::move(headings));
  }
  void add(std::vector<std::string> row) {
    rows_.push_back(std::move(row));
  }
  std::string text() const {
    std::vector<size_t> widths(rows_[0].size(), 0);
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        widths[i] = std::max(widths[i], row[i].size());
      }
    }
    std::string rule;
    for (const size_t width : widths) {
      rule += std::string(width, '-') + "  ";
    }
    rule += '\n';
    std::string out = rule;
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); ++i) {
        out += i == 0 ? fmt::format("{:<{}}  ", row[i], widths[i]) : fmt::format("{:>{}}  ", row[i], widths[i]);
      }
      out += '\n';
      if (&row == &rows_[0]) {
        out += rule;
      }
    }
    return out + rule;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

} // namespace

std::vector<OperatorSummary> Profile::key_averages(bool group_by_shapes) const {
  const std::vector<ProfileEvent>& events = results().events;
  // Bytes with those of the calls inside; these start later.
  std::vector<int64_t> cpu_bytes(events.size()), device_bytes(events.size());
  for (size_t i = events.size(); i-- > 0;) {
    cpu_bytes[i] += events[i].self_cpu_bytes;
    device_bytes[i] += events[i].self_device_bytes;
    if (events[i].parent >= 0) {
      cpu_bytes[static_cast<size_t>(events[i].parent)] += cpu_bytes[i];
      device_bytes[static_cast<size_t>(events[i].parent)] += device_bytes[i];
    }
  }

  std::vector<OperatorSummary> summaries;
  std::unordered_map<std::string, size_t> place;
  std::vector<size_t> summary_of(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const ProfileEvent& event = events[i];
    const std::string shapes = group_by_shapes ? text_of_shapes(event.shapes) : std::string();
    const auto [found, fresh] = place.emplace(event.name + '\n' + shapes, summaries.size());
    if (fresh) {
      summaries.emplace_back();
      summaries.back().name = event.name;
      summaries.back().shapes = shapes;
    }
    summary_of[i] = found->second;
    OperatorSummary& summary = summaries[found->second];
    ++summary.calls;
    summary.self_ns += event.self_ns;
    summary.self_cpu_bytes += event.self_cpu_bytes;
    summary.self_device_bytes += event.self_device_bytes;
    bool inside_itself = false;
    for (int64_t above = event.parent; above >= 0 && !inside_itself;
         above = events[static_cast<size_t>(above)].parent) {
      inside_itself = summary_of[static_cast<size_t>(above)] == found->second;
    }
    if (!inside_itself) {
      summary.total_ns += event.end_ns - event.start_ns;
      summary.total_cpu_bytes += cpu_bytes[i];
      summary.total_device_bytes += device_bytes[i];
    }
  }
  return summaries;
}

std::string Profile::table(SortBy sort_by, size_t row_limit, bool group_by_shapes) const {
  const Results& found = results();
  TORCH_CHECK(
      !group_by_shapes || found.has_shapes,
      "torch::profiler::Profile::table: shapes were not recorded; set ProfileOptions().record_shapes(true)");
  std::vector<OperatorSummary> summaries = key_averages(group_by_shapes);
  std::stable_sort(summaries.begin(), summaries.end(), [&](const OperatorSummary& a, const OperatorSummary& b) {
    return comes_before(a, b, sort_by);
  });
  int64_t whole = 0;
  bool devices = false;
  for (const OperatorSummary& summary : summaries) {
    whole += summary.self_ns;
    devices = devices || summary.total_device_bytes != 0 || summary.self_device_bytes != 0;
  }

  std::vector<std::string> headings = {"Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"};
  if (found.has_memory) {
    headings.insert(headings.end(), {"CPU Mem", "Self CPU Mem"});
    if (devices) {
      headings.insert(headings.end(), {"Device Mem", "Self Device Mem"});
    }
  }
  headings.push_back("# of Calls");
  if (group_by_shapes) {
    headings.push_back("Input Shapes");
  }
  TextTable table(std::move(headings));
  for (size_t i = 0; i < std::min(row_limit, summaries.size()); ++i) {
    const OperatorSummary& summary = summaries[i];
    std::vector<std::string> row = {
        summary.name,
        text_of_share(summary.self_ns, whole),
        text_of_time(static_cast<double>(summary.self_ns)),
        text_of_share(summary.total_ns, whole),
        text_of_time(static_cast<double>(summary.total_ns)),
        text_of_time(average_ns(summary))};
    if (found.has_memory) {
      row.insert(row.end(), {text_of_bytes(summary.total_cpu_bytes), text_of_bytes(summary.self_cpu_bytes)});
      if (devices) {
        row.insert(row.end(), {text_of_bytes(summary.total_device_bytes), text_of_bytes(summary.self_device_bytes)});
      }
    }
    row.push_back(std::to_string(summary.calls));
    if (group_by_shapes) {
      row.push_back(summary.shapes);
    }
    table.add(std::move(row));
  }

  std::string out = table.text() + "Self CPU time total: " + text_of_time(static_cast<double>(whole)) + '\n';
  if (found.has_memory && found.outside_cpu_bytes != 0) {
    out += "CPU memory outside of all calls: " + text_of_bytes(found.outside_cpu_bytes) + '\n';
  }
  if (found.dropped != 0) {
    out += fmt::format("{} events were too many and are missing; see ProfileOptions::max_events\n", found.dropped);
  }
  return out;
}

} // namespace torch::profiler
