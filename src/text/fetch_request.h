// One HTTP request of a download, through libcurl: it continues or begins a part file, and says how
// that went and whether another attempt may help. fetch.cc decides how often to ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "text/fetch_part.h"

struct curl_slist;

namespace wt::text {

struct RequestOptions {
  double stall_seconds = 60;  // without a byte: counts as a failure
  std::function<bool()> stopped;
  // Bytes of the file by now, and in all (-1 when not known); a few times a second.
  std::function<void(int64_t, int64_t)> moved;
};

// What the last response of a request said of itself.
struct HttpResponse {
  long status = 0;
  int64_t content_length = -1;
  int64_t range_start = -1, range_total = -1;
  std::string etag;
};

// One request: continues or begins the part file, and says how it went.
class Request {
 public:
  // `url` and `part` must outlive it.
  Request(const std::string& url, PartFile* part, RequestOptions options)
      : url_(url), part_(part), options_(std::move(options)), begun_at_(part->size()) {}

  struct Outcome {
    Status status;
    bool again = false;       // whether another attempt may help
    double wait_seconds = 0;  // that the server asked for
  };

  Outcome Run();
  bool resumed() const { return begun_at_ > 0 && response_.status == 206; }

 private:
  static size_t OnHeader(char* data, size_t one, size_t bytes, void* self);
  static size_t OnBody(char* data, size_t one, size_t bytes, void* self);
  static int OnProgress(void* self, int64_t, int64_t, int64_t, int64_t);
  void TakeHeader(std::string_view line);
  Status TakeBody(std::string_view bytes);
  Status BeginBody();
  void SetUp(void* curl, curl_slist* headers);
  Outcome Judge(int code, const char* why);
  Outcome JudgeStatus();
  int64_t Total() const {
    return response_.status == 206 ? response_.range_total : response_.content_length;
  }

  const std::string& url_;
  PartFile* part_;
  const RequestOptions options_;
  const int64_t begun_at_;
  HttpResponse response_;
  bool body_begun_ = false;
  Status failure_;  // of the file system, while the body came in
  std::chrono::steady_clock::time_point last_progress_ = std::chrono::steady_clock::now();
};

}  // namespace wt::text
