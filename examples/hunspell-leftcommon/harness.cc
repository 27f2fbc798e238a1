// One input holds an affix file, a line "%%", a dictionary, a line "%%", and words, one a line.
// Builds a speller of the first two; prints for every word whether it is spelled right, and what is suggested.
#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>
#include "hunspell.hxx"

namespace {
// Hunspell reads only files: this one lives in memory.
class TempFile {
 public:
  explicit TempFile(const std::string &text) : descriptor_(memfd_create("hunspell", 0)) {
    for (size_t at = 0; at < text.size();) {
      ssize_t written = write(descriptor_, text.data() + at, text.size() - at);
      if (written <= 0) abort();
      at += written;
    }
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  ~TempFile() { close(descriptor_); }
  const char *path() const { return path_.c_str(); }

 private:
  int descriptor_;
  std::string path_;
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<std::string> part(1);
  std::istringstream in(std::string(reinterpret_cast<const char *>(data), size));
  for (std::string line; std::getline(in, line);) {
    if (line == "%%")
      part.push_back("");
    else
      part.back() += line + "\n";
  }
  part.resize(3);
  TempFile affixes(part[0]), dictionary(part[1]);
  Hunspell speller(affixes.path(), dictionary.path());
  std::istringstream words(part[2]);
  for (std::string word; std::getline(words, word);) {
    bool good = speller.spell(word);
    std::vector<std::string> suggested = speller.suggest(word);
    printf("%s %s", word.c_str(), good ? "+" : "-");
    for (const std::string &suggestion : suggested) printf(" %s", suggestion.c_str());
    puts("");
  }
  return 0;
}

extern "C" const char *__asan_default_options(void) { return "detect_leaks=0"; }

static int run_file(const std::string &path) {
  FILE *file = fopen(path.c_str(), "rb");
  if (!file) {
    perror(path.c_str());
    return 2;
  }
  fseek(file, 0, SEEK_END);
  std::vector<uint8_t> data(ftell(file));
  rewind(file);
  if (!data.empty() && fread(data.data(), 1, data.size(), file) != data.size()) return 2;
  fclose(file);
  fprintf(stderr, "harness: %zu bytes\n", data.size());
  LLVMFuzzerTestOneInput(data.data(), data.size());
  return 0;
}

// An input, or a folder of inputs.
static int run(const std::string &path) {
  struct dirent **entries;
  int status = 0, count = scandir(path.c_str(), &entries, nullptr, alphasort);
  if (count < 0) return run_file(path);
  for (int i = 0; i < count; i++) {
    std::string name = entries[i]->d_name;
    free(entries[i]);
    if (name[0] != '.' && !status) status = run_file(path + "/" + name);
  }
  free(entries);
  return status;
}

int main(int argc, char **argv) {
  int status = 0;
  for (int i = 1; i < argc && !status; i++) status = run(argv[i]);
  return status;
}
