#include "text/tokenizer.h"

#include <algorithm>
#include <unordered_set>

#include "base/files.h"
#include "base/parallel.h"
#include "text/tokenizer_encoder.h"
#include "text/tokenizer_file.h"

namespace wt::text {
namespace {

Status CheckSizes(const TokenizerSpec& spec) {
  if (spec.tokens.size() > static_cast<size_t>(kMaxVocabSize) ||
      spec.special.size() != spec.tokens.size()) {
    return Error(Code::kCorrupt, "vocabulary of {} tokens and {} special marks; expected up to {}",
                 spec.tokens.size(), spec.special.size(), kMaxVocabSize);
  }
  if (spec.rule == MergeRule::kByRank && !spec.merges.empty()) {
    return Error(Code::kCorrupt, "{} merges listed; merging by rank takes none",
                 spec.merges.size());
  }
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.tokens[id].empty() || spec.tokens[id].size() > kMaxTokenBytes) {
      return Error(Code::kCorrupt, "token {} has {} bytes; expected 1 to {}", id,
                   spec.tokens[id].size(), kMaxTokenBytes);
    }
  }
  return {};
}

// Names stand on a line of their own in the file, so a control character would break it.
Status CheckSpecials(const TokenizerSpec& spec) {
  std::unordered_set<std::string_view> names;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (!spec.special[id]) continue;
    const std::string& name = spec.tokens[id];
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 32 || c == 127; }))
      return Error(Code::kCorrupt, "special {}: its name has control characters", id);
    if (ValidUtf8Prefix(name) != name.size())
      return Error(Code::kCorrupt, "special {}: its name is not UTF-8", id);
    if (!names.insert(name).second)
      return Error(Code::kCorrupt, "special {}: the name \"{}\" is taken already", id, name);
  }
  const int size = static_cast<int>(spec.tokens.size());
  if (spec.bos < -1 || spec.bos >= size || (spec.bos >= 0 && !spec.special[spec.bos])) {
    return Error(Code::kCorrupt, "BOS is id {}; expected a special of the {} tokens, or -1",
                 spec.bos, size);
  }
  return {};
}

std::vector<std::string> OrdinaryTokens(const TokenizerSpec& spec) {
  std::vector<std::string> tokens = spec.tokens;
  for (size_t id = 0; id < tokens.size(); ++id)
    if (spec.special[id]) tokens[id].clear();
  return tokens;
}

}  // namespace

struct Tokenizer::State {
  State(TokenizerSpec the_spec, BpeModel the_model,
        std::shared_ptr<const Pretokenizer> the_pretokenizer)
      : spec(std::move(the_spec)),
        model(std::move(the_model)),
        pretokenizer(std::move(the_pretokenizer)),
        hash(Sha256(SerializeTokenizer(spec))) {
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
      const bool special = spec.special[id];
      token_bytes.push_back(special ? 0 : static_cast<int32_t>(spec.tokens[id].size()));
    }
  }

  const TokenizerSpec spec;
  const BpeModel model;
  const std::shared_ptr<const Pretokenizer> pretokenizer;
  const std::string hash;
  std::vector<int32_t> token_bytes;
  mutable EncoderPool encoders;
};

Result<Tokenizer> Tokenizer::Create(TokenizerSpec spec) {
  WT_RETURN_IF_ERROR(CheckSizes(spec));
  WT_RETURN_IF_ERROR(CheckSpecials(spec));
  WT_ASSIGN_OR_RETURN(auto pretokenizer, Pretokenizer::Create(spec.pattern));
  WT_ASSIGN_OR_RETURN(BpeModel model,
                      BpeModel::Build(OrdinaryTokens(spec), spec.rule, spec.merges));
  return Tokenizer(
      std::make_shared<const State>(std::move(spec), std::move(model), std::move(pretokenizer)));
}

Result<Tokenizer> Tokenizer::Load(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<TokenizerSpec> spec = ParseTokenizer(text);
  if (!spec.ok()) return spec.status().WithContext(path);
  Result<Tokenizer> made = Create(std::move(*spec));
  if (!made.ok()) return made.status().WithContext(path);
  return made;
}

Status Tokenizer::Save(const std::string& path) const {
  return WriteFileAtomic(path, SerializeTokenizer(state_->spec));
}

int Tokenizer::vocab_size() const { return static_cast<int>(state_->spec.tokens.size()); }
int Tokenizer::bos() const { return state_->spec.bos; }
const std::string& Tokenizer::hash() const { return state_->hash; }
const TokenizerSpec& Tokenizer::spec() const { return state_->spec; }
const BpeModel& Tokenizer::model() const { return state_->model; }
const std::vector<int32_t>& Tokenizer::token_bytes() const { return state_->token_bytes; }

void Tokenizer::Encode(std::string_view text, std::vector<int32_t>* out) const {
  std::unique_ptr<Encoder> encoder = state_->encoders.Take();
  encoder->Encode(*state_->pretokenizer, state_->model, state_->spec.whole_piece_first, text, out);
  state_->encoders.Return(std::move(encoder));
}

std::vector<int32_t> Tokenizer::Encode(std::string_view text) const {
  std::vector<int32_t> ids;
  Encode(text, &ids);
  return ids;
}

std::vector<std::vector<int32_t>> Tokenizer::EncodeAll(
    std::span<const std::string_view> texts) const {
  std::vector<std::vector<int32_t>> all(texts.size());
  ParallelFor(static_cast<int64_t>(texts.size()), [&](int64_t i) { Encode(texts[i], &all[i]); });
  return all;
}

std::string Tokenizer::Decode(std::span<const int32_t> ids, Specials specials) const {
  std::string text;
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size()) continue;
    if (!state_->spec.special[id] || specials == Specials::kName) text += state_->spec.tokens[id];
  }
  return text;
}

bool Tokenizer::IsSpecial(int32_t id) const {
  WT_CHECK(id >= 0 && id < vocab_size(), "token id {} of {}", id, vocab_size());
  return state_->spec.special[id];
}

std::string_view Tokenizer::TokenBytes(int32_t id) const {
  return IsSpecial(id) ? std::string_view() : state_->spec.tokens[id];
}

std::string_view Tokenizer::SpecialName(int32_t id) const {
  return IsSpecial(id) ? state_->spec.tokens[id] : std::string_view();
}

int Tokenizer::SpecialId(std::string_view name) const {
  for (int id = vocab_size() - 1; id >= 0; --id)
    if (state_->spec.special[id] && state_->spec.tokens[id] == name) return id;
  return -1;
}

std::vector<std::string> NanochatSpecials() {
  return {"<|bos|>",           "<|user_start|>",   "<|user_end|>",   "<|assistant_start|>",
          "<|assistant_end|>", "<|python_start|>", "<|python_end|>", "<|output_start|>",
          "<|output_end|>"};
}

std::vector<std::string> ContestSpecials() {
  return {"<|reserved_0|>", "<|reserved_1|>", "<|reserved_2|>", "<|reserved_3|>"};
}

void AppendSpecials(const std::vector<std::string>& names, TokenizerSpec* spec) {
  if (!names.empty()) spec->bos = static_cast<int>(spec->tokens.size());
  for (const std::string& name : names) {
    spec->tokens.push_back(name);
    spec->special.push_back(true);
  }
}

}  // namespace wt::text
