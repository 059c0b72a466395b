// Text in, pieces out: the first half of byte-level BPE. A piece is what merges never cross.
//
// Rule for any bytes: the text is cut into maximal runs of well-formed UTF-8, each split by the
// pattern as a subject of its own (a look-ahead sees the run's end as the end of the text), and
// every byte outside such a run is a piece by itself. Pieces tile the text, so decoding gives back
// the same bytes whatever they were.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/pretokenizer_patterns.h"
#include "text/pretokenizer_pcre.h"
#include "text/pretokenizer_scan.h"
#include "text/pretokenizer_utf8.h"

namespace wt::text {

// One split pattern, ready to use; immutable, shared by threads.
class Pretokenizer {
 public:
  enum class Engine { kFastest, kPcre };  // kPcre: the twin, for tests and measurements

  static Result<std::shared_ptr<const Pretokenizer>> Create(std::string_view pattern_name,
                                                            Engine engine = Engine::kFastest);

  const SplitPattern& pattern() const { return *pattern_; }

 private:
  friend class PieceReader;
  const SplitPattern* pattern_ = nullptr;
  int scan_digits_ = 0;                       // > 0: ScanPiece splits
  std::shared_ptr<const PcreSplitter> pcre_;  // null when ScanPiece splits
};

// Reads the pieces of one text in order. The pretokenizer, the scratch and the text must outlive
// it.
class PieceReader {
 public:
  PieceReader(const Pretokenizer& pretokenizer, std::string_view text,
              PcreSplitter::Scratch* scratch)
      : pretokenizer_(pretokenizer), scratch_(scratch), text_(text) {}

  // False at the end of the text.
  bool Next(std::string_view* piece) {
    if (begin_ >= text_.size()) return false;
    if (begin_ >= run_end_) run_end_ = begin_ + ValidUtf8Prefix(text_.substr(begin_));
    const size_t end = begin_ == run_end_ ? begin_ + 1 : PieceEnd();
    *piece = text_.substr(begin_, end - begin_);
    begin_ = end;
    return true;
  }

 private:
  size_t PieceEnd() {
    if (pretokenizer_.scan_digits_ > 0) {
      return ScanPiece(text_.data() + begin_, text_.data() + run_end_, pretokenizer_.scan_digits_) -
             text_.data();
    }
    // The patterns look ahead only, so the run may begin at this piece.
    return begin_ +
           pretokenizer_.pcre_->PieceEnd(text_.substr(begin_, run_end_ - begin_), 0, scratch_);
  }

  const Pretokenizer& pretokenizer_;
  PcreSplitter::Scratch* scratch_;
  std::string_view text_;
  size_t begin_ = 0;    // of the next piece
  size_t run_end_ = 0;  // of the valid run that begin_ is in
};

// All pieces of `text`, as views into it.
std::vector<std::string_view> SplitPieces(const Pretokenizer& pretokenizer, std::string_view text);

}  // namespace wt::text
