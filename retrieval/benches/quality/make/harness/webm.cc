// one file is read: its headers, tracks, cues, chapters, tags and blocks
#include <stdint.h>
#include <string.h>
#include "mkvparser/mkvparser.h"

using namespace mkvparser;

struct Memory : IMkvReader {
  const uint8_t *data;
  long long size;
  int Read(long long pos, long len, unsigned char *buf) override {
    if (pos < 0 || len < 0 || pos + len > size) return -1;
    memcpy(buf, data + pos, len);
    return 0;
  }
  int Length(long long *total, long long *available) override {
    if (total) *total = size;
    if (available) *available = size;
    return 0;
  }
};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Memory in;
  in.data = data;
  in.size = (long long)size;
  EBMLHeader head;
  long long pos = 0;
  if (head.Parse(&in, pos) < 0) return 0;
  Segment *all = nullptr;
  if (Segment::CreateInstance(&in, pos, all) || !all) return 0;
  if (all->Load() >= 0) {
    const Tracks *tracks = all->GetTracks();
    const Track *first = nullptr;
    for (unsigned long i = 0; tracks && i < tracks->GetTracksCount(); i++) {
      const Track *track = tracks->GetTrackByIndex(i);
      if (!track) continue;
      first = track;
      size_t many;
      track->GetCodecPrivate(many);
      for (unsigned long e = 0; e < track->GetContentEncodingCount(); e++) {
        const ContentEncoding *one = track->GetContentEncodingByIndex(e);
        if (one && one->GetCompressionCount()) one->GetCompressionByIndex(0);
        if (one && one->GetEncryptionCount()) one->GetEncryptionByIndex(0);
      }
      const BlockEntry *entry = nullptr;
      track->GetFirst(entry);
      for (int n = 0; entry && !entry->EOS() && n < 20; n++) {
        const BlockEntry *next = nullptr;
        if (track->GetNext(entry, next) < 0) break;
        entry = next;
      }
      track->Seek(20000000, entry);
    }
    const Cluster *cluster = all->GetFirst();
    for (int n = 0; cluster && !cluster->EOS() && n < 20; n++) {
      const BlockEntry *entry = nullptr;
      long status = cluster->GetFirst(entry);
      for (int m = 0; status >= 0 && entry && !entry->EOS() && m < 30; m++) {
        const Block *block = entry->GetBlock();
        block->GetTime(cluster);
        for (int f = 0; f < block->GetFrameCount(); f++) {
          uint8_t frame[64];
          if (block->GetFrame(f).len <= (long)sizeof frame) block->GetFrame(f).Read(&in, frame);
        }
        status = cluster->GetNext(entry, entry);
      }
      cluster->GetLastTime();
      cluster = all->GetNext(cluster);
    }
    const Cues *cues = all->GetCues();
    if (cues) {
      while (!cues->DoneParsing() && cues->LoadCuePoint()) {}
      const CuePoint *point = nullptr;
      const CuePoint::TrackPosition *where = nullptr;
      if (first && cues->GetCount() && cues->Find(10000000, first, point, where)) cues->GetBlock(point, where);
    }
    const Chapters *chapters = all->GetChapters();
    for (int i = 0; chapters && i < chapters->GetEditionCount(); i++)
      for (int a = 0; a < chapters->GetEdition(i)->GetAtomCount(); a++) {
        const Chapters::Atom *atom = chapters->GetEdition(i)->GetAtom(a);
        atom->GetStartTime(chapters);
        for (int d = 0; d < atom->GetDisplayCount(); d++) atom->GetDisplay(d)->GetString();
      }
    const Tags *tags = all->GetTags();
    for (int i = 0; tags && i < tags->GetTagCount(); i++)
      for (int t = 0; t < tags->GetTag(i)->GetSimpleTagCount(); t++) tags->GetTag(i)->GetSimpleTag(t)->GetTagName();
    all->FindCluster(5000000);
    all->FindOrPreloadCluster(all->GetFirst() ? all->GetFirst()->GetPosition() : 0);
  }
  delete all;
  return 0;
}
