#include <csrc/optim/step_count.h>

#include <aten/Functions.h>

namespace torch::optim::detail {

StepCount& StepCount::operator=(const StepCount& other) {
  number_ = other.get();
  if (there_.defined()) {
    there_.fill_(number_);
    last_read_ = number_;
  }
  return *this;
}

void StepCount::read() const {
  if (there_.defined() && number_ == last_read_) {
    number_ = last_read_ = there_.item<int64_t>();
  }
}

const int64_t& StepCount::get() const {
  read();
  return number_;
}
int64_t& StepCount::get() {
  read();
  return number_;
}

const at::Tensor& StepCount::on_device(c10::Device device) {
  if (!there_.defined() || there_.device() != device) {
    // A copy from the host, which a capture refuses: a fill would be part of its graph, and begin anew each time.
    there_ = at::scalar_tensor(static_cast<double>(get()), at::kFloat).to(device);
  } else if (number_ != last_read_) {
    there_.fill_(number_);
  }
  last_read_ = number_;
  return there_;
}

} // namespace torch::optim::detail
