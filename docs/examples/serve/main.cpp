// Answers HTTP requests in OpenAI's form with a language model: many at once, with continuous batching.
#include "options.h"
#include "service.h"

#include <csignal>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>

namespace {

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// Waits until nothing runs any more, the time is over or another signal has come.
void let_finish(const Service& service, int64_t seconds, const sigset_t& signals) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  constexpr timespec kInterval{0, 20'000'000};
  while (service.active() > 0 && std::chrono::steady_clock::now() < end) {
    if (sigtimedwait(&signals, nullptr, &kInterval) > 0) {
      return;
    }
  }
}

void configure(httplib::Server& server, const Options& options, int64_t places) {
  // A thread for each answer, and some that can say that there is no place.
  server.new_task_queue = [places] { return new httplib::ThreadPool(static_cast<size_t>(places) + 16); };
  server.set_payload_max_length(static_cast<size_t>(options.body_limit));
  server.set_tcp_nodelay(true);
  server.set_keep_alive_max_count(10000);
  server.set_keep_alive_timeout(5);
  server.set_read_timeout(10);
  server.set_write_timeout(10);
}

int run(int argc, char** argv) {
  const Options options = parse_options(argc, argv);
  // Before other threads begin, which inherit it: signals are for this one.
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Service service(options);
  httplib::Server server;
  configure(server, options, service.places());
  service.attach(server);
  const int port = options.port == 0                    ? server.bind_to_any_port(options.host)
      : server.bind_to_port(options.host, options.port) ? options.port
                                                        : -1;
  if (port < 0) {
    throw std::invalid_argument("cannot listen at " + options.host + ":" + std::to_string(options.port));
  }
  std::thread listener([&] { server.listen_after_bind(); });
  std::cout << "http://" << options.host << ":" << port << "/v1 answers for " << options.name << std::endl;
  int signal = 0;
  sigwait(&signals, &signal);
  service.refuse_more();
  let_finish(service, options.grace, signals);
  server.stop();
  listener.join();
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << "\n\n" << kUsage;
  } catch (const c10::Error& error) {
    std::cerr << error.what_without_backtrace() << '\n';
  }
  return 1;
}
