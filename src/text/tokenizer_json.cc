#include "text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "text/pretokenizer_patterns.h"
#include "text/tokenizer_json_bytes.h"

namespace wt::text {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kLikelyBos[] = {
    "<|bos|>", "<|begin_of_text|>", "<|endoftext|>", "<|reserved_0|>", "<s>", "<bos>"};

std::string Shown(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 120);
}

Status Refused(std::string_view field, const Json& value, std::string_view expected) {
  return Error(Code::kUnsupported,
               "field \"{}\" is {}; expected {} (anything else would change the ids)", field,
               Shown(value), expected);
}

// The member, or null when it is absent or `object` is no object.
const Json& Member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto it = object.find(key);
  return it == object.end() ? null : *it;
}

bool IsFalseOrAbsent(const Json& value) { return value.is_null() || value == false; }

std::string StringOr(const Json& value, const char* fallback) {
  return value.is_string() ? value.get<std::string>() : fallback;
}

Status CheckModel(const Json& model) {
  if (StringOr(Member(model, "type"), "BPE") != "BPE")
    return Refused("model.type", Member(model, "type"), "\"BPE\"");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = Member(model, key);
    if (!value.is_null() && value != "")
      return Refused(fmt::format("model.{}", key), value, "null or \"\"");
  }
  const Json& dropout = Member(model, "dropout");
  if (!dropout.is_null() && dropout != 0) return Refused("model.dropout", dropout, "null");
  const Json& fallback = Member(model, "byte_fallback");
  if (!IsFalseOrAbsent(fallback)) return Refused("model.byte_fallback", fallback, "false");
  return {};
}

// Fields around the model that change the text or the ids. A post-processor only adds specials.
Status CheckSurroundings(const Json& root) {
  for (const char* key : {"normalizer", "truncation", "padding"}) {
    const Json& value = Member(root, key);
    if (!value.is_null()) return Refused(key, value, "null");
  }
  const Json& decoder = Member(root, "decoder");
  if (!decoder.is_null() && Member(decoder, "type") != "ByteLevel")
    return Refused("decoder", decoder, "ByteLevel");
  return {};
}

Status CheckByteLevel(const Json& step, std::string_view field, bool use_regex) {
  if (Member(step, "type") != "ByteLevel") return Refused(field, step, "type ByteLevel");
  if (Member(step, "add_prefix_space") != false)
    return Refused(fmt::format("{}.add_prefix_space", field), Member(step, "add_prefix_space"),
                   "false");
  const Json& given = Member(step, "use_regex");
  if ((given.is_null() ? Json(true) : given) != use_regex)
    return Refused(fmt::format("{}.use_regex", field), given, use_regex ? "true" : "false");
  return {};
}

// Split with a known pattern, its matches isolated, then ByteLevel without its own pattern.
Result<std::string> PatternOfSequence(const Json& steps) {
  const std::string split_field = "pre_tokenizer.pretokenizers[0]";
  if (!steps.is_array() || steps.size() != 2)
    return Refused("pre_tokenizer.pretokenizers", steps, "a Split and a ByteLevel");
  const Json& split = steps[0];
  if (Member(split, "type") != "Split") return Refused(split_field, split, "type Split");
  if (Member(split, "behavior") != "Isolated")
    return Refused(split_field + ".behavior", Member(split, "behavior"), "\"Isolated\"");
  if (!IsFalseOrAbsent(Member(split, "invert")))
    return Refused(split_field + ".invert", Member(split, "invert"), "false");
  WT_RETURN_IF_ERROR(CheckByteLevel(steps[1], "pre_tokenizer.pretokenizers[1]", false));
  const Json& regex = Member(Member(split, "pattern"), "Regex");
  if (!regex.is_string())
    return Refused(split_field + ".pattern", Member(split, "pattern"), "a Regex");
  const auto pattern = SplitPatternByText(regex.get<std::string>());
  if (!pattern.ok()) return pattern.status().WithContext(split_field + ".pattern.Regex");
  return std::string((*pattern)->name);
}

Result<std::string> PatternOf(const Json& root) {
  const Json& step = Member(root, "pre_tokenizer");
  if (Member(step, "type") == "Sequence") return PatternOfSequence(Member(step, "pretokenizers"));
  WT_RETURN_IF_ERROR(CheckByteLevel(step, "pre_tokenizer", true));
  return std::string("gpt2");
}

// A vocabulary under construction: ids come in any order and must end up dense.
class SpecBuilder {
 public:
  Status Place(int64_t id, std::string token, bool special, std::string_view field) {
    if (id < 0 || id >= kMaxVocabSize) {
      return Error(Code::kCorrupt, "{}: id {}; expected 0 to {}", field, id, kMaxVocabSize - 1);
    }
    if (static_cast<size_t>(id) >= spec_.tokens.size()) {
      spec_.tokens.resize(id + 1);
      spec_.special.resize(id + 1);
    }
    if (!spec_.tokens[id].empty())
      return Error(Code::kCorrupt, "{}: id {} is given twice", field, id);
    spec_.tokens[id] = std::move(token);
    spec_.special[id] = special;
    return {};
  }

  Status CheckDense() const {
    for (size_t id = 0; id < spec_.tokens.size(); ++id) {
      if (!spec_.tokens[id].empty()) continue;
      return Error(Code::kUnsupported, "model.vocab: id {} has no token; expected all of 0 to {}",
                   id, spec_.tokens.size() - 1);
    }
    return {};
  }

  TokenizerSpec& spec() { return spec_; }

 private:
  TokenizerSpec spec_;
};

Status PlaceAdded(const Json& root, SpecBuilder* builder) {
  const Json& added = Member(root, "added_tokens");
  if (!added.is_null() && !added.is_array()) return Refused("added_tokens", added, "a list");
  for (size_t i = 0; i < added.size(); ++i) {
    const std::string field = fmt::format("added_tokens[{}]", i);
    const Json& id = Member(added[i], "id");
    const Json& content = Member(added[i], "content");
    if (!id.is_number_integer() || !content.is_string())
      return Error(Code::kCorrupt, "{}: expected an id and a content", field);
    // Others are looked for in ordinary text before it is split.
    if (Member(added[i], "special") != true)
      return Refused(field + ".special", Member(added[i], "special"), "true");
    WT_RETURN_IF_ERROR(builder->Place(id.get<int64_t>(), content.get<std::string>(), true, field));
  }
  return {};
}

Status PlaceVocabulary(const Json& model, SpecBuilder* builder) {
  const Json& vocab = Member(model, "vocab");
  if (!vocab.is_object()) return Error(Code::kCorrupt, "model.vocab: expected an object");
  for (const auto& [token, id] : vocab.items()) {
    if (!id.is_number_integer())
      return Error(Code::kCorrupt, "model.vocab: \"{}\" has no integer id", token);
    const int64_t number = id.get<int64_t>();
    // GPT-2's file lists <|endoftext|> both here and among the added tokens.
    const TokenizerSpec& spec = builder->spec();
    const bool placed = number >= 0 && number < static_cast<int64_t>(spec.tokens.size());
    if (placed && spec.special[number] && spec.tokens[number] == token) continue;
    WT_ASSIGN_OR_RETURN(std::string bytes, AlphabetToBytes(token));
    WT_RETURN_IF_ERROR(
        builder->Place(number, std::move(bytes), false, fmt::format("model.vocab \"{}\"", token)));
  }
  return {};
}

// "a b" or ["a", "b"].
bool SplitMerge(const Json& merge, std::string* left, std::string* right) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    *left = merge[0].get<std::string>();
    *right = merge[1].get<std::string>();
    return true;
  }
  if (!merge.is_string()) return false;
  const std::string text = merge.get<std::string>();
  const size_t space = text.find(' ');
  if (space == std::string::npos) return false;
  *left = text.substr(0, space);
  *right = text.substr(space + 1);
  return true;
}

Result<int32_t> IdOf(const Json& vocab, const std::string& token, size_t merge) {
  const auto it = vocab.find(token);
  if (it == vocab.end())
    return Error(Code::kCorrupt, "model.merges[{}]: \"{}\" is not in model.vocab", merge, token);
  return it->get<int32_t>();
}

Status ReadMerges(const Json& model, std::vector<MergePair>* merges) {
  const Json& list = Member(model, "merges");
  const Json& vocab = Member(model, "vocab");
  if (!list.is_array()) return Error(Code::kCorrupt, "model.merges: expected a list");
  for (size_t i = 0; i < list.size(); ++i) {
    std::string left, right;
    if (!SplitMerge(list[i], &left, &right)) {
      return Error(Code::kCorrupt, "model.merges[{}]: given {}, expected \"a b\" or [\"a\", \"b\"]",
                   i, Shown(list[i]));
    }
    MergePair pair;
    WT_ASSIGN_OR_RETURN(pair.left, IdOf(vocab, left, i));
    WT_ASSIGN_OR_RETURN(pair.right, IdOf(vocab, right, i));
    merges->push_back(pair);
  }
  return {};
}

Status ChooseBos(const std::string& wanted, TokenizerSpec* spec) {
  const auto find = [&](std::string_view name) {
    for (size_t id = 0; id < spec->tokens.size(); ++id)
      if (spec->special[id] && spec->tokens[id] == name) return static_cast<int>(id);
    return -1;
  };
  if (!wanted.empty()) {
    spec->bos = find(wanted);
    if (spec->bos >= 0) return {};
    return Error(Code::kInvalidArgument, "BOS \"{}\" is not among the file's added_tokens", wanted);
  }
  for (const std::string_view name : kLikelyBos)
    if (spec->bos < 0) spec->bos = find(name);
  return {};
}

}  // namespace

Result<Tokenizer> ParseTokenizerJson(std::string_view text, const JsonImportOptions& options) {
  const Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object())
    return Error(Code::kCorrupt, "not a JSON object; expected a tokenizer.json");
  const Json& model = Member(root, "model");
  WT_RETURN_IF_ERROR(CheckModel(model));
  WT_RETURN_IF_ERROR(CheckSurroundings(root));
  SpecBuilder builder;
  WT_ASSIGN_OR_RETURN(builder.spec().pattern, PatternOf(root));
  WT_RETURN_IF_ERROR(PlaceAdded(root, &builder));
  WT_RETURN_IF_ERROR(PlaceVocabulary(model, &builder));
  WT_RETURN_IF_ERROR(builder.CheckDense());
  TokenizerSpec& spec = builder.spec();
  spec.rule = MergeRule::kByList;
  spec.whole_piece_first = Member(model, "ignore_merges") == true;
  WT_RETURN_IF_ERROR(ReadMerges(model, &spec.merges));
  WT_RETURN_IF_ERROR(ChooseBos(options.bos, &spec));
  return Tokenizer::Create(std::move(spec));
}

Result<Tokenizer> ImportTokenizerJson(const std::string& path, const JsonImportOptions& options) {
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Result<Tokenizer> made = ParseTokenizerJson(text, options);
  if (!made.ok()) return made.status().WithContext(path);
  return made;
}

}  // namespace wt::text
