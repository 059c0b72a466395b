#include "train/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace wt::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kFormatVersion = 1;
constexpr char kLink[] = "checkpoint";
constexpr char kPrefix[] = "checkpoint-";
constexpr char kUnfinished[] = ".tmp";
constexpr char kModel[] = "model.safetensors";
constexpr char kOptimizer[] = "optimizer.safetensors";
constexpr char kState[] = "state.json";

struct FileMark {
  uint64_t bytes = 0;
  uint32_t crc32c = 0;
};

Status SystemError(const std::string& what, const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return Error(full ? Code::kCapacity : Code::kIo, "cannot {} {}: {}", what, path.string(),
               std::strerror(error));
}

Status SyncFolder(const fs::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return SystemError("open folder", folder, errno);
  const Status status = fsync(fd) == 0 ? Status() : SystemError("sync folder", folder, errno);
  close(fd);
  return status;
}

Status Rename(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  return error ? SystemError("rename to", to, error.value()) : Status();
}

// "checkpoint-00000120" -> 120; -1 for other names, unfinished folders among them.
int64_t StepOfName(const std::string& name) {
  if (!name.starts_with(kPrefix)) return -1;
  const std::string digits = name.substr(std::strlen(kPrefix));
  const size_t end = std::min(digits.find('.'), digits.size());  // ".2": saved again at that step
  const bool all_digits =
      end > 0 && end <= 15 && digits.find_first_not_of("0123456789.") == std::string::npos;
  return all_digits ? std::stoll(digits.substr(0, end)) : -1;
}

// Complete checkpoint folders, newest first.
std::vector<fs::path> CompleteFolders(const fs::path& run_folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run_folder, error)) {
    const bool folder = entry.is_directory(error) && !entry.is_symlink(error);
    if (folder && StepOfName(entry.path().filename().string()) >= 0) {
      folders.push_back(entry.path());
    }
  }
  const auto key = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return std::pair(StepOfName(name), std::pair(name.size(), name));
  };
  std::sort(folders.begin(), folders.end(),
            [&](const fs::path& a, const fs::path& b) { return key(a) > key(b); });
  return folders;
}

// A name not yet taken: a resumed run may save at a step it has saved at before.
fs::path FreeName(const fs::path& run_folder, int64_t step) {
  const std::string base = fmt::format("{}{:08}", kPrefix, step);
  fs::path path = run_folder / base;
  std::error_code ignored;
  for (int again = 2; fs::exists(fs::symlink_status(path, ignored)); ++again) {
    path = run_folder / fmt::format("{}.{}", base, again);
  }
  return path;
}

void RemoveUnfinished(const fs::path& run_folder) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const auto& entry : fs::directory_iterator(run_folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kLink) && name.ends_with(kUnfinished)) leftovers.push_back(entry.path());
  }
  for (const fs::path& path : leftovers) fs::remove_all(path, ignored);
}

// One save on its way; what it does to the disk passes through Before().
class Saver {
 public:
  Saver(const fs::path& run_folder, const CheckpointOptions& options)
      : run_folder_(run_folder), options_(options) {}

  Status Save(const CheckpointContents& contents) {
    const fs::path folder = FreeName(run_folder_, contents.state.step);
    const fs::path unfinished = folder.string() + kUnfinished;
    Status status = WriteFolder(contents, unfinished);
    if (status.ok()) status = Publish(unfinished, folder);
    if (status.ok()) status = RemoveOlder(folder);
    RemoveUnfinished(run_folder_);
    return status;
  }

 private:
  Status Before(std::string_view what) const {
    return options_.before ? options_.before(what) : Status();
  }
  Status WriteFolder(const CheckpointContents& contents, const fs::path& folder);
  Result<FileMark> WriteTensors(const fs::path& path, const std::vector<NamedTensor>& tensors);
  Status Publish(const fs::path& unfinished, const fs::path& folder);
  Status RemoveOlder(const fs::path& newest);

  const fs::path run_folder_;
  const CheckpointOptions& options_;
};

Json StateJson(const CheckpointState& state, const FileMark& model, const FileMark& optimizer) {
  const auto mark = [](const FileMark& file) {
    return Json{{"bytes", file.bytes}, {"crc32c", file.crc32c}};
  };
  return {{"format", kFormatVersion},
          {"step", state.step},
          {"tokens", state.tokens},
          {"charged", state.charged},
          {"loader", state.loader},
          {"generators", state.generators},
          {"recipe_hash", state.recipe_hash},
          {"tokenizer_hash", state.tokenizer_hash},
          {"program_hash", state.program_hash},
          {"program_version", state.program_version},
          {"files", {{kModel, mark(model)}, {kOptimizer, mark(optimizer)}}}};
}

Status Saver::WriteFolder(const CheckpointContents& contents, const fs::path& folder) {
  WT_RETURN_IF_ERROR(Before("make the folder"));
  RemoveUnfinished(run_folder_);
  WT_RETURN_IF_ERROR(MakeFolders(folder.string()));
  WT_ASSIGN_OR_RETURN(const FileMark model, WriteTensors(folder / kModel, contents.model));
  WT_ASSIGN_OR_RETURN(const FileMark optimizer,
                      WriteTensors(folder / kOptimizer, contents.optimizer));
  WT_RETURN_IF_ERROR(Before("write state.json"));
  const std::string state = StateJson(contents.state, model, optimizer)
                                .dump(2, ' ', false, Json::error_handler_t::replace);
  return WriteFileAtomic((folder / kState).string(), state + "\n");
}

Result<FileMark> Saver::WriteTensors(const fs::path& path,
                                     const std::vector<NamedTensor>& tensors) {
  WT_RETURN_IF_ERROR(Before("create " + path.filename().string()));
  std::vector<TensorInfo> infos;
  std::map<std::string, const void*> data;
  for (const NamedTensor& tensor : tensors) {
    infos.push_back(tensor.info);
    data[tensor.info.name] = tensor.data;
  }
  WT_ASSIGN_OR_RETURN(auto writer, SafetensorsWriter::Create(path.string(), std::move(infos),
                                                             {{"format", "windtunnel"}}));
  for (const TensorInfo& info : writer.order()) {
    WT_RETURN_IF_ERROR(Before("write " + info.name));
    WT_RETURN_IF_ERROR(writer.Append(data[info.name], static_cast<size_t>(info.bytes())));
  }
  WT_RETURN_IF_ERROR(Before("sync " + path.filename().string()));
  WT_RETURN_IF_ERROR(writer.Commit());
  return FileMark{writer.bytes(), writer.crc32c()};
}

// First the folder gets its name, then the link turns to it; each is one atomic rename.
Status Saver::Publish(const fs::path& unfinished, const fs::path& folder) {
  WT_RETURN_IF_ERROR(Before("sync the folder"));
  WT_RETURN_IF_ERROR(SyncFolder(unfinished));
  WT_RETURN_IF_ERROR(Before("name the folder"));
  WT_RETURN_IF_ERROR(Rename(unfinished, folder));
  const fs::path link = run_folder_ / kLink, new_link = link.string() + kUnfinished;
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(link, error))) {  // a copy of a run, without links
    WT_RETURN_IF_ERROR(Rename(link, FreeName(run_folder_, 0)));
  }
  WT_RETURN_IF_ERROR(Before("make the link"));
  fs::remove(new_link, error);
  fs::create_directory_symlink(folder.filename(), new_link, error);
  if (error) return SystemError("make link", new_link, error.value());
  WT_RETURN_IF_ERROR(Before("turn the link"));
  WT_RETURN_IF_ERROR(Rename(new_link, link));
  return SyncFolder(run_folder_);
}

Status Saver::RemoveOlder(const fs::path& newest) {
  WT_RETURN_IF_ERROR(Before("remove older checkpoints"));
  int kept = 1;
  for (const fs::path& folder : CompleteFolders(run_folder_)) {
    std::error_code ignored;
    if (folder == newest || kept++ < options_.keep) continue;
    // Under an unfinished name first: half a folder must not look complete.
    const fs::path doomed = folder.string() + kUnfinished;
    fs::rename(folder, doomed, ignored);
    fs::remove_all(doomed, ignored);
  }
  return {};
}

struct StateFile {
  CheckpointState state;
  FileMark model, optimizer;
};

Result<StateFile> ParseState(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    const int64_t format = json.at("format").get<int64_t>();
    if (format != kFormatVersion) {
      return Error(Code::kUnsupported, "checkpoint format {}; this program reads {}", format,
                   kFormatVersion);
    }
    const auto mark = [&](const char* name) {
      const Json& file = json.at("files").at(name);
      return FileMark{file.at("bytes").get<uint64_t>(), file.at("crc32c").get<uint32_t>()};
    };
    StateFile file = {{}, mark(kModel), mark(kOptimizer)};
    CheckpointState& state = file.state;
    json.at("step").get_to(state.step);
    json.at("tokens").get_to(state.tokens);
    json.at("charged").get_to(state.charged);
    json.at("loader").get_to(state.loader);
    json.at("generators").get_to(state.generators);
    json.at("recipe_hash").get_to(state.recipe_hash);
    json.at("tokenizer_hash").get_to(state.tokenizer_hash);
    json.at("program_hash").get_to(state.program_hash);
    json.at("program_version").get_to(state.program_version);
    return file;
  } catch (const Json::exception& error) {
    return Error(Code::kCorrupt, "{}", error.what());
  }
}

Result<SafetensorsFile> OpenMarked(const fs::path& path, const FileMark& mark) {
  WT_ASSIGN_OR_RETURN(auto file, SafetensorsFile::Open(path.string()));
  const uint32_t crc = file.Crc32cOfFile();
  if (crc == mark.crc32c) return file;
  return Error(
      Code::kCorrupt,
      "{}: CRC-32C is {:08x}, state.json expects {:08x}: the file was changed after it was "
      "saved. Restore it or start from another checkpoint",
      path.string(), crc, mark.crc32c);
}

// The folder with the files, for a run folder or for itself.
Result<fs::path> FindFolder(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path / kState, error)) return path;
  if (fs::exists(path / kLink / kState, error)) return fs::canonical(path / kLink, error);
  const auto folders = CompleteFolders(path);
  if (!folders.empty()) return folders.front();
  return Error(Code::kNotFound,
               "{}: no checkpoint there; expected a run folder with checkpoint/ in it, or a folder "
               "with {}. A run saves its first one after train.save_every",
               path.string(), kState);
}

std::string Describe(const TensorInfo& info) {
  return fmt::format("{} of {}", ShapeText(info.shape), DTypeName(info.dtype));
}

constexpr char kWayOut[] =
    "Use the recipe and the tokenizer that the run was trained with (recipe.toml in its folder), "
    "or start a new run";

}  // namespace

int64_t CheckpointBytes(const CheckpointContents& contents) {
  int64_t bytes = 0;
  for (const auto* tensors : {&contents.model, &contents.optimizer}) {
    for (const NamedTensor& tensor : *tensors) bytes += tensor.info.bytes();
  }
  return bytes;
}

Status SaveCheckpoint(const std::string& run_folder, const CheckpointContents& contents,
                      const CheckpointOptions& options) {
  const Status status = Saver(run_folder, options).Save(contents);
  if (status.ok()) return status;
  return status.WithContext("checkpoint not saved, what was saved before is untouched");
}

Result<Checkpoint> Checkpoint::Load(const std::string& path) {
  WT_ASSIGN_OR_RETURN(const fs::path folder, FindFolder(path));
  const std::string state_path = (folder / kState).string();
  WT_ASSIGN_OR_RETURN(const std::string text, ReadFile(state_path));
  auto state = ParseState(text);
  if (!state.ok()) return state.status().WithContext(state_path);
  WT_ASSIGN_OR_RETURN(auto model, OpenMarked(folder / kModel, state->model));
  WT_ASSIGN_OR_RETURN(auto optimizer, OpenMarked(folder / kOptimizer, state->optimizer));
  return Checkpoint(folder.string(), std::move(state->state), std::move(model),
                    std::move(optimizer));
}

Status Checkpoint::Copy(const SafetensorsFile& file, const TensorInfo& expected, void* out) {
  const SafetensorsTensor* tensor = file.Find(expected.name);
  if (!tensor) {
    return Error(Code::kMismatch, "{}: no tensor {}; expected {}. {}", file.path(), expected.name,
                 Describe(expected), kWayOut);
  }
  if (tensor->info.shape != expected.shape || tensor->info.dtype != expected.dtype) {
    return Error(Code::kMismatch, "{}: tensor {} is {}; expected {}. {}", file.path(),
                 expected.name, Describe(tensor->info), Describe(expected), kWayOut);
  }
  if (!tensor->data.empty()) std::memcpy(out, tensor->data.data(), tensor->data.size());
  return {};
}

Status Checkpoint::CheckTensors(const SafetensorsFile& file,
                                const std::vector<TensorInfo>& expected) {
  std::map<std::string, const TensorInfo*> wanted;
  for (const TensorInfo& info : expected) wanted[info.name] = &info;
  for (const auto& tensor : file.tensors()) {
    if (wanted.contains(tensor.info.name)) continue;
    return Error(Code::kMismatch, "{}: tensor {} ({}) has no place in this model. {}", file.path(),
                 tensor.info.name, Describe(tensor.info), kWayOut);
  }
  for (const TensorInfo& info : expected) {
    const SafetensorsTensor* tensor = file.Find(info.name);
    if (tensor && tensor->info.shape == info.shape && tensor->info.dtype == info.dtype) continue;
    return Copy(file, info, nullptr);  // it fails, with the message
  }
  return {};
}

bool HasCheckpoint(const std::string& run_folder) { return FindFolder(run_folder).ok(); }

}  // namespace wt::train
