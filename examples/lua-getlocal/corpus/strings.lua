print(("%5.2f|%-6s|%q"):format(3.14159, "ab", "line\n"))
for word in ("the quick brown fox"):gmatch("%a+") do io.write(word:reverse(), " ") end
print(#("x"):rep(100, ","), ("hello world"):gsub("o", "0"))
