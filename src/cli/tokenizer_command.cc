// windtunnel tokenizer: train, use and convert byte-level BPE tokenizers.
#include <charconv>
#include <iostream>
#include <iterator>
#include <sstream>

#include "base/files.h"
#include "base/text_util.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "text/bpe_train.h"
#include "text/tokenizer_json.h"
#include "text/tokenizer_tiktoken.h"

namespace wt::cli {
namespace {

struct TokenizerArguments {
  std::string input, output, tokenizer, specials = "contest";
  int vocab_size = 8192;
  int64_t characters = 10000;
  bool json = false;
};

std::vector<std::string> Specials(const std::string& name) {
  if (name == "contest") return text::ContestSpecials();
  if (name == "nanochat") return text::NanochatSpecials();
  ExitOn(Error(Code::kInvalidArgument, "--specials {} is not known; expected contest or nanochat",
               name));
  return {};
}

std::string ReadInput(const std::string& path) {
  if (path != "-") return ValueOrExit(ReadFile(path));
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

// By the file's name: tokenizer.json, *.tiktoken, else our own format.
text::Tokenizer LoadAny(const std::string& path) {
  if (path.ends_with(".json")) return ValueOrExit(text::ImportTokenizerJson(path));
  if (!path.ends_with(".tiktoken")) return ValueOrExit(text::Tokenizer::Load(path));
  text::TiktokenImportOptions options;
  options.specials = text::NanochatSpecials();
  return ValueOrExit(text::ImportTiktoken(path, options));
}

// What was written where.
void PrintTokenizer(const text::Tokenizer& tokenizer, const TokenizerArguments& arguments) {
  if (arguments.json) {
    return PrintJson({{"path", arguments.output},
                      {"vocab_size", tokenizer.vocab_size()},
                      {"bos", tokenizer.bos()},
                      {"hash", tokenizer.hash()}});
  }
  std::printf("%s: %d tokens, %s\n", arguments.output.c_str(), tokenizer.vocab_size(),
              tokenizer.hash().substr(0, 12).c_str());
}

void RunTrainTokenizer(const TokenizerArguments& arguments) {
  CatchStopSignals();
  auto reader = ValueOrExit(text::OpenDocuments(arguments.input));
  StageLine line;
  text::BpeTrainOptions options;
  options.vocab_size = arguments.vocab_size;
  options.specials = Specials(arguments.specials);
  options.max_document_chars = arguments.characters > 0 ? arguments.characters : options.max_chars;
  options.progress = [&](const text::BpeTrainProgress& p) {
    return line(p.merging
                    ? fmt::format("{} of {} tokens", p.tokens, options.vocab_size)
                    : fmt::format("read {} characters", FormatCount(static_cast<double>(p.chars))));
  };
  text::Document document;
  const auto next = [&](std::string* text) -> Result<bool> {
    WT_ASSIGN_OR_RETURN(const bool more, reader->Next(&document));
    if (more) text->swap(document.text);
    return more;
  };
  const text::Tokenizer tokenizer = ValueOrExit(text::TrainBpe(options, next));
  ExitOn(tokenizer.Save(arguments.output));
  line.Clear();
  PrintTokenizer(tokenizer, arguments);
}

void RunEncode(const TokenizerArguments& arguments) {
  const text::Tokenizer tokenizer = LoadAny(arguments.tokenizer);
  const std::string text = ReadInput(arguments.input);
  const std::vector<int32_t> ids = tokenizer.Encode(text);
  if (arguments.json)
    return PrintJson({{"ids", ids}, {"tokens", ids.size()}, {"bytes", text.size()}});
  std::printf("%s\n", fmt::format("{}", fmt::join(ids, " ")).c_str());
}

void RunDecode(const TokenizerArguments& arguments) {
  const text::Tokenizer tokenizer = LoadAny(arguments.tokenizer);
  std::istringstream words(ReadInput(arguments.input));
  std::vector<int32_t> ids;
  std::string word;
  while (words >> word) {
    int32_t id = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || *end != '\0' || id < 0 || id >= tokenizer.vocab_size()) {
      ExitOn(Error(Code::kInvalidArgument, "'{}' is not a token id; expected numbers from 0 to {}",
                   word, tokenizer.vocab_size() - 1));
    }
    ids.push_back(id);
  }
  const std::string text = tokenizer.Decode(ids);
  if (arguments.json) {
    // Bytes that are no valid UTF-8 are replaced in JSON.
    const Json json = {{"text", text}, {"bytes", text.size()}};
    return void(
        std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str()));
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Status SaveAny(const text::Tokenizer& tokenizer, const std::string& path) {
  if (path.ends_with(".json")) return text::ExportTokenizerJson(tokenizer, path);
  if (path.ends_with(".tiktoken")) return text::ExportTiktoken(tokenizer, path);
  return tokenizer.Save(path);
}

void RunConvert(const TokenizerArguments& arguments) {
  const text::Tokenizer tokenizer = LoadAny(arguments.input);
  ExitOn(SaveAny(tokenizer, arguments.output));
  PrintTokenizer(tokenizer, arguments);
}

}  // namespace

void AddTokenizerCommand(CLI::App* app) {
  CLI::App* tokenizer =
      app->add_subcommand("tokenizer", "byte-level BPE: train, encode, decode, convert");
  tokenizer->require_subcommand(1);
  const auto arguments = std::make_shared<TokenizerArguments>();

  CLI::App* train = tokenizer->add_subcommand("train", "train a vocabulary on text");
  train
      ->add_option("TEXT", arguments->input, "file, folder or glob of .txt, .jsonl(.zst), .parquet")
      ->required();
  train->add_option("--out", arguments->output, "file to write")->required();
  train->add_option("--vocab-size", arguments->vocab_size, "special tokens included")
      ->capture_default_str();
  train->add_option("--specials", arguments->specials, "contest (4) or nanochat (9)")
      ->capture_default_str();
  train->add_option("--characters", arguments->characters, "of each document that count; 0: all")
      ->capture_default_str();
  train->add_flag("--json", arguments->json, "print one JSON object");
  train->footer(
      "Example:\n  windtunnel tokenizer train 'books/*.txt' --out books.wtok --characters 0");
  train->callback([arguments] { RunTrainTokenizer(*arguments); });

  CLI::App* encode = tokenizer->add_subcommand("encode", "text to token ids");
  encode->add_option("TOKENIZER", arguments->tokenizer, ".wtok, tokenizer.json or .tiktoken")
      ->required();
  encode->add_option("TEXT", arguments->input, "file, or - for standard input")->required();
  encode->add_flag("--json", arguments->json, "print one JSON object");
  encode->footer("Example:\n  echo 'hello world' | windtunnel tokenizer encode books.wtok -");
  encode->callback([arguments] { RunEncode(*arguments); });

  CLI::App* decode = tokenizer->add_subcommand("decode", "token ids to text");
  decode->add_option("TOKENIZER", arguments->tokenizer, ".wtok, tokenizer.json or .tiktoken")
      ->required();
  decode->add_option("IDS", arguments->input, "file of numbers, or - for standard input")
      ->required();
  decode->add_flag("--json", arguments->json, "print one JSON object");
  decode->footer("Example:\n  echo '72 105' | windtunnel tokenizer decode books.wtok -");
  decode->callback([arguments] { RunDecode(*arguments); });

  CLI::App* convert =
      tokenizer->add_subcommand("convert", "between .wtok, tokenizer.json and .tiktoken");
  convert->add_option("FROM", arguments->input)->required();
  convert->add_option("TO", arguments->output)->required();
  convert->add_flag("--json", arguments->json, "print one JSON object");
  convert->footer("Example:\n  windtunnel tokenizer convert books.wtok tokenizer.json");
  convert->callback([arguments] { RunConvert(*arguments); });
}

}  // namespace wt::cli
