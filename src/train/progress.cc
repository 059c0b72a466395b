#include "train/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/text_util.h"
#include "train/clock.h"

namespace wt::train {
namespace {

constexpr double kLiveSeconds = 0.1, kPlainSeconds = 10;
constexpr int kBarColumns = 20;
constexpr char kErase[] = "\r\x1b[K", kDim[] = "\x1b[2m", kGreen[] = "\x1b[32m",
               kReset[] = "\x1b[0m";

struct Part {
  std::string text;
  int importance;  // the smallest goes first
  const char* style = "";
};

double Share(const ProgressView& view) {
  return view.budget > 0 ? std::clamp(view.charged / view.budget, 0.0, 1.0) : 0;
}

std::string Bar(double share) {
  const auto full = static_cast<size_t>(std::lround(share * kBarColumns));
  std::string bar(kBarColumns, '.');
  std::fill_n(bar.begin(), full, '#');
  return fmt::format("[{}]", bar);
}

// In the order shown.
std::vector<Part> Parts(const ProgressView& view) {
  std::vector<Part> parts = {{view.phase, 2}, {fmt::format("step {}", view.step), 6}};
  if (!std::isnan(view.loss)) parts.push_back({fmt::format("loss {:.4f}", view.loss), 5});
  if (!std::isnan(view.val_bpb)) {
    parts.push_back({fmt::format("val_bpb {:.4f}", view.val_bpb), 4});
  }
  if (!std::isnan(view.tokens_per_second)) {
    parts.push_back({FormatCount(view.tokens_per_second) + " tok/s", 3});
  }
  parts.push_back({Bar(Share(view)), 1, kGreen});
  const double left = std::max(0.0, view.budget - view.charged);
  parts.push_back({FormatDuration(left) + " left", 7, kDim});
  return parts;
}

int Columns(const std::vector<Part>& parts) {  // two spaces between parts; all text is ASCII
  int columns = 0;
  for (const Part& part : parts) columns += static_cast<int>(part.text.size()) + 2;
  return std::max(0, columns - 2);
}

}  // namespace

std::string FormatProgress(const ProgressView& view, int width, bool color) {
  std::vector<Part> parts = Parts(view);
  while (!parts.empty() && Columns(parts) > width) {
    parts.erase(std::min_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return a.importance < b.importance;
    }));
  }
  std::string line;
  for (const Part& part : parts) {
    const bool styled = color && *part.style;
    line += line.empty() ? "" : "  ";
    if (styled) line += part.style;
    line += part.text;
    if (styled) line += kReset;
  }
  return line;
}

std::string FormatPlainProgress(const ProgressView& view) {
  std::string line = fmt::format("{} of {}: {} step {}", FormatDuration(view.charged),
                                 FormatDuration(view.budget), view.phase, view.step);
  if (!std::isnan(view.loss)) line += fmt::format(", loss {:.4f}", view.loss);
  if (!std::isnan(view.val_bpb)) line += fmt::format(", val_bpb {:.4f}", view.val_bpb);
  if (!std::isnan(view.tokens_per_second)) {
    line += fmt::format(", {} tokens/s", FormatCount(view.tokens_per_second));
  }
  return line;
}

ProgressOptions StderrProgress() {
  const char* term = std::getenv("TERM");
  const char* no_color = std::getenv("NO_COLOR");
  ProgressOptions options;
  options.live = isatty(STDERR_FILENO) && term && std::string_view(term) != "dumb";
  options.color = options.live && !(no_color && *no_color);
  options.width = [] {
    winsize size = {};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? static_cast<int>(size.ws_col) : 80;
  };
  options.now = SystemTime().monotonic;
  options.write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  return options;
}

void Progress::Update(const ProgressView& view, bool force) {
  const double now = options_.now();
  const double least = options_.live ? kLiveSeconds : kPlainSeconds;
  if (!force && now - shown_at_ < least) return;
  shown_at_ = now;
  if (!options_.live) return options_.write(FormatPlainProgress(view) + "\n");
  // One column less than the width: the last one makes some terminals wrap.
  options_.write(kErase + FormatProgress(view, options_.width() - 1, options_.color));
  drawn_ = true;
}

void Progress::Message(std::string_view text) {
  Clear();
  options_.write(std::string(text) + "\n");
}

void Progress::Clear() {
  if (drawn_) options_.write(kErase);
  drawn_ = false;
}

}  // namespace wt::train
