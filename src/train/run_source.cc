#include "train/run_source.h"

#include <cstdlib>

#include "base/files.h"
#include "base/home.h"
#include "train/user_model.h"

namespace wt::train {
namespace {

std::string Environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

bool LooksLikePath(const std::string& spec) {
  return spec.find_first_of("/*.") != std::string::npos || FileExists(spec);
}

Result<text::CorpusSpec> NamedCorpus(const std::string& name, const Places& places) {
  WT_ASSIGN_OR_RETURN(const auto list, text::ReadCorpusList(places.home + "/data/corpora.toml"));
  WT_ASSIGN_OR_RETURN(const text::CorpusEntry entry, text::FindCorpus(list, name));
  const std::string folder = places.cache + "/corpora/" + name;
  if (!FileExists(folder)) {
    const std::string how =
        entry.builder.empty() ? "windtunnel data fetch " + name : entry.builder + " " + folder;
    return Error(Code::kNotFound, "corpus {} is not in {} yet; get it with: {}", name, folder, how);
  }
  return text::SpecOf(entry, folder);
}

}  // namespace

Places FindPlaces() {
  const std::string home = HomeFolder();
  return {home, Environment("WINDTUNNEL_CACHE", home + "/cache")};
}

Result<text::CorpusSpec> ResolveCorpus(const DataConfig& config, const Places& places) {
  if (!LooksLikePath(config.corpus)) return NamedCorpus(config.corpus, places);
  text::CorpusSpec spec;
  spec.name = spec.train = config.corpus;
  spec.val = config.val;
  spec.rule = config.val.empty() ? text::SplitRule::kHash : text::SplitRule::kSeparate;
  return spec;
}

Result<text::DatasetOptions> DatasetOptionsOf(const Recipe& recipe, const Places& places) {
  text::DatasetOptions options;
  WT_ASSIGN_OR_RETURN(options.corpus, ResolveCorpus(recipe.data, places));
  options.tokenizer = recipe.data.tokenizer;
  options.vocab_size = static_cast<int>(recipe.model.vocab_size);
  options.tokenizer_characters = recipe.data.tokenizer_characters;
  options.max_document_bytes = recipe.data.max_document_bytes;
  options.cache = places.cache;
  return options;
}

std::string ModelFileOf(const std::string& run_folder) {
  const std::string path = run_folder + "/model.cc";
  return FileExists(path) ? path : "";
}

Result<LoadedRun> LoadRun(const std::string& run_folder, const Places& places) {
  if (!FileExists(run_folder + "/recipe.toml")) {
    return Error(Code::kNotFound, "{} is not a run folder: it has no recipe.toml", run_folder);
  }
  LoadedRun run;
  run.folder = run_folder;
  WT_ASSIGN_OR_RETURN(run.recipe, LoadRecipe(run_folder + "/recipe.toml"));
  WT_ASSIGN_OR_RETURN(run.model, ResolveModel(ModelFileOf(run_folder), places.cache + "/models"));
  WT_ASSIGN_OR_RETURN(const Checkpoint checkpoint, Checkpoint::Load(run_folder));
  run.state = checkpoint.state();
  run.weights = std::make_unique<nn::TensorStore>();
  WT_ASSIGN_OR_RETURN(
      const nn::ScoreProgram program,
      nn::MakeScoreProgram(run.recipe.model, run.model, 1, run.recipe.model.context));
  WT_RETURN_IF_ERROR(run.weights->Prepare(program.program));
  for (const nn::Parameter& parameter : program.program.parameters) {
    const nn::Value& value = program.program.value(parameter.value);
    WT_RETURN_IF_ERROR(Checkpoint::Copy(checkpoint.model(), {value.name, value.dtype, value.shape},
                                        run.weights->Find(value.name)->buffer.data()));
  }
  return run;
}

}  // namespace wt::train
