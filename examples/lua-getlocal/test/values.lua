-- arithmetic, strings, tables
assert(7 // 2 == 3 and -7 // 2 == -4 and 7 % -3 == -2 and 2^10 == 1024.0 and 3 | 4 == 7 and ~0 == -1)
assert(("x"):rep(3, ",") == "x,x,x" and ("hello"):find("l+") == 3 and ("%5.2f|%q"):format(3.14159, "a\n") == " 3.14|\"a\\\n\"")
assert(select("#", ("a,b,,c"):gsub(",", ";")) == 2 and ("key=val"):match("(%w+)=(%w+)") == "key")
assert(string.pack("<i4", 100):byte() == 100 and string.unpack("<i4", string.pack("<i4", -5)) == -5)
local t = {5, 3, 9, 1}; table.sort(t); assert(table.concat(t, " ") == "1 3 5 9" and #t == 4)
assert(table.unpack({1, 2, 3}, 2) == 2 and math.type(1) == "integer" and math.tointeger(3.0) == 3 and utf8.len("añb") == 3)
print("passed")
