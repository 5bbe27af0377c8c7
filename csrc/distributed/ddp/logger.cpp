// c10d::Logger: what a program can ask of a Reducer.
#include <csrc/distributed/ddp/logger.h>

#include <c10/util/Exception.h>

namespace c10d {

namespace {
template <class List>
std::string joined(const List& list) {
  std::string text;
  for (const auto& item : list) {
    text += (text.empty() ? "" : ", ") + c10::str(item);
  }
  return text;
}
} // namespace

Logger::Logger(std::shared_ptr<c10d::Reducer> reducer) : reducer_(std::move(reducer)) {
  TORCH_CHECK_VALUE(reducer_, "Logger: the reducer is null");
}

void Logger::set_construction_data_and_log(
    const std::string& module_name,
    const std::vector<int>& device_ids,
    int output_device,
    bool broadcast_buffers,
    bool has_sync_bn,
    bool static_graph) {
  data_.strs_map["module_name"] = module_name;
  data_.strs_map["device_ids"] = joined(device_ids);
  data_.ints_map["output_device"] = output_device;
  data_.ints_map["broadcast_buffers"] = broadcast_buffers;
  data_.ints_map["has_sync_bn"] = has_sync_bn;
  if (static_graph) {
    set_static_graph();
  }
}

void Logger::set_static_graph() {
  data_.ints_map["static_graph"] = 1;
}

void Logger::set_comm_hook(const std::string& hook) {
  data_.strs_map["comm_hook"] = hook;
}

void Logger::set_uneven_input_join() {
  data_.ints_map["join_uneven_inputs"] = 1;
}

std::vector<int64_t> Logger::get_bucket_sizes() {
  std::vector<int64_t> sizes;
  for (const auto& bucket : get_per_bucket_variable_indices()) {
    int64_t bytes = 0;
    for (const size_t n : bucket) {
      bytes += static_cast<int64_t>(reducer_->params_[n].nbytes());
    }
    sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<std::vector<size_t>> Logger::get_per_bucket_variable_indices() {
  return reducer_->core_->bucket_indices();
}

c10::DDPLoggingData Logger::get_ddp_logging_data() {
  const Reducer& reducer = *reducer_;
  int64_t bytes = 0;
  for (const auto& parameter : reducer.params_) {
    bytes += static_cast<int64_t>(parameter.nbytes());
  }
  data_.ints_map["world_size"] = reducer.process_group_->getSize();
  data_.ints_map["rank"] = reducer.process_group_->getRank();
  data_.ints_map["iteration"] = reducer.num_iterations_;
  data_.ints_map["find_unused_parameters"] = reducer.find_unused_parameters_;
  data_.ints_map["gradient_as_bucket_view"] = reducer.gradient_as_bucket_view_;
  data_.ints_map["bucket_cap_bytes"] = reducer.bucket_bytes_cap_;
  data_.ints_map["num_parameter_tensors"] = static_cast<int64_t>(reducer.params_.size());
  data_.ints_map["total_parameter_size_bytes"] = bytes;
  data_.ints_map["num_buckets_reduced"] = static_cast<int64_t>(get_bucket_sizes().size());
  data_.strs_map["backend_name"] = reducer.process_group_->getBackendName();
  data_.strs_map["bucket_sizes"] = joined(get_bucket_sizes());
  data_.strs_map["dtypes"] = c10::str(reducer.params_[0].scalar_type());
  return data_;
}

} // namespace c10d
