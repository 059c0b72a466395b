// Status and Result<T>: how every call with a user, a file or a network on the other side reports
// failure. A message says what failed, what was given, what was expected and what to do. Assertions
// (WT_CHECK) are for our own mistakes only.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace wt {

enum class Code {
  kOk,
  kInvalidArgument,  // the caller's words are wrong: a key, a shape, a flag
  kNotFound,         // a file, a name or a record is not there
  kCorrupt,          // it is there, and its contents are not what its format promises
  kMismatch,         // two things that must belong together do not (tokenizer and model, …)
  kIo,               // the system refused to read, write or connect
  kCapacity,         // memory, disk or another limit is exhausted
  kNumeric,          // NaN or infinity where a number was expected
  kUnsupported,      // valid, and not something this build does
  kInterrupted,      // the user stopped it
};

const char* CodeName(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with "context: " before its message.
  Status WithContext(const std::string& context) const {
    return ok() ? *this : Status(code_, context + ": " + message_);
  }

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// Error(Code::kNotFound, "{}: no such file; expected …", path)
template <class... Args>
Status Error(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: implicit, so that `return value;` works
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: likewise; requires !status.ok()

  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  // Requires ok().
  T& value() & { return *value_; }
  const T& value() const& { return *value_; }
  T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

[[noreturn]] void CheckFailed(const char* file, int line, const char* what, const std::string& why);

}  // namespace wt

#define WT_CONCAT_(a, b) a##b
#define WT_CONCAT(a, b) WT_CONCAT_(a, b)

#define WT_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (::wt::Status wt_status = (expr); !wt_status.ok()) return wt_status; \
  } while (0)

// WT_ASSIGN_OR_RETURN(auto text, ReadFile(path));
#define WT_ASSIGN_OR_RETURN(lhs, expr) \
  WT_ASSIGN_OR_RETURN_(WT_CONCAT(wt_result_, __LINE__), lhs, expr)
#define WT_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                         \
  if (!tmp.ok()) return tmp.status();        \
  lhs = std::move(tmp).value()

// WT_CHECK(n > 0, "rows: {}", n);  always on: the cost is a branch, the gain is a message.
#define WT_CHECK(cond, ...)                                                              \
  do {                                                                                   \
    if (!(cond)) ::wt::CheckFailed(__FILE__, __LINE__, #cond, fmt::format(__VA_ARGS__)); \
  } while (0)
