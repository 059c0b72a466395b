#include "text/fetch.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files.h"
#include "base/text_util.h"
#include "text/parquet.h"

namespace wt::text {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr long kMaxRedirects = 5;
constexpr double kMaxBackoffSeconds = 60;
constexpr auto kProgressEvery = std::chrono::milliseconds(200);

bool Stopped(const FetchOptions& options) { return options.stopped && options.stopped(); }

Status Interrupted(const std::string& path) {
  return Error(Code::kInterrupted,
               "{}: stopped before it was whole; what came is kept, and fetching again continues",
               path);
}

// The file that grows while it is fetched. Holds a lock, so that two programs never share one.
class PartFile {
 public:
  static Result<std::unique_ptr<PartFile>> Open(const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return Error(Code::kIo, "cannot create {}: {}", path, std::strerror(errno));
    std::unique_ptr<PartFile> part(new PartFile(path, fd));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      return Error(Code::kIo, "{} is being fetched by another program; wait for it or stop it",
                   path);
    }
    struct stat info = {};
    if (fstat(fd, &info) == 0) part->size_ = info.st_size;
    return part;
  }
  ~PartFile() {
    if (size_ == 0 && !renamed_) unlink(path_.c_str());
    close(fd_);
  }
  PartFile(const PartFile&) = delete;

  int64_t size() const { return size_; }

  Status Clear() {
    size_ = 0;
    unlink((path_ + ".etag").c_str());
    if (ftruncate(fd_, 0) == 0) return {};
    return Error(Code::kIo, "cannot shorten {}: {}", path_, std::strerror(errno));
  }

  Status Append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = pwrite(fd_, bytes.data(), bytes.size(), size_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        const bool full = errno == ENOSPC || errno == EDQUOT;
        return Error(full ? Code::kCapacity : Code::kIo, "cannot write {}: {}{}", path_,
                     std::strerror(errno),
                     full ? "; free space there and fetch again, it continues" : "");
      }
      bytes.remove_prefix(static_cast<size_t>(n));
      size_ += n;
    }
    return {};
  }

  // What identifies the version of the file that this is a part of; "" when not known.
  std::string etag() const { return ReadOr(path_ + ".etag"); }
  void SetEtag(const std::string& etag) {
    // Without it a resumed file is still checked by size; so failing to keep it is no failure.
    if (!etag.empty()) (void)WriteFileAtomic(path_ + ".etag", etag).ok();
  }

  Status RenameTo(const std::string& path) {
    if (fsync(fd_) != 0 || rename(path_.c_str(), path.c_str()) != 0)
      return Error(Code::kIo, "cannot finish {}: {}", path, std::strerror(errno));
    renamed_ = true;
    unlink((path_ + ".etag").c_str());
    return {};
  }

 private:
  PartFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  static std::string ReadOr(const std::string& path) {
    auto text = ReadFile(path);
    return text.ok() ? *text : "";
  }

  std::string path_;
  int fd_;
  int64_t size_ = 0;
  bool renamed_ = false;
};

// What the last response of a request said of itself.
struct Response {
  long status = 0;
  int64_t content_length = -1;
  int64_t range_start = -1, range_total = -1;
  std::string etag;
};

std::optional<int64_t> ParseCount(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data() || value < 0) return std::nullopt;
  return value;
}

// "bytes 10-19/20" or "bytes */20".
void ParseContentRange(std::string_view text, Response* response) {
  if (!text.starts_with("bytes ")) return;
  text.remove_prefix(6);
  response->range_start = ParseCount(text).value_or(-1);
  const size_t slash = text.find('/');
  if (slash != text.npos) response->range_total = ParseCount(text.substr(slash + 1)).value_or(-1);
}

// One request: continues or begins the part file, and says how it went.
class Request {
 public:
  Request(const std::string& url, PartFile* part, const FetchOptions& options,
          std::function<void(int64_t, int64_t)> moved)
      : url_(url),
        part_(part),
        options_(options),
        moved_(std::move(moved)),
        begun_at_(part->size()) {}

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
  static int OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t);
  void TakeHeader(std::string_view line);
  Status TakeBody(std::string_view bytes);
  Status BeginBody();
  void SetUp(CURL* curl, curl_slist* headers);
  Outcome Judge(CURLcode code, const char* why);
  Outcome JudgeStatus();
  int64_t Total() const {
    return response_.status == 206 ? response_.range_total : response_.content_length;
  }

  const std::string& url_;
  PartFile* part_;
  const FetchOptions& options_;
  std::function<void(int64_t, int64_t)> moved_;
  const int64_t begun_at_;
  Response response_;
  bool body_begun_ = false;
  Status failure_;  // of the file system, while the body came in
  Clock::time_point last_progress_ = Clock::now();
};

size_t Request::OnHeader(char* data, size_t, size_t bytes, void* self) {
  static_cast<Request*>(self)->TakeHeader({data, bytes});
  return bytes;
}

size_t Request::OnBody(char* data, size_t, size_t bytes, void* self) {
  auto* request = static_cast<Request*>(self);
  request->failure_ = request->TakeBody({data, bytes});
  return request->failure_.ok() ? bytes : 0;
}

int Request::OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto* request = static_cast<Request*>(self);
  if (Stopped(request->options_)) return 1;
  if (Clock::now() - request->last_progress_ >= kProgressEvery) {
    request->last_progress_ = Clock::now();
    request->moved_(request->part_->size(), request->Total());
  }
  return 0;
}

void Request::TakeHeader(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // of a redirect or of the answer: the last one counts
    response_ = Response();
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

void Request::SetUp(CURL* curl, curl_slist* headers) {
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

Request::Outcome Request::Judge(CURLcode code, const char* why) {
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

// Whether a file agrees with what is known of it.
Status CheckKnown(const std::string& path, int64_t size, const KnownFile& known) {
  if (known.bytes >= 0 && size != known.bytes) {
    return Error(Code::kMismatch, "{} has {} bytes, expected {}", path, size, known.bytes);
  }
  if (known.sha256.empty()) return {};
  WT_ASSIGN_OR_RETURN(const std::string sha256, Sha256OfFile(path));
  if (sha256 == known.sha256) return {};
  return Error(Code::kMismatch, "{} has sha256 {}, expected {}", path, sha256, known.sha256);
}

bool AlreadyThere(const std::string& path, const KnownFile& known) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && CheckKnown(path, static_cast<int64_t>(size), known).ok();
}

// In short steps, so that a stop is heard.
void Wait(double seconds, const FetchOptions& options) {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < until && !Stopped(options))
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(
        until - Clock::now(), std::chrono::milliseconds(100)));
}

Status FetchWithRetries(const std::string& url, const std::string& path, const KnownFile& known,
                        const FetchOptions& options,
                        const std::function<void(int64_t, int64_t)>& moved) {
  WT_ASSIGN_OR_RETURN(auto part, PartFile::Open(path + ".part"));
  double backoff = options.backoff_seconds;
  for (int attempt = 1;; ++attempt) {
    Request request(url, part.get(), options, moved);
    Request::Outcome outcome = request.Run();
    if (outcome.status.ok()) {
      outcome.status = CheckKnown(path + ".part", part->size(), known);
      if (outcome.status.ok()) return part->RenameTo(path);
      WT_RETURN_IF_ERROR(part->Clear());
      outcome.again = request.resumed();  // perhaps two versions in one: once more, from its start
    }
    if (Stopped(options)) return Interrupted(path);
    if (!outcome.again || attempt >= options.attempts) {
      return Error(outcome.status.code(), "{} ({} of {} attempts){}", outcome.status.message(),
                   attempt, options.attempts,
                   outcome.again ? "; check the network and fetch again, it continues" : "");
    }
    Wait(std::max(backoff, std::min(outcome.wait_seconds, kMaxBackoffSeconds)), options);
    backoff = std::min(2 * backoff, kMaxBackoffSeconds);
  }
}

// The shards to fetch, validation first: a folder that was left half full must not take a training
// shard for the last one.
std::vector<int64_t> ShardsOf(const CorpusEntry& entry, int64_t wanted) {
  const int64_t last = entry.shards - 1;
  std::vector<int64_t> shards = {last};
  const int64_t train = wanted < 0 ? last : std::min(wanted, last);
  for (int64_t i = 0; i < train; ++i) shards.push_back(i);
  return shards;
}

class CorpusFetch {
 public:
  CorpusFetch(const CorpusEntry& entry, const std::string& folder, const FetchOptions& options)
      : entry_(entry),
        folder_(folder),
        options_(options),
        caller_(&options),
        shards_(ShardsOf(entry, options.shards)) {
    options_.progress = [this](const FetchProgress& progress) { Report(progress); };
    options_.stopped = [this] { return stop_ || Stopped(*caller_); };
  }

  Status Run() {
    std::vector<std::thread> workers;
    const auto count =
        std::clamp<int64_t>(options_.max_parallel, 1, static_cast<int64_t>(shards_.size()));
    for (int64_t i = 1; i < count; ++i) workers.emplace_back([this] { Work(); });
    Work();
    for (std::thread& worker : workers) worker.join();
    if (failure_.ok() && done_ < static_cast<int64_t>(shards_.size())) return Interrupted(folder_);
    return failure_;
  }

 private:
  void Work() {
    for (;;) {
      const size_t i = next_++;
      if (i >= shards_.size() || Stopped(options_)) return;
      if (Status status = FetchShard(shards_[i]); !status.ok()) Fail(std::move(status));
    }
  }

  Status FetchShard(int64_t shard) {
    const std::string name = entry_.FileNameOf(shard);
    const std::string path = folder_ + "/" + name;
    const KnownFile* known = entry_.Known(name);
    WT_RETURN_IF_ERROR(
        FetchFile(entry_.UrlOf(shard), path, known ? *known : KnownFile(), options_));
    if (name.ends_with(".parquet")) {
      if (Status opened = ParquetFile::Open(path).status(); !opened.ok()) {
        unlink(path.c_str());
        return opened.WithContext(fmt::format("what {} sent was thrown away", entry_.UrlOf(shard)));
      }
    }
    ++done_;
    Report({.file = name, .file_bytes = 0, .file_total = -1});
    return {};
  }

  void Report(FetchProgress progress) {
    progress.files_done = done_;
    progress.files = static_cast<int64_t>(shards_.size());
    const std::lock_guard lock(mutex_);
    if (caller_->progress) caller_->progress(progress);
  }

  void Fail(Status status) {
    stop_ = true;
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = status.WithContext("corpus " + entry_.name);
  }

  const CorpusEntry& entry_;
  const std::string& folder_;
  FetchOptions options_;        // of the single files
  const FetchOptions* caller_;  // as given
  const std::vector<int64_t> shards_;
  std::atomic<size_t> next_{0};
  std::atomic<int64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  Status failure_;
};

}  // namespace

Status FetchFile(const std::string& url, const std::string& path, const KnownFile& known,
                 const FetchOptions& options) {
  if (Stopped(options)) return Interrupted(path);
  if (AlreadyThere(path, known)) return {};
  const std::string name = fs::path(path).filename();
  const auto moved = [&](int64_t bytes, int64_t total) {
    if (options.progress)
      options.progress({.file = name, .file_bytes = bytes, .file_total = total, .files = 1});
  };
  return FetchWithRetries(url, path, known, options, moved);
}

Status FetchCorpus(const CorpusEntry& entry, const std::string& folder,
                   const FetchOptions& options) {
  if (entry.url.empty()) {
    return Error(Code::kUnsupported, "corpus {} is built, not fetched; run {} {}", entry.name,
                 entry.builder, folder);
  }
  WT_RETURN_IF_ERROR(MakeFolders(folder));
  CorpusFetch fetch(entry, folder, options);
  return fetch.Run();
}

}  // namespace wt::text
