// What a person sees while a run goes on: one line that is redrawn on a terminal, a plain line
// every ten seconds elsewhere.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace wt::train {

struct ProgressView {
  std::string phase = "train";  // or "eval", "save"
  int64_t step = 0;
  double loss = NAN;     // NaN: not known yet
  double val_bpb = NAN;  // likewise
  double tokens_per_second = NAN;
  double charged = 0, budget = 0;  // seconds
};

// At most `width` columns without a newline; the least important parts go first when it is narrow.
std::string FormatProgress(const ProgressView& view, int width, bool color);
// The line for logs and pipes.
std::string FormatPlainProgress(const ProgressView& view);

struct ProgressOptions {
  bool live = false;                            // redraw one line
  bool color = false;                           // only with live
  std::function<int()> width;                   // columns of the terminal, now
  std::function<double()> now;                  // seconds
  std::function<void(std::string_view)> write;  // to the terminal or pipe
};
// On standard error: live on a terminal that can (TERM is not "dumb"), coloured unless NO_COLOR is
// set.
ProgressOptions StderrProgress();

class Progress {
 public:
  explicit Progress(ProgressOptions options) : options_(std::move(options)) {}
  ~Progress() { Clear(); }

  // Shows the view, unless the last one is too fresh (0.1 s live, 10 s plain) and `force` is false.
  void Update(const ProgressView& view, bool force = false);
  // Prints a line that stays, above the live one.
  void Message(std::string_view text);
  // Takes the live line away.
  void Clear();

 private:
  ProgressOptions options_;
  double shown_at_ = -INFINITY;
  bool drawn_ = false;
};

}  // namespace wt::train
