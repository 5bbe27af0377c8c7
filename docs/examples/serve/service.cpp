#include "service.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>

namespace llm = torch::llm;

namespace {

// How soon a client that has gone away is noticed.
constexpr std::chrono::milliseconds kPollInterval(50);

std::shared_ptr<const llm::Model> load_model(const Options& options) {
  llm::LoadOptions load = options.load;
  load.progress = [](double share) { std::fprintf(stderr, "\rloading: %3.0f %%", 100 * share); };
  auto model = llm::load(options.folder, load);
  std::fprintf(stderr, "\rloaded %.1f MB of weights\n", static_cast<double>(model->nbytes()) / 1e6);
  return model;
}

std::optional<llm::ChatTemplate> load_template(const std::string& folder) {
  try {
    return llm::ChatTemplate::load(folder);
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "only /v1/completions: %s\n", error.what_without_backtrace());
    return std::nullopt;
  }
}

std::string hex(uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

uint64_t random_seed() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return random();
}

void fail(httplib::Response& response, const ApiError& error) {
  response.status = error.status();
  if (error.status() == 429 || error.status() == 503) {
    response.set_header("Retry-After", "1");
  }
  response.set_content(error.to_json(), "application/json");
}

// Runs what reads a request; what it throws is the client's fault, but for what only a program can do wrong.
template <class Call>
void guarded(httplib::Response& response, const Call& call) {
  try {
    call();
  } catch (const ApiError& error) {
    fail(response, error);
  } catch (const c10::OutOfMemoryError& error) {
    fail(response, ApiError(500, "out_of_memory", error.what_without_backtrace()));
  } catch (const c10::Error& error) {
    fail(response, ApiError(400, "invalid_request", error.what_without_backtrace()));
  } catch (const std::exception& error) {
    fail(response, ApiError(500, "internal_error", error.what()));
  }
}

} // namespace

class Service::Places {
 public:
  Places(Service& service, int64_t count) : service_(service), count_(count) {
    if (service_.active_.fetch_add(count) + count > service_.places()) {
      service_.active_ -= count;
      throw ApiError(
          429, "queue_full",
          "there are " + std::to_string(service_.places()) + " answers in work already: try again later");
    }
  }
  ~Places() {
    service_.active_ -= count_;
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

 private:
  Service& service_;
  int64_t count_;
};

// An answer on its way to a client.
struct Service::Session {
  Places places;
  Answer answer;

  // Writes what there is; false when the client has gone away.
  bool step(httplib::DataSink& sink, bool is_stream) {
    if (!sink.is_writable()) {
      return false;
    }
    std::string text;
    bool is_done = true;
    try {
      answer.poll(kPollInterval);
      is_done = answer.is_finished();
      text = is_stream ? answer.take_events() : is_done ? answer.to_json() : "";
    } catch (const c10::Error& error) {
      // The status has been sent.
      const std::string body = ApiError(500, "model_failed", error.what_without_backtrace()).to_json();
      text = is_stream ? "data: " + body + "\n\n" : body;
    }
    if (!text.empty() && !sink.write(text.data(), text.size())) {
      return false;
    }
    if (is_done) {
      sink.done();
    }
    return true;
  }
};

Service::Service(const Options& options)
    : options_(options),
      started_(std::time(nullptr)),
      model_(load_model(options)),
      tokenizer_(llm::Tokenizer::load(options.folder)),
      template_(load_template(options.folder)),
      engine_(model_, options.engine) {
  context_.model_name = options.name;
  context_.tokenizer = &tokenizer_;
  context_.chat_template = template_ ? &*template_ : nullptr;
  context_.token_bytes = std::make_shared<llm::TokenBytes>(tokenizer_);
  context_.stop_tokens = model_->config().eos_tokens;
  context_.context = std::min(model_->config().max_position, engine_.num_blocks() * options.engine.block_size);
  context_.default_tokens = options.default_tokens;
  context_.max_choices = places();
  engine_.start();
}

Json Service::model_entry() const {
  return Json(Json::Object{
      {"id", text(options_.name)},
      {"object", text("model")},
      {"created", Json(started_)},
      {"owned_by", text("libtensor")},
      {"max_model_len", Json(context_.context)}});
}

std::string Service::health() const {
  return Json(Json::Object{
                  {"status", text(is_ending_ ? "ending" : "ok")},
                  {"active", Json(active())},
                  {"running", Json(engine_.running())},
                  {"waiting", Json(engine_.waiting())},
                  {"free_blocks", Json(engine_.free_blocks())},
                  {"num_blocks", Json(engine_.num_blocks())}})
      .to_string();
}

Answer Service::start(const CompletionRequest& request) {
  std::vector<Choice> choices;
  uint64_t seed = request.seed.value_or(random_seed());
  for (const std::vector<int64_t>& prompt : request.prompts) {
    llm::GenerateOptions generate = request.generate;
    const int64_t room = context_.context - static_cast<int64_t>(prompt.size());
    generate.max_new_tokens = std::min(generate.max_new_tokens, room);
    for (int64_t i = 0; i < request.n; ++i) {
      generate.sampler.seed = seed++;
      choices.emplace_back(engine_.submit(prompt, generate), tokenizer_, request.answer);
    }
  }
  const char* const kind = request.endpoint == Endpoint::Chat ? "chatcmpl-" : "cmpl-";
  const AnswerHead head{kind + hex(random_seed()), options_.name, std::time(nullptr)};
  return Answer(head, request, tokenizer_, std::move(choices));
}

void Service::complete(const httplib::Request& http, httplib::Response& response, Endpoint endpoint) {
  if (is_ending_) {
    throw ApiError(503, "ending", "this server is about to end");
  }
  const CompletionRequest request = read_request(http.body, endpoint, context_);
  const auto count = static_cast<int64_t>(request.prompts.size()) * request.n;
  const auto session = std::shared_ptr<Session>(new Session{Places(*this, count), start(request)});
  response.status = 200;
  const auto provider = [session, is_stream = request.stream](size_t, httplib::DataSink& sink) {
    return session->step(sink, is_stream);
  };
  const char* const type = request.stream ? "text/event-stream" : "application/json";
  if (request.stream) {
    response.set_header("Cache-Control", "no-cache");
  }
  if (http.version == "HTTP/1.0") { // knows no chunks
    response.set_content_provider(type, provider);
  } else {
    response.set_chunked_content_provider(type, provider);
  }
}

void Service::attach(httplib::Server& server) {
  using httplib::Request;
  using httplib::Response;
  const auto reply = [](Response& response, const std::string& body) {
    response.set_content(body, "application/json");
  };
  server.Get("/health", [this, reply](const Request&, Response& response) { reply(response, health()); });
  server.Get("/v1/models", [this, reply](const Request&, Response& response) {
    reply(
        response, Json(Json::Object{{"object", text("list")}, {"data", Json(Json::Array{model_entry()})}}).to_string());
  });
  server.Get("/v1/models/(.{1,200})", [this, reply](const Request& request, Response& response) {
    if (request.matches[1] == options_.name) {
      reply(response, model_entry().to_string());
    } else {
      fail(response, ApiError(404, "model_not_found", "there is no such model: this is " + options_.name, "model"));
    }
  });
  for (const auto& [path, endpoint] :
       {std::pair("/v1/completions", Endpoint::Completions), {"/v1/chat/completions", Endpoint::Chat}}) {
    server.Post(path, [this, endpoint = endpoint](const Request& request, Response& response) {
      guarded(response, [&] { complete(request, response, endpoint); });
    });
  }
  // What httplib refuses by itself: unknown paths, bodies that are too long, what is no HTTP.
  server.set_error_handler([](const Request& request, Response& response) {
    if (response.body.empty()) {
      const std::string what = response.status == 404
          ? "unknown request: " + request.method.substr(0, 20) + " " + request.path.substr(0, 200)
          : response.status == 413 ? "the request is too long"
                                   : "the request cannot be read";
      fail(response, ApiError(response.status, response.status == 404 ? "unknown_url" : "bad_request", what));
    }
  });
}
