#include <nlohmann/json.hpp>

#include "chip/profile/profile_text.h"

namespace wt::chip {
namespace {

using nlohmann::json;

json PlaceJson(const Profile& profile, SourceId source) {
  if (source == 0 || !profile.sources) return nullptr;
  const SourceLine& line = profile.sources->at(source);
  return {{"file", line.file}, {"line", line.line}, {"function", line.function}};
}

json EnginesJson(const Profile& profile) {
  json engines = json::object();
  for (int e = 0; e < kNumEngines; ++e) {
    const auto i = static_cast<size_t>(e);
    engines[EngineName(static_cast<Engine>(e))] = {{"busy_us", profile.busy_ns[i] / 1e3},
                                                   {"active_us", profile.active_ns[i] / 1e3},
                                                   {"share", profile.share(static_cast<Engine>(e))},
                                                   {"instructions", profile.instructions[i]}};
  }
  return engines;
}

json DmaJson(const DmaStats& dma) {
  return {{"load_bytes", dma.load_bytes},
          {"store_bytes", dma.store_bytes},
          {"other_bytes", dma.other_bytes},
          {"transfers", dma.transfers},
          {"descriptors", dma.descriptors},
          {"average_descriptor_bytes", dma.average_descriptor_bytes},
          {"small_descriptor_bytes", dma.small_bytes},
          {"reloaded_bytes", dma.reloaded_bytes}};
}

json StallsJson(const Profile& profile) {
  json stalls = json::array();
  for (const Stall& stall : profile.stalls) {
    stalls.push_back({{"us", stall.ns / 1e3},
                      {"count", stall.count},
                      {"wait", WaitName(stall.wait)},
                      {"waiting_for", EngineName(stall.waiting_for)},
                      {"at", PlaceJson(profile, stall.waiting_source)},
                      {"for", PlaceJson(profile, stall.source)}});
  }
  return stalls;
}

}  // namespace

nlohmann::json ProfileJson(const Profile& profile) {
  json evidence = json::object(), advice = json::array(), lines = json::array();
  for (int e = 0; e < kNumEvidence; ++e) {
    evidence[EvidenceName(static_cast<Evidence>(e))] =
        profile.evidence_share[static_cast<size_t>(e)];
  }
  for (const Advice& item : profile.advice) {
    advice.push_back({{"what", item.what},
                      {"gain_us", item.gain_ns / 1e3},
                      {"at", PlaceJson(profile, item.source)}});
  }
  for (const LineCost& line : profile.lines) {
    json busy = json::object();
    for (int e = 0; e < kNumEngines; ++e) {
      const double ns = line.busy_ns[static_cast<size_t>(e)];
      if (ns > 0) busy[EngineName(static_cast<Engine>(e))] = ns / 1e3;
    }
    lines.push_back({{"at", PlaceJson(profile, line.source)},
                     {"instructions", line.instructions},
                     {"busy_us", busy}});
  }
  return {{"kernel", profile.kernel},
          {"machine", profile.machine},
          {"policy", profile.policy},
          {"latency_us", profile.latency_ns / 1e3},
          {"latency_low_us", profile.band_low_ns / 1e3},
          {"latency_high_us", profile.band_high_ns / 1e3},
          {"band_rule", profile.band_rule},
          {"envelope_us", profile.envelope_ns / 1e3},
          {"engines", EnginesJson(profile)},
          {"busiest", EngineName(profile.busiest)},
          {"idle_us", profile.idle_ns / 1e3},
          {"pe_limited_us", profile.pe_limited_ns / 1e3},
          {"table_load_us", profile.table_load_ns / 1e3},
          {"flops", profile.flops},
          {"mfu", profile.mfu},
          {"mbu", profile.mbu},
          {"dma", DmaJson(profile.dma)},
          {"sbuf_bytes_peak", profile.sbuf_bytes_peak},
          {"sbuf_bytes_by_partition", profile.sbuf.peak_by_partition},
          {"psum_bytes_by_partition", profile.psum.peak_by_partition},
          {"psum_banks_peak", profile.psum_banks_peak},
          {"oversubscribed", profile.oversubscribed},
          {"stalls", StallsJson(profile)},
          {"lines", lines},
          {"advice", advice},
          {"evidence", evidence}};
}

}  // namespace wt::chip
