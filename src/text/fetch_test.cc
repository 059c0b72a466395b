// Fetching against a server on 127.0.0.1 that can misbehave in every way a test asks for: it sends
// the raw bytes it is told to and hangs up.
#include "text/fetch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/files.h"
#include "text/fetch_part.h"
#include "text/parquet_test_file.h"

namespace wt::text {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Server {
 public:
  using Handler = std::function<std::string(const std::string& request)>;

  explicit Server(Handler handler) : handler_(std::move(handler)) {
    socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Server() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }

  std::string Url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void Serve() {
    for (;;) {
      const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      std::string request;
      char buffer[4096];
      ssize_t n;
      while (request.find("\r\n\r\n") == request.npos &&
             (n = recv(connection, buffer, sizeof buffer, 0)) > 0)
        request.append(buffer, static_cast<size_t>(n));
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const std::string answer = handler_(request);
      for (size_t sent = 0; sent < answer.size();) {
        n = send(connection, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += static_cast<size_t>(n);
      }
      shutdown(connection, SHUT_WR);
      while (recv(connection, buffer, sizeof buffer, 0) > 0) {
      }
      close(connection);
    }
  }

  Handler handler_;
  int socket_, port_ = 0;
  std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + headers + "\r\n" + body;
}

std::string Whole(const std::string& body, const std::string& headers = "") {
  return Answer("200 OK", fmt::format("Content-Length: {}\r\n{}", body.size(), headers), body);
}

// The first byte asked for; 0 when there is no Range.
size_t RangeStart(const std::string& request) {
  const size_t at = request.find("Range: bytes=");
  return at == request.npos ? 0 : std::stoul(request.substr(at + 13));
}

std::string Ranged(const std::string& body, const std::string& request) {
  const size_t from = RangeStart(request);
  if (from == 0) return Whole(body, "ETag: \"v1\"\r\n");
  return Answer("206 Partial Content",
                fmt::format("Content-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n", from,
                            body.size() - 1, body.size(), body.size() - from),
                body.substr(from));
}

class FetchTest : public testing::Test {
 protected:
  FetchTest() {
    folder_ = testing::TempDir() + "/wt_fetch_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/file";
    setenv("no_proxy", "127.0.0.1", 1);
    options_.backoff_seconds = 0.01;
    options_.attempts = 3;
    for (int i = 0; i < 5000; ++i) body_ += fmt::format("line {}\n", i);
  }
  ~FetchTest() override { std::filesystem::remove_all(folder_); }

  void WritePart(const std::string& bytes) const {
    std::ofstream(path_ + ".part", std::ios::binary) << bytes;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string folder_, path_, body_;
  FetchOptions options_;
};

TEST_F(FetchTest, WholeFile) {
  Server server([&](const std::string&) { return Whole(body_); });
  const Status status = FetchFile(server.Url("/file"), path_, {}, options_);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(*ReadFile(path_), body_);
  EXPECT_THAT(Names(), ElementsAre("file"));
  EXPECT_THAT(server.requests()[0], AllOf(HasSubstr("GET /file"), Not(HasSubstr("Range"))));
}

TEST_F(FetchTest, CutConnectionIsContinued) {
  std::atomic<int> answers{0};
  Server server([&](const std::string& request) {
    const std::string answer = Ranged(body_, request);
    return ++answers < 3 ? answer.substr(0, answer.size() - 10000) : answer;
  });
  const Status status = FetchFile(server.Url("/file"), path_, {}, options_);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(*ReadFile(path_), body_);
  ASSERT_EQ(server.requests().size(), 3u);
  EXPECT_EQ(RangeStart(server.requests()[1]), body_.size() - 10000);
  EXPECT_THAT(server.requests()[1], HasSubstr("If-Range: \"v1\""));
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(FetchTest, AnEarlierPartIsContinued) {
  WritePart(body_.substr(0, 1000));
  Server server([&](const std::string& request) { return Ranged(body_, request); });
  ASSERT_TRUE(FetchFile(server.Url("/file"), path_, {}, options_).ok());
  EXPECT_EQ(*ReadFile(path_), body_);
  EXPECT_EQ(RangeStart(server.requests()[0]), 1000u);
}

TEST_F(FetchTest, ServerWithoutRangesStartsAnew) {
  WritePart("something else altogether");
  Server server([&](const std::string&) { return Whole(body_); });
  ASSERT_TRUE(FetchFile(server.Url("/file"), path_, {}, options_).ok());
  EXPECT_EQ(*ReadFile(path_), body_);
}

TEST_F(FetchTest, PartThatIsAllOrTooMuch) {
  Server server([&](const std::string& request) {
    if (RangeStart(request) < body_.size()) return Ranged(body_, request);
    return Answer("416 Range Not Satisfiable",
                  fmt::format("Content-Range: bytes */{}\r\nContent-Length: 0\r\n", body_.size()),
                  "");
  });
  for (const char* more : {"", "too much"}) {
    WritePart(body_ + more);
    const Status status = FetchFile(server.Url("/file"), path_, {}, options_);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(*ReadFile(path_), body_);
    std::filesystem::remove(path_);
  }
}

TEST_F(FetchTest, StaleGarbageIsFetchedAgainWhenTheHashSaysSo) {
  WritePart(std::string(1000, '?'));
  Server server([&](const std::string& request) { return Ranged(body_, request); });
  const KnownFile known{"file", Sha256(body_), static_cast<int64_t>(body_.size())};
  const Status status = FetchFile(server.Url("/file"), path_, known, options_);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(*ReadFile(path_), body_);
  EXPECT_EQ(server.requests().size(), 2u);
}

TEST_F(FetchTest, WrongHashAndWrongSizeLeaveNothing) {
  Server server([&](const std::string&) { return Whole(body_); });
  Status status = FetchFile(server.Url("/f"), path_, {"file", Sha256("other"), -1}, options_);
  EXPECT_EQ(status.code(), Code::kMismatch);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(Sha256(body_)), HasSubstr(Sha256("other"))));
  status = FetchFile(server.Url("/f"), path_, {"file", "", 7}, options_);
  EXPECT_THAT(status.message(), HasSubstr("expected 7"));
  EXPECT_THAT(Names(), testing::IsEmpty());
  EXPECT_EQ(server.requests().size(), 2u);  // what arrived whole is not asked for again
}

TEST_F(FetchTest, ShortAnswersGiveUpAndKeepThePart) {
  Server server([&](const std::string& request) {
    const std::string answer = Ranged(body_, request);
    const size_t head = answer.find("\r\n\r\n") + 4;
    return answer.substr(0, head + 10);
  });
  const Status status = FetchFile(server.Url("/file"), path_, {}, options_);
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("3 of 3 attempts"), HasSubstr("it continues"), HasSubstr("/file")));
  EXPECT_EQ(*ReadFile(path_ + ".part"), body_.substr(0, 30));
}

TEST_F(FetchTest, NotFoundIsFinal) {
  Server server([&](const std::string&) { return Answer("404 Not Found", "", "no such page"); });
  const Status status = FetchFile(server.Url("/file"), path_, {}, options_);
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_EQ(server.requests().size(), 1u);
  EXPECT_THAT(Names(), testing::IsEmpty());
}

TEST_F(FetchTest, BusyServersAreAskedAgain) {
  std::atomic<int> answers{0};
  Server server([&](const std::string&) {
    return ++answers < 3 ? Answer("503 Busy", "Content-Length: 4\r\n", "busy") : Whole(body_);
  });
  ASSERT_TRUE(FetchFile(server.Url("/file"), path_, {}, options_).ok());
  EXPECT_EQ(*ReadFile(path_), body_);
}

TEST_F(FetchTest, RedirectsAreFollowedButNotForever) {
  Server server([&](const std::string& request) {
    if (request.find("GET /end") == 0) return Whole(body_, "ETag: \"v1\"\r\n");
    const bool loop = request.find("GET /loop") == 0;
    return Answer("302 Found",
                  fmt::format("Location: {}\r\nContent-Length: 3\r\n", loop ? "/loop" : "/end"),
                  "see");
  });
  ASSERT_TRUE(FetchFile(server.Url("/start"), path_, {}, options_).ok());
  EXPECT_EQ(*ReadFile(path_), body_);
  const Status status = FetchFile(server.Url("/loop"), folder_ + "/loop", {}, options_);
  EXPECT_THAT(status.message(), HasSubstr("redirects more than 5 times"));
}

TEST_F(FetchTest, OnlyHttp) {
  std::ofstream(folder_ + "/secret") << "secret";
  Status status = FetchFile("file://" + folder_ + "/secret", path_, {}, options_);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("expected an http or https address"));
  Server server([&](const std::string&) {
    return Answer("302 Found", "Location: file://" + folder_ + "/secret\r\n", "");
  });
  EXPECT_FALSE(FetchFile(server.Url("/file"), path_, {}, options_).ok());
  EXPECT_FALSE(FileExists(path_));
}

TEST_F(FetchTest, AFileThatAgreesIsKept) {
  std::ofstream(path_) << body_;
  Server server([&](const std::string&) { return Whole("new"); });
  ASSERT_TRUE(FetchFile(server.Url("/file"), path_, {"file", Sha256(body_), -1}, options_).ok());
  EXPECT_TRUE(server.requests().empty());
  ASSERT_TRUE(FetchFile(server.Url("/file"), path_, {"file", Sha256("new"), -1}, options_).ok());
  EXPECT_EQ(*ReadFile(path_), "new");
}

TEST_F(FetchTest, StopKeepsThePart) {
  WritePart(body_.substr(0, 100));
  Server server([&](const std::string&) { return Answer("503 Busy", "Retry-After: 30\r\n", ""); });
  std::atomic<int> asked{0};
  options_.stopped = [&] { return ++asked > 5; };
  const Status status = FetchFile(server.Url("/file"), path_, {}, options_);
  EXPECT_EQ(status.code(), Code::kInterrupted);
  EXPECT_EQ(*ReadFile(path_ + ".part"), body_.substr(0, 100));
}

TEST_F(FetchTest, TwoFetchesOfOneFileDoNotMix) {
  const auto held = PartFile::Open(path_ + ".part");
  ASSERT_TRUE(held.ok());
  const Status status = FetchFile("http://127.0.0.1:9/file", path_, {}, options_);
  EXPECT_THAT(status.message(), HasSubstr("being fetched by another program"));
  EXPECT_TRUE(FileExists(path_ + ".part"));
}

TEST_F(FetchTest, NobodyListensIsOneClearError) {
  std::string url;
  {
    Server gone([](const std::string&) { return ""; });
    url = gone.Url("/file");
  }
  const Status status = FetchFile(url, path_, {}, options_);
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(url), HasSubstr("3 of 3 attempts")));
}

class FetchCorpusTest : public FetchTest {
 protected:
  CorpusEntry EntryAt(const Server& server) const {
    CorpusEntry entry;
    entry.name = "tiny";
    entry.url = server.Url("/shard_{:05}.parquet");
    entry.shards = 5;
    entry.split = SplitRule::kLastFile;
    return entry;
  }
};

TEST_F(FetchCorpusTest, ValidationComesWithTheFirstShards) {
  Server server([](const std::string& request) {
    return Whole(TestParquetWriter({}).Write({request.substr(5, 11)}));
  });
  options_.shards = 2;
  std::atomic<int64_t> done{0};
  options_.progress = [&](const FetchProgress& p) { done = p.files_done; };
  const CorpusEntry entry = EntryAt(server);
  const Status status = FetchCorpus(entry, folder_, options_);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(done, 3);
  EXPECT_THAT(Names(),
              ElementsAre("shard_00000.parquet", "shard_00001.parquet", "shard_00004.parquet"));
  auto reader = ReadCorpus(SpecOf(entry, folder_), Split::kValidation);
  Document document;
  ASSERT_TRUE(*(*reader)->Next(&document));
  EXPECT_EQ(document.text, "shard_00004");
}

TEST_F(FetchCorpusTest, AnErrorPageInPlaceOfAShardIsThrownAway) {
  Server server([](const std::string&) { return Whole("<html>log in first</html>"); });
  const Status status = FetchCorpus(EntryAt(server), folder_, options_);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("corpus tiny"), HasSubstr("thrown away"),
                                      HasSubstr("not a Parquet file")));
  EXPECT_FALSE(FileExists(folder_ + "/shard_00004.parquet"));
}

TEST_F(FetchCorpusTest, OneFailureStopsTheRest) {
  Server server([](const std::string& request) {
    if (request.find("00001") != request.npos) return Answer("403 Forbidden", "", "");
    return Whole(TestParquetWriter({}).Write({"x"}));
  });
  options_.shards = -1, options_.max_parallel = 2;
  const Status status = FetchCorpus(EntryAt(server), folder_, options_);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("shard_00001"), HasSubstr("answered 403")));
}

TEST_F(FetchCorpusTest, BuiltCorporaSayHow) {
  CorpusEntry entry;
  entry.name = "prose-v1", entry.builder = "setup/prose_v1.py";
  EXPECT_THAT(FetchCorpus(entry, "here", options_).message(),
              HasSubstr("run setup/prose_v1.py here"));
}

TEST(CorpusListTest, TheListOfTheRepositoryIsSound) {
  const auto corpora = ReadCorpusList(WT_SOURCE_DIR "/data/corpora.toml");
  ASSERT_TRUE(corpora.ok()) << corpora.status().message();
  const auto climbmix = FindCorpus(*corpora, "climbmix");
  ASSERT_TRUE(climbmix.ok());
  EXPECT_EQ(climbmix->shards, 6543);
  EXPECT_EQ(climbmix->FileNameOf(6542), "shard_06542.parquet");
  EXPECT_THAT(climbmix->UrlOf(7), testing::EndsWith("/resolve/main/shard_00007.parquet"));
  EXPECT_EQ(FindCorpus(*corpora, "prose-v1")->split, SplitRule::kHash);
  EXPECT_THAT(FindCorpus(*corpora, "climbmx").status().message(),
              AllOf(HasSubstr("did you mean climbmix?"), HasSubstr("fineweb-edu")));
}

TEST(CorpusListTest, MistakesAreNamed) {
  const auto message = [](const std::string& lines) {
    return ParseCorpusList("[corpora.x]\n" + lines, "list.toml").status().message();
  };
  const std::string good = "url = \"https://h/s_{:05}.parquet\"\nshards = 3\n";
  EXPECT_TRUE(message(good).empty());
  EXPECT_THAT(message(good + "sahrds = 2\n"),
              AllOf(HasSubstr("list.toml"), HasSubstr("corpora.x"), HasSubstr("shards")));
  EXPECT_THAT(message("shards = 3\n"), HasSubstr("either url or builder"));
  EXPECT_THAT(message("url = \"https://h/s\"\nshards = 3\n"), HasSubstr("has no {:05}"));
  EXPECT_THAT(message("url = \"ftp://h/{:05}\"\nshards = 3\n"), HasSubstr("expected https"));
  EXPECT_THAT(message("url = \"https://h/{:05}\"\n"), HasSubstr("shards = 0"));
  EXPECT_THAT(message(good + "split = \"odd\"\n"), HasSubstr("split rule odd"));
  EXPECT_THAT(message(good + "[[corpora.x.files]]\nname = \"a\"\nsha256 = \"12\"\n"),
              HasSubstr("64 digits"));
  EXPECT_THAT(ParseCorpusList("x = 1", "l").status().message(), HasSubstr("corpora.NAME"));
}

}  // namespace
}  // namespace wt::text
