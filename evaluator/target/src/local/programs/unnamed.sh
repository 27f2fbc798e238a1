for tool in ASAN LSAN MSAN TSAN UBSAN; do
  eval "export ${tool}_OPTIONS=\"\${${tool}_OPTIONS:+\$${tool}_OPTIONS:}symbolize=0\""
done
