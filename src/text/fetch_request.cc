#include "text/fetch_request.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

namespace wt::text {
namespace {

using Clock = std::chrono::steady_clock;

constexpr long kMaxRedirects = 5;
constexpr auto kProgressEvery = std::chrono::milliseconds(200);
static_assert(sizeof(curl_off_t) == sizeof(int64_t));

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || value < 0) return std::nullopt;
  return value;
}

// "bytes 10-19/20" or "bytes */20".
void ParseContentRange(std::string_view text, HttpResponse* response) {
  if (!text.starts_with("bytes ")) return;
  text.remove_prefix(6);
  response->range_start = ParseCount(text).value_or(-1);
  const size_t slash = text.find('/');
  if (slash != text.npos) response->range_total = ParseCount(text.substr(slash + 1)).value_or(-1);
}

}  // namespace

size_t Request::OnHeader(char* data, size_t, size_t bytes, void* self) {
  static_cast<Request*>(self)->TakeHeader({data, bytes});
  return bytes;
}

size_t Request::OnBody(char* data, size_t, size_t bytes, void* self) {
  auto* request = static_cast<Request*>(self);
  request->failure_ = request->TakeBody({data, bytes});
  return request->failure_.ok() ? bytes : 0;
}

int Request::OnProgress(void* self, int64_t, int64_t, int64_t, int64_t) {
  auto* request = static_cast<Request*>(self);
  if (request->options_.stopped && request->options_.stopped()) return 1;
  if (Clock::now() - request->last_progress_ >= kProgressEvery) {
    request->last_progress_ = Clock::now();
    if (request->options_.moved) request->options_.moved(request->part_->size(), request->Total());
  }
  return 0;
}

void Request::TakeHeader(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // of a redirect or of the answer: the last one counts
    response_ = HttpResponse();
    const size_t blank = line.find(' ');
    if (blank != line.npos) response_.status = ParseCount(line.substr(blank + 1)).value_or(0);
    return;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return;
  std::string name(line.substr(0, colon));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  if (name == "content-length") response_.content_length = ParseCount(value).value_or(-1);
  if (name == "content-range") ParseContentRange(value, &response_);
  if (name == "etag" && value.starts_with('"')) response_.etag = value;  // weak ones cannot resume
}

Status Request::BeginBody() {
  if (response_.status == 206 && response_.range_start == part_->size()) return {};
  if (response_.status == 206) {
    return Error(Code::kIo, "{} answered with bytes from {} where {} was asked for", url_,
                 response_.range_start, part_->size());
  }
  WT_RETURN_IF_ERROR(part_->Clear());  // a server without ranges sends the whole
  part_->SetEtag(response_.etag);
  return {};
}

Status Request::TakeBody(std::string_view bytes) {
  if (response_.status != 200 && response_.status != 206) return {};  // an error page
  if (!body_begun_) WT_RETURN_IF_ERROR(BeginBody());
  body_begun_ = true;
  return part_->Append(bytes);
}

void Request::SetUp(void* curl, curl_slist* headers) {
  const bool secure = url_.starts_with("https://");
  curl_easy_setopt(curl, CURLOPT_URL, url_.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMaxRedirects);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "windtunnel");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                   std::max(1L, static_cast<long>(options_.stall_seconds)));
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
}

Request::Outcome Request::Run() {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  std::unique_ptr<CURL, void (*)(CURL*)> curl(global == CURLE_OK ? curl_easy_init() : nullptr,
                                              curl_easy_cleanup);
  if (!curl) return {Error(Code::kIo, "libcurl cannot be started")};
  curl_slist* headers = nullptr;
  const std::string etag = part_->etag();
  if (begun_at_ > 0 && !etag.empty())
    headers = curl_slist_append(headers, ("If-Range: " + etag).c_str());
  SetUp(curl.get(), headers);
  char why[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, why);
  const std::string range = fmt::format("{}-", begun_at_);
  if (begun_at_ > 0) curl_easy_setopt(curl.get(), CURLOPT_RANGE, range.c_str());
  const CURLcode code = curl_easy_perform(curl.get());
  Outcome outcome = Judge(code, *why ? why : curl_easy_strerror(code));
  curl_off_t wait = 0;
  if (curl_easy_getinfo(curl.get(), CURLINFO_RETRY_AFTER, &wait) == CURLE_OK)
    outcome.wait_seconds = static_cast<double>(wait);
  curl_slist_free_all(headers);
  return outcome;
}

Request::Outcome Request::Judge(int code, const char* why) {
  if (!failure_.ok()) return {failure_};
  switch (code) {
    case CURLE_OK:
      return JudgeStatus();
    case CURLE_ABORTED_BY_CALLBACK:
      return {Error(Code::kInterrupted, "stopped")};
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
      return {Error(Code::kInvalidArgument,
                    "cannot fetch {}: {}; expected an http or https "
                    "address",
                    url_, why)};
    case CURLE_TOO_MANY_REDIRECTS:
      return {Error(Code::kIo, "{} redirects more than {} times; check the address", url_,
                    kMaxRedirects)};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return {Error(Code::kIo,
                    "cannot trust {}: {}; check the clock and the system's "
                    "certificates",
                    url_, why)};
    default:
      return {Error(Code::kIo, "cannot fetch {}: {}", url_, why), true};
  }
}

Request::Outcome Request::JudgeStatus() {
  const long status = response_.status;
  if (status == 200 && !body_begun_) {  // an empty file
    if (Status begun = BeginBody(); !begun.ok()) return {begun};
  }
  if (status == 200 || status == 206) {
    const int64_t total = Total();
    if (total < 0 || total == part_->size()) return {};
    return {Error(Code::kIo, "{} sent {} of {} bytes", url_, part_->size(), total), true};
  }
  if (status == 416 && begun_at_ > 0) {  // nothing after what there is
    if (response_.range_total == part_->size()) return {};
    if (Status cleared = part_->Clear(); !cleared.ok()) return {cleared};
    return {Error(Code::kIo, "{} is shorter than what was fetched of it", url_), true};
  }
  const bool may_pass = status == 408 || status == 429 || status >= 500;
  if (status == 404) return {Error(Code::kNotFound, "{}: not found there (404)", url_)};
  return {Error(Code::kIo, "{} answered {}", url_, status), may_pass};
}

}  // namespace wt::text
