// Any split pattern through PCRE2: the reference splitter, and the only one for patterns that
// pretokenizer_scan.h does not know. Subjects are valid UTF-8; pretokenizer.h sees to that.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace wt::text {

// The pattern as PCRE2 gets it: \s and \S become Unicode's White_Space spelt out, which is what the
// engines of tiktoken and tokenizers mean by them. PCRE2's own \s also takes U+180E.
std::string PatternForPcre(std::string_view pattern);

// A compiled pattern; immutable, shared by threads.
class PcreSplitter {
 public:
  static Result<std::shared_ptr<const PcreSplitter>> Compile(std::string_view pattern);
  ~PcreSplitter();
  PcreSplitter(const PcreSplitter&) = delete;
  PcreSplitter& operator=(const PcreSplitter&) = delete;

  // What one thread needs while it matches.
  class Scratch {
   public:
    Scratch();
    ~Scratch();
    Scratch(Scratch&&) noexcept;

   private:
    friend class PcreSplitter;
    struct State;
    std::unique_ptr<State> state_;
  };

  struct Match {
    size_t begin, end;
  };
  // The first match at or after `begin`; {size, size} when there is none.
  Match Find(std::string_view subject, size_t begin, Scratch* scratch) const;

  // End of the piece that starts at `begin` in `subject`. Text that no alternative takes, up to the
  // next match, is a piece as well, so pieces always tile the subject. Requires begin <
  // subject.size() and valid UTF-8.
  size_t PieceEnd(std::string_view subject, size_t begin, Scratch* scratch) const;

 private:
  struct Compiled;
  explicit PcreSplitter(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace wt::text
