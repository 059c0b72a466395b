#include "text/pretokenizer.h"

namespace wt::text {

Result<std::shared_ptr<const Pretokenizer>> Pretokenizer::Create(std::string_view pattern_name,
                                                                 Engine engine) {
  auto made = std::make_shared<Pretokenizer>();
  WT_ASSIGN_OR_RETURN(made->pattern_, SplitPatternByName(pattern_name));
  if (engine == Engine::kFastest) made->scan_digits_ = made->pattern_->scan_digits;
  if (made->scan_digits_ == 0) {
    WT_ASSIGN_OR_RETURN(made->pcre_, PcreSplitter::Compile(made->pattern_->text));
  }
  return std::shared_ptr<const Pretokenizer>(std::move(made));
}

std::vector<std::string_view> SplitPieces(const Pretokenizer& pretokenizer, std::string_view text) {
  std::vector<std::string_view> pieces;
  PcreSplitter::Scratch scratch;
  PieceReader reader(pretokenizer, text, &scratch);
  for (std::string_view piece; reader.Next(&piece);) pieces.push_back(piece);
  return pieces;
}

}  // namespace wt::text
