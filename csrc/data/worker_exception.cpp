#include <csrc/data/worker_exception.h>

#include <c10/util/Exception.h>

#include <utility>

namespace torch::data {

WorkerException::WorkerException(std::exception_ptr original)
    : original_exception(std::move(original)), message("Caught exception in DataLoader worker thread.") {
  try {
    std::rethrow_exception(original_exception);
  } catch (const std::exception& error) {
    message += " Original message: " + c10::GetExceptionString(error);
  } catch (...) {
    message += " It is not a std::exception and has no message.";
  }
}

WorkerException::~WorkerException() = default;

} // namespace torch::data
