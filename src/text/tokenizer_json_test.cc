#include "text/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "text/pretokenizer_patterns.h"
#include "text/tokenizer_json_bytes.h"
#include "text/tokenizer_test_util.h"

namespace wt::text {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// A tokenizer.json in the manner of GPT-2's: bytes in alphabet order, merges as strings, its
// special listed in the vocabulary too.
Json Gpt2Like() {
  Json vocab;
  for (int id = 0; id < 256; ++id) {
    const char byte = static_cast<char>(255 - id);
    vocab[BytesToAlphabet({&byte, 1})] = id;
  }
  vocab["Ġt"] = 256;
  vocab["he"] = 257;
  vocab["Ġthe"] = 258;
  vocab["th"] = 259;
  vocab["<|endoftext|>"] = 260;
  return {{"added_tokens", {{{"id", 260}, {"content", "<|endoftext|>"}, {"special", true}}}},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"post_processor", {{"type", "ByteLevel"}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"vocab", vocab}, {"merges", {"Ġ t", "h e", "Ġt he", "t h"}}, {"dropout", nullptr}}}};
}

std::string JsonError(const Json& json, const JsonImportOptions& options = {}) {
  return ParseTokenizerJson(json.dump(), options).status().message();
}

Result<Tokenizer> Parse(const Json& json) { return ParseTokenizerJson(json.dump()); }

TEST(TokenizerJson, ByteAlphabetMapsEveryByteBothWays) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(*AlphabetToBytes(BytesToAlphabet(all)), all);
  EXPECT_EQ(BytesToAlphabet(" a\n\x7F\xA0\xAD\xFF"), "ĠaĊġłŃÿ");
  EXPECT_FALSE(AlphabetToBytes("a b").ok()) << "a plain blank stands for nothing";
  EXPECT_FALSE(AlphabetToBytes("日").ok());
}

TEST(TokenizerJson, ImportsGpt2Style) {
  const auto made = Parse(Gpt2Like());
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->vocab_size(), 261);
  EXPECT_EQ(made->bos(), 260);
  EXPECT_EQ(made->spec().pattern, "gpt2");
  EXPECT_EQ(made->Encode(" the"), std::vector<int32_t>{258});
  EXPECT_EQ(made->Encode("the"), (std::vector<int32_t>{255 - 't', 257})) << "he before th";
  EXPECT_EQ(made->Encode("th"), std::vector<int32_t>{259});
  EXPECT_EQ(made->Decode(made->Encode("<|endoftext|>")), "<|endoftext|>");
}

TEST(TokenizerJson, IgnoreMergesTakesWholePiecesFirst) {
  Json json = Gpt2Like();
  json["model"]["vocab"]["xyz"] = 261;  // no merge leads to it
  EXPECT_EQ(Parse(json)->Encode("xyz").size(), 3u);
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(Parse(json)->Encode("xyz"), std::vector<int32_t>{261});
}

TEST(TokenizerJson, MergesMayBePairs) {
  Json json = Gpt2Like();
  json["model"]["merges"] = Json::parse(R"([["Ġ", "t"], ["h", "e"], ["Ġt", "he"], ["t", "h"]])");
  const auto made = Parse(json);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->hash(), Parse(Gpt2Like())->hash());
}

TEST(TokenizerJson, ExportThenImportEncodesTheSame) {
  for (const char* pattern : {"nanochat", "cl100k", "gpt2", "gpt2-possessive", "o200k"}) {
    TokenizerSpec spec = SmallTokenizer().spec();
    spec.pattern = pattern;
    const Tokenizer original = std::move(*Tokenizer::Create(spec));
    const auto again = ParseTokenizerJson(*FormatTokenizerJson(original));
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->bos(), original.bos());
    EXPECT_EQ(again->token_bytes(), original.token_bytes());
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const std::string text = RandomText(seed, 100) + RandomBytes(seed, 20);
      ASSERT_EQ(again->Encode(text), original.Encode(text)) << pattern << " seed " << seed;
    }
  }
}

TEST(TokenizerJson, ListedMergesSurviveExportAndSaving) {
  const Tokenizer original = std::move(*Parse(Gpt2Like()));
  EXPECT_EQ(ParseTokenizerJson(*FormatTokenizerJson(original))->hash(), original.hash());
  const std::string path = testing::TempDir() + "/tokenizer_json_test";
  ASSERT_TRUE(original.Save(path + ".wtok").ok());
  EXPECT_EQ(Tokenizer::Load(path + ".wtok")->hash(), original.hash());
  ASSERT_TRUE(ExportTokenizerJson(original, path + ".json").ok());
  EXPECT_EQ(ImportTokenizerJson(path + ".json")->hash(), original.hash());
  EXPECT_THAT(ImportTokenizerJson(path + ".wtok").status().message(), HasSubstr(path));
}

TEST(TokenizerJson, BosIsChosenByName) {
  Json json = Gpt2Like();
  json["added_tokens"].push_back({{"id", 261}, {"content", "<|x|>"}, {"special", true}});
  EXPECT_EQ(ParseTokenizerJson(json.dump(), {.bos = "<|x|>"})->bos(), 261);
  EXPECT_THAT(JsonError(json, {.bos = "<|y|>"}), HasSubstr("\"<|y|>\" is not among"));
}

// Each change would alter ids; the message names its field.
TEST(TokenizerJson, RefusesWhatItCannotReproduce) {
  const auto error = [](const char* pointer, const Json& value) {
    Json json = Gpt2Like();
    json[Json::json_pointer(pointer)] = value;
    return JsonError(json);
  };
  EXPECT_THAT(error("/model/type", "WordPiece"), HasSubstr("\"model.type\" is \"WordPiece\""));
  EXPECT_THAT(error("/model/dropout", 0.1), HasSubstr("\"model.dropout\""));
  EXPECT_THAT(error("/model/byte_fallback", true), HasSubstr("\"model.byte_fallback\""));
  EXPECT_THAT(error("/model/end_of_word_suffix", "</w>"), HasSubstr("model.end_of_word_suffix"));
  EXPECT_THAT(error("/normalizer", {{"type", "NFC"}}), HasSubstr("\"normalizer\" is {\"type\""));
  EXPECT_THAT(error("/truncation", {{"max_length", 5}}), HasSubstr("\"truncation\""));
  EXPECT_THAT(error("/decoder/type", "Metaspace"), HasSubstr("\"decoder\""));
  EXPECT_THAT(error("/pre_tokenizer/type", "Whitespace"), HasSubstr("\"pre_tokenizer\""));
  EXPECT_THAT(error("/pre_tokenizer", nullptr), HasSubstr("\"pre_tokenizer\" is null"));
  EXPECT_THAT(error("/pre_tokenizer/add_prefix_space", true), HasSubstr("add_prefix_space"));
  EXPECT_THAT(error("/pre_tokenizer/use_regex", false), HasSubstr("use_regex"));
  EXPECT_THAT(error("/added_tokens/0/special", false), HasSubstr("added_tokens[0].special"));
}

TEST(TokenizerJson, RefusesSplitsItCannotReproduce) {
  const auto error = [](const char* pointer, const Json& value) {
    Json json = Json::parse(*FormatTokenizerJson(SmallTokenizer()));
    json["pre_tokenizer"]["pretokenizers"][0][Json::json_pointer(pointer)] = value;
    return JsonError(json);
  };
  EXPECT_THAT(error("/behavior", "Removed"), HasSubstr("pretokenizers[0].behavior"));
  EXPECT_THAT(error("/invert", true), HasSubstr("pretokenizers[0].invert"));
  EXPECT_THAT(error("/pattern/Regex", "\\w+"), HasSubstr("pattern.Regex: split pattern `\\w+`"));
  EXPECT_THAT(error("/pattern", {{"String", " "}}), HasSubstr("pretokenizers[0].pattern"));
  EXPECT_THAT(error("/type", "Digits"), HasSubstr("type Split"));
}

TEST(TokenizerJson, RefusesThePatternTheTwoEnginesReadDifferently) {
  TokenizerSpec spec = SmallTokenizer().spec();
  spec.pattern = "cl100k-possessive";
  const auto text = FormatTokenizerJson(*Tokenizer::Create(spec));
  EXPECT_THAT(text.status().message(), HasSubstr("reads {1,3}+"));
  Json json = Json::parse(*FormatTokenizerJson(SmallTokenizer()));
  json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] =
      std::string((*SplitPatternByName(spec.pattern))->text);
  EXPECT_THAT(JsonError(json), HasSubstr("pretokenizers[0]: pattern cl100k-possessive"));
}

TEST(TokenizerJson, RefusesBrokenFiles) {
  const auto error = [](const char* pointer, const Json& value) {
    Json json = Gpt2Like();
    json[Json::json_pointer(pointer)] = value;
    return JsonError(json);
  };
  EXPECT_THAT(ParseTokenizerJson("{\"model\":").status().message(), HasSubstr("not a JSON object"));
  EXPECT_THAT(JsonError(Json::array()), HasSubstr("not a JSON object"));
  EXPECT_THAT(JsonError(Json::object()), HasSubstr("pre_tokenizer"));
  EXPECT_THAT(error("/model/vocab/th", "x"), HasSubstr("\"th\" has no integer id"));
  EXPECT_THAT(error("/model/vocab/th", -1), HasSubstr("id -1"));
  EXPECT_THAT(error("/model/vocab/th", 258), HasSubstr("id 258 is given twice"));
  EXPECT_THAT(error("/model/vocab/th", 900), HasSubstr("id 259 has no token"));
  EXPECT_THAT(error("/model/vocab/th", 99999999999), HasSubstr("expected 0 to"));
  EXPECT_THAT(error("/model/vocab", 3), HasSubstr("model.vocab: expected an object"));
  EXPECT_THAT(error("/model/merges", nullptr), HasSubstr("model.merges: expected a list"));
  EXPECT_THAT(error("/model/merges/1", "he"), HasSubstr("model.merges[1]: given \"he\""));
  EXPECT_THAT(error("/model/merges/1", "h q q"), HasSubstr("\"q q\" is not in model.vocab"));
  EXPECT_THAT(error("/model/merges/1", "h q"), HasSubstr("join to \"hq\""));
  EXPECT_THAT(error("/added_tokens/0/id", "x"), HasSubstr("added_tokens[0]: expected an id"));
  EXPECT_THAT(error("/added_tokens", "x"), HasSubstr("\"added_tokens\""));
}

TEST(TokenizerJson, RandomMutationsNeverCrash) {
  Philox random(31, 0);
  const std::string good = Gpt2Like().dump();
  int accepted = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (uint64_t edits = 1 + random.NextBelow(3); edits > 0; --edits) {
      const size_t at = random.NextBelow(text.size());
      if (random.NextBelow(2) == 0) text[at] = static_cast<char>(random.NextU32());
      if (random.NextBelow(4) == 0) text.erase(at, 1 + random.NextBelow(10));
      if (random.NextBelow(4) == 0) text[at] = static_cast<char>('0' + random.NextBelow(10));
    }
    const auto made = ParseTokenizerJson(text);
    if (!made.ok()) continue;
    ++accepted;
    ASSERT_EQ(made->Decode(made->Encode("The end. \xFF")), "The end. \xFF");
  }
  EXPECT_LT(accepted, 1900);
}

}  // namespace
}  // namespace wt::text
