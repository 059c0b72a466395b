// Writing tokenizer.json; tokenizer_json.cc reads it.
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "text/pretokenizer_patterns.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_json_bytes.h"

namespace wt::text {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson ByteLevel(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", use_regex}};
}

OrderedJson PreTokenizer(const std::string& pattern_name) {
  if (pattern_name == "gpt2") return ByteLevel(true);
  const auto pattern = SplitPatternByName(pattern_name);
  WT_CHECK(pattern.ok(), "{}", pattern.status().message());
  const OrderedJson split = {{"type", "Split"},
                             {"pattern", {{"Regex", (*pattern)->text}}},
                             {"behavior", "Isolated"},
                             {"invert", false}};
  return {{"type", "Sequence"}, {"pretokenizers", OrderedJson::array({split, ByteLevel(false)})}};
}

OrderedJson AddedTokens(const TokenizerSpec& spec) {
  OrderedJson added = OrderedJson::array();
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (!spec.special[id]) continue;
    added.push_back({{"id", id},
                     {"content", spec.tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  return added;
}

// The pairs that may merge, in rank order.
std::vector<MergePair> MergesOf(const Tokenizer& tokenizer) {
  const TokenizerSpec& spec = tokenizer.spec();
  if (spec.rule == MergeRule::kByList) return spec.merges;
  std::vector<MergePair> merges;
  for (int id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view bytes = tokenizer.TokenBytes(id);
    for (size_t cut = 1; cut < bytes.size(); ++cut) {
      const MergePair pair = {tokenizer.model().Find(bytes.substr(0, cut)),
                              tokenizer.model().Find(bytes.substr(cut))};
      if (pair.left >= 0 && pair.right >= 0) merges.push_back(pair);
    }
  }
  return merges;
}

OrderedJson Model(const Tokenizer& tokenizer) {
  const TokenizerSpec& spec = tokenizer.spec();
  std::vector<std::string> written(spec.tokens.size());
  std::map<std::string, size_t> vocab;
  for (size_t id = 0; id < written.size(); ++id) {
    if (spec.special[id]) continue;
    written[id] = BytesToAlphabet(spec.tokens[id]);
    vocab[written[id]] = id;
  }
  OrderedJson merges = OrderedJson::array();
  for (const MergePair& m : MergesOf(tokenizer))
    merges.push_back(OrderedJson::array({written[m.left], written[m.right]}));
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", spec.whole_piece_first},
          {"vocab", vocab},
          {"merges", merges}};
}

}  // namespace

Result<std::string> FormatTokenizerJson(const Tokenizer& tokenizer) {
  WT_RETURN_IF_ERROR(CheckJsonPattern(tokenizer.spec().pattern));
  const OrderedJson root = {
      {"version", "1.0"},          {"truncation", nullptr},
      {"padding", nullptr},        {"added_tokens", AddedTokens(tokenizer.spec())},
      {"normalizer", nullptr},     {"pre_tokenizer", PreTokenizer(tokenizer.spec().pattern)},
      {"post_processor", nullptr}, {"decoder", ByteLevel(true)},
      {"model", Model(tokenizer)}};
  return root.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Status ExportTokenizerJson(const Tokenizer& tokenizer, const std::string& path) {
  WT_ASSIGN_OR_RETURN(const std::string text, FormatTokenizerJson(tokenizer));
  return WriteFileAtomic(path, text);
}

}  // namespace wt::text
