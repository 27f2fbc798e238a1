/* a SAM, BAM, VCF, BCF, FASTA or FASTQ file is read and written again; the first byte chooses the form it is written in */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "htslib/hfile.h"
#include "htslib/hts.h"
#include "htslib/hts_log.h"
#include "htslib/hts_expr.h"
#include "htslib/sam.h"
#include "htslib/vcf.h"
#include "htslib/kstring.h"

static void reads(htsFile *in, const char *mode, int how) {
  sam_hdr_t *head = sam_hdr_read(in);
  samFile *out = sam_open("/dev/null", mode);
  if (head && out) {
    kstring_t text = {0, 0, NULL};
    sam_hdr_count_lines(head, "SQ");
    sam_hdr_find_tag_id(head, "RG", "ID", "a", "SM", &text);
    sam_hdr_add_pg(head, "p", NULL);
    if (how & 16) sam_hdr_remove_tag_id(head, "SQ", "SN", "a", "LN");
    if (how & 32) sam_hdr_update_line(head, "RG", "ID", "a", "SM", "x", NULL);
    bam1_t *one = bam_init1();
    hts_filter_t *filter = hts_filter_init(how & 64 ? "mapq > 3 && [NM] < 5 || qname =~ \"r\"" : "length(seq) + pos * 2 >= ncigar");
    if (sam_hdr_write(out, head) == 0)
      for (int n = 0; n < 50 && sam_read1(in, head, one) >= 0; n++) {
        if (filter) sam_passes_filter(head, one, filter);
        bam_endpos(one);
        bam_aux_get(one, "NM");
        bam_aux_update_str(one, "ZZ", 3, "ab");
        if (sam_write1(out, head, one) < 0) break;
      }
    hts_filter_free(filter);
    bam_destroy1(one);
    free(text.s);
  }
  sam_hdr_destroy(head);
  if (out) sam_close(out);
}

static void variants(htsFile *in, const char *mode, int how) {
  bcf_hdr_t *head = bcf_hdr_read(in);
  htsFile *out = hts_open("/dev/null", mode);
  if (head && out) {
    bcf1_t *one = bcf_init();
    bcf_hdr_append(head, "##INFO=<ID=QQ,Number=1,Type=Integer,Description=\"q\">");
    if (bcf_hdr_write(out, head) == 0)
      for (int n = 0; n < 50 && bcf_read(in, head, one) >= 0; n++) {
        bcf_unpack(one, BCF_UN_ALL);
        int32_t *numbers = NULL, many = 0, value = 7;
        bcf_get_info_int32(head, one, "DP", &numbers, &many);
        bcf_get_genotypes(head, one, &numbers, &many);
        if (how & 16) bcf_update_info_int32(head, one, "QQ", &value, 1);
        if (how & 32) bcf_update_alleles_str(head, one, "A,C");
        bcf_is_snp(one);
        free(numbers);
        if (bcf_write(out, head, one) < 0) break;
      }
    bcf_destroy(one);
  }
  if (head) bcf_hdr_destroy(head);
  if (out) hts_close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  hts_set_log_level(HTS_LOG_OFF);
  uint8_t *copy = malloc(size - 1);
  memcpy(copy, data + 1, size - 1);
  hFILE *file = hopen("mem:", "rb:", copy, size - 1);
  if (!file) return free(copy), 0;
  htsFile *in = hts_hopen(file, "data", "rb");
  if (!in) return hclose(file), 0;
  if (in->format.category == sequence_data) reads(in, data[0] % 3 == 1 ? "wb" : data[0] % 3 == 2 ? "wf" : "w", data[0]);
  if (in->format.category == variant_data) variants(in, data[0] & 1 ? "wb" : "w", data[0]);
  hts_close(in);
  return 0;
}
