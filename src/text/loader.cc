#include "text/loader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "base/text_util.h"
#include "text/loader_state.h"
#include "text/packing.h"

namespace wt::text {
namespace {

using nlohmann::json;

constexpr char kStateFormat[] = "windtunnel.loader.1";
constexpr uint64_t kPoolStream = uint64_t{0x706f6f6c} << 32;  // apart from other uses of the seed

Status CheckConfig(const LoaderConfig& c) {
  const auto at_least = [](const char* name, int64_t value, int64_t least) {
    if (value >= least) return Status();
    return Error(Code::kInvalidArgument, "loader: {} = {}; expected at least {}", name, value,
                 least);
  };
  WT_RETURN_IF_ERROR(at_least("context", c.context, 1));
  WT_RETURN_IF_ERROR(at_least("rows", c.rows, 1));
  WT_RETURN_IF_ERROR(at_least("buffer_documents", c.buffer_documents, 1));
  WT_RETURN_IF_ERROR(at_least("refill_documents", c.refill_documents, 1));
  WT_RETURN_IF_ERROR(at_least("streams", c.streams, 1));
  WT_RETURN_IF_ERROR(at_least("shuffle_pool", c.shuffle_pool, 0));
  WT_RETURN_IF_ERROR(at_least("shuffle_from_row", c.shuffle_from_row, 0));
  if (c.layout == Layout::kBestFit && c.streams != 1) {
    return Error(Code::kInvalidArgument,
                 "loader: streams = {} with layout best_fit; expected layout stream, or streams 1",
                 c.streams);
  }
  return {};
}

Result<std::unique_ptr<RowSource>> MakeRows(std::shared_ptr<const RankDocuments> documents,
                                            const LoaderConfig& c) {
  if (c.layout == Layout::kStream) return MakeStreamRows(documents, {c.context, c.streams, false});
  return MakeBestFitRows(documents, {c.context, c.buffer_documents, c.refill_documents, false});
}

// What must be equal for a state to continue: everything that decides which rows come when.
json Identity(const TokenSet& set, const LoaderConfig& c) {
  json identity = {{"layout", LayoutName(c.layout)},
                   {"context", c.context},
                   {"rank", c.rank},
                   {"world", c.world},
                   {"bos", c.bos},
                   {"shuffle_pool", c.shuffle_pool},
                   {"documents", set.documents()},
                   {"tokens", set.tokens()},
                   {"row_groups", set.row_groups()},
                   {"tokenizer", set.tokenizer_hash()}};
  if (c.layout == Layout::kStream) identity["streams"] = c.streams;
  if (c.layout == Layout::kBestFit) {
    identity["buffer_documents"] = c.buffer_documents;
    identity["refill_documents"] = c.refill_documents;
  }
  if (c.shuffle_pool > 0) {
    identity["seed"] = c.seed;
    identity["shuffle_from_row"] = c.shuffle_from_row;
  }
  return identity;
}

Status CheckIdentity(const json& saved, const json& mine) {
  for (const auto& [key, value] : mine.items()) {
    const json given = saved.is_object() ? saved.value(key, json()) : json();
    if (given == value) continue;
    return Error(Code::kMismatch,
                 "loader state: saved with {} = {}, but this run has {}; resume with the data and "
                 "settings of the first run",
                 key, given.dump(), value.dump());
  }
  return {};
}

class RowLoader final : public Loader {
 public:
  RowLoader(const LoaderConfig& config, std::shared_ptr<const json> identity,
            std::unique_ptr<RowSource> rows)
      : config_(config),
        identity_(std::move(identity)),
        rows_(std::move(rows)),
        draws_(MakeDraws(0)),
        row_(static_cast<size_t>(config.context + 1)) {}

  void Next(Batch* batch) override {
    const size_t context = static_cast<size_t>(config_.context);
    const size_t size = static_cast<size_t>(config_.rows) * context;
    batch->inputs.resize(size);
    batch->targets.resize(size);
    for (size_t at = 0; at < size; at += context) {
      PlanRow();
      rows_->Write(plan_, row_);
      SplitRow(row_, config_.mask_bos_targets ? config_.bos : -1, batch->inputs.data() + at,
               batch->targets.data() + at);
    }
    batch->epoch = epoch();
  }

  void Skip(int64_t batches) override {
    for (int64_t row = 0; row < batches * config_.rows; ++row) PlanRow();
  }

  int64_t tokens() const override { return taken_ * config_.context; }
  int64_t epoch() const override { return rows_->epoch(); }

  std::string SaveState() const override {
    const json state = {
        {"format", kStateFormat},       {"of", *identity_},           {"rows", taken_},
        {"source", rows_->SaveState()}, {"draws", draws_.position()}, {"pool", pool_}};
    return state.dump();
  }

  Status RestoreState(std::string_view text) override {
    const json state = json::parse(text, nullptr, false);
    if (!state.is_object() || state.value("format", json()) != kStateFormat) {
      return Error(
          Code::kCorrupt,
          "loader state: {} bytes that are not a state of this program; expected JSON with "
          "format {}; resume from another checkpoint",
          text.size(), kStateFormat);
    }
    WT_RETURN_IF_ERROR(CheckIdentity(state.value("of", json()), *identity_));
    WT_ASSIGN_OR_RETURN(const int64_t taken,
                        StateInt(state, "rows", 0, INT64_MAX / config_.context));
    WT_ASSIGN_OR_RETURN(const int64_t draws, StateInt(state, "draws", 0, INT64_MAX));
    auto rows = rows_->Clone();
    WT_RETURN_IF_ERROR(rows->RestoreState(state.value("source", json())));
    WT_ASSIGN_OR_RETURN(auto pool, ReadPool(state.value("pool", json()), *rows));
    if (!pool.empty() && static_cast<int64_t>(pool.size()) != config_.shuffle_pool) {
      return Error(Code::kCorrupt, "loader state: a pool of {} rows; expected 0 or {}", pool.size(),
                   config_.shuffle_pool);
    }
    rows_ = std::move(rows);
    pool_ = std::move(pool);
    taken_ = taken;
    draws_ = MakeDraws(static_cast<uint64_t>(draws));
    return {};
  }

  std::unique_ptr<Loader> Clone() const override {
    auto copy = std::make_unique<RowLoader>(config_, identity_, rows_->Clone());
    copy->pool_ = pool_;
    copy->draws_ = draws_;
    copy->taken_ = taken_;
    return copy;
  }

 private:
  Philox MakeDraws(uint64_t position) const {
    return Philox(config_.seed, kPoolStream | static_cast<uint32_t>(config_.rank), position);
  }

  // Plans the next row into plan_.
  void PlanRow() {
    const bool shuffled = config_.shuffle_pool > 0 && taken_ >= config_.shuffle_from_row;
    ++taken_;
    if (!shuffled) {
      rows_->Next(&plan_);
      return;
    }
    while (static_cast<int64_t>(pool_.size()) < config_.shuffle_pool) {
      rows_->Next(&pool_.emplace_back());
    }
    RowPlan& drawn = pool_[draws_.NextBelow(pool_.size())];
    plan_.swap(drawn);
    rows_->Next(&drawn);
  }

  Result<std::vector<RowPlan>> ReadPool(const json& pool, const RowSource& rows) const {
    std::vector<RowPlan> plans;
    if (!pool.is_array()) return Error(Code::kCorrupt, "loader state: no pool");
    for (const json& row : pool) {
      WT_ASSIGN_OR_RETURN(RowPlan plan,
                          IntsOf(row, "a row of the pool", 0, INT64_MAX, config_.context + 1));
      WT_RETURN_IF_ERROR(rows.CheckPlan(plan));
      plans.push_back(std::move(plan));
    }
    return plans;
  }

  const LoaderConfig config_;
  const std::shared_ptr<const json> identity_;
  std::unique_ptr<RowSource> rows_;
  std::vector<RowPlan> pool_;
  Philox draws_;
  int64_t taken_ = 0;  // rows handed out
  RowPlan plan_;
  std::vector<int32_t> row_;  // [context + 1]
};

}  // namespace

const char* LayoutName(Layout layout) { return layout == Layout::kBestFit ? "best_fit" : "stream"; }

Result<Layout> ParseLayout(std::string_view name) {
  for (const Layout layout : {Layout::kBestFit, Layout::kStream}) {
    if (name == LayoutName(layout)) return layout;
  }
  const std::string near = NearestName(name, {"best_fit", "stream"});
  return Error(Code::kInvalidArgument, "layout \"{}\"; expected best_fit or stream{}", name,
               near.empty() ? "" : "; did you mean " + near + "?");
}

void SplitRow(std::span<const int32_t> row, int32_t masked, int32_t* inputs, int32_t* targets) {
  std::copy(row.begin(), row.end() - 1, inputs);
  if (masked < 0) {
    std::copy(row.begin() + 1, row.end(), targets);
  } else {
    std::transform(row.begin() + 1, row.end(), targets,
                   [masked](int32_t id) { return id == masked ? -1 : id; });
  }
}

Result<std::unique_ptr<Loader>> MakeLoader(const TokenSet& set, const LoaderConfig& config) {
  WT_RETURN_IF_ERROR(CheckConfig(config));
  WT_ASSIGN_OR_RETURN(auto documents,
                      RankDocuments::Create(set, config.bos, config.rank, config.world));
  WT_ASSIGN_OR_RETURN(
      auto rows, MakeRows(std::make_shared<const RankDocuments>(std::move(documents)), config));
  return std::unique_ptr<Loader>(std::make_unique<RowLoader>(
      config, std::make_shared<const json>(Identity(set, config)), std::move(rows)));
}

}  // namespace wt::text
