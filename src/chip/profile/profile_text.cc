#include "chip/profile/profile_text.h"

#include <algorithm>

namespace wt::chip {
namespace {

constexpr size_t kStallsShown = 6, kLinesShown = 8, kBarWidth = 30;

std::string Bytes(double bytes) {
  if (bytes >= 1 << 20) return fmt::format("{:.1f} MiB", bytes / (1 << 20));
  if (bytes >= 1 << 10) return fmt::format("{:.1f} KiB", bytes / (1 << 10));
  return fmt::format("{:.0f} B", bytes);
}

std::string Bar(double share) {
  const auto filled = static_cast<size_t>(std::clamp(share, 0.0, 1.0) * kBarWidth + 0.5);
  return std::string(filled, '#') + std::string(kBarWidth - filled, '.');
}

std::string Place(const Profile& profile, SourceId source) {
  const std::string place = profile.sources ? profile.sources->Describe(source) : "";
  return place.empty() ? "-" : place;
}

std::string Head(const Profile& profile) {
  std::string text = fmt::format("{}  on {}, policy {}\n  latency {}", profile.kernel,
                                 profile.machine, profile.policy, FormatNs(profile.latency_ns));
  if (profile.band_high_ns > profile.band_low_ns) {
    text += fmt::format("  (band {} to {}{})", FormatNs(profile.band_low_ns),
                        FormatNs(profile.band_high_ns),
                        profile.band_rule.empty() ? "" : ", widest for " + profile.band_rule);
  }
  text += fmt::format(", of it fixed {}\n", FormatNs(profile.envelope_ns));
  text += fmt::format(
      "  MFU {:.1f} % (product FLOPs / time / bf16 peak of a core)   MBU {:.1f} % (HBM bytes / "
      "time "
      "/ HBM bandwidth of a core)\n",
      100 * profile.mfu, 100 * profile.mbu);
  if (profile.oversubscribed) {
    text +=
        "  On-chip memory was over-subscribed: more was live at once than fits. Trust no time.\n";
  }
  return text;
}

std::string Engines(const Profile& profile) {
  std::string text = "\nEngines (busy share of the latency)\n";
  for (int e = 0; e < kNumEngines; ++e) {
    const auto engine = static_cast<Engine>(e);
    const auto i = static_cast<size_t>(e);
    if (profile.instructions[i] == 0 && profile.busy_ns[i] == 0) continue;
    text += fmt::format("  {:7} {} {:5.1f} %  {:>10}  {} instructions\n", EngineName(engine),
                        Bar(profile.share(engine)), 100 * profile.share(engine),
                        FormatNs(profile.busy_ns[i]), profile.instructions[i]);
  }
  if (profile.pe_limited_ns > 0) {
    text += fmt::format("  tensor ran {} of its time under the power limit, at half rate\n",
                        FormatNs(profile.pe_limited_ns));
  }
  if (profile.table_load_ns > 0) {
    text += fmt::format("  scalar spent {} on activation table loads\n",
                        FormatNs(profile.table_load_ns));
  }
  return text;
}

std::string MemoryAndDma(const Profile& profile) {
  const DmaStats& dma = profile.dma;
  std::string text = fmt::format(
      "\nMemory\n  SBUF peak {} a partition   PSUM peak {} banks\nDMA\n  loaded {}, stored {}, "
      "other {} "
      "in {} transfers; average descriptor {}\n",
      Bytes(static_cast<double>(profile.sbuf_bytes_peak)), profile.psum_banks_peak,
      Bytes(static_cast<double>(dma.load_bytes)), Bytes(static_cast<double>(dma.store_bytes)),
      Bytes(static_cast<double>(dma.other_bytes)), dma.transfers,
      Bytes(dma.average_descriptor_bytes));
  if (dma.reloaded_bytes > 0) {
    text += fmt::format("  {} were loaded again from HBM addresses already loaded\n",
                        Bytes(static_cast<double>(dma.reloaded_bytes)));
  }
  return text;
}

std::string Stalls(const Profile& profile) {
  std::string text = fmt::format("\nIdle time of {} ({} of {})\n", EngineName(profile.busiest),
                                 FormatNs(profile.idle_ns), FormatNs(profile.latency_ns));
  for (size_t i = 0; i < std::min(kStallsShown, profile.stalls.size()); ++i) {
    const Stall& stall = profile.stalls[i];
    if (stall.wait == Wait::kNone && stall.waiting_source == 0) {
      text += fmt::format("  {:>10}  after its last instruction\n", FormatNs(stall.ns));
      continue;
    }
    if (stall.wait == Wait::kNone) {
      text += fmt::format("  {:>10}  {} x  {} starts\n", FormatNs(stall.ns), stall.count,
                          Place(profile, stall.waiting_source));
      continue;
    }
    text += fmt::format("  {:>10}  {} x  {} waits ({}) for {} {}\n", FormatNs(stall.ns),
                        stall.count, Place(profile, stall.waiting_source), WaitName(stall.wait),
                        EngineName(stall.waiting_for), Place(profile, stall.source));
  }
  return text;
}

std::string Lines(const Profile& profile) {
  std::string text = "\nTime by source line\n";
  for (size_t i = 0; i < std::min(kLinesShown, profile.lines.size()); ++i) {
    const LineCost& line = profile.lines[i];
    const auto most = std::max_element(line.busy_ns.begin(), line.busy_ns.end());
    text += fmt::format("  {:>10}  {:7} {} x  {}\n", FormatNs(*most),
                        EngineName(static_cast<Engine>(most - line.busy_ns.begin())),
                        line.instructions, Place(profile, line.source));
  }
  return text;
}

std::string Changes(const Profile& profile) {
  if (profile.advice.empty()) return "";
  std::string text = "\nWhat to change, and what it may gain\n";
  for (size_t i = 0; i < profile.advice.size(); ++i) {
    const Advice& advice = profile.advice[i];
    text += fmt::format("  {}. {:>9} ({:.0f} %)  {}{}\n", i + 1, FormatNs(advice.gain_ns),
                        100 * advice.gain_ns / profile.latency_ns,
                        advice.source ? Place(profile, advice.source) + ": " : "", advice.what);
  }
  return text;
}

std::string EvidenceLine(const Profile& profile) {
  std::string text = "\nEvidence of the time:";
  for (int e = 0; e < kNumEvidence; ++e) {
    text += fmt::format("{} {:.0f} % {}", e ? "," : "",
                        100 * profile.evidence_share[static_cast<size_t>(e)],
                        EvidenceName(static_cast<Evidence>(e)));
  }
  return text + "\n";
}

}  // namespace

std::string FormatNs(double ns) {
  if (ns >= 1e7) return fmt::format("{:.2f} ms", ns / 1e6);
  if (ns >= 1e4) return fmt::format("{:.1f} us", ns / 1e3);
  if (ns >= 1e3) return fmt::format("{:.2f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string ProfileText(const Profile& profile) {
  return Head(profile) + Engines(profile) + MemoryAndDma(profile) + Stalls(profile) +
         Lines(profile) + Changes(profile) + EvidenceLine(profile);
}

}  // namespace wt::chip
