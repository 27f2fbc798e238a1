local function va(...) local a, b = ...; return select("#", ...), a, b end
-- string dump / debug hooks / locals
local f = load(string.dump(function(p) local q = p * 2; return q + 1 end)); assert(f(4) == 9)
f = load(string.dump(function(p) local q = p * 2; return q + 1 end, true)); assert(f(4) == 9)
local lines = {}; local body = load("local a = 1\nlocal b = 2\nfor i = 1, 2 do\n a = a + b\nend\nreturn a", "=body")
debug.sethook(function(_, l) if debug.getinfo(2, "S").source == "=body" then lines[#lines + 1] = l end end, "l"); local r = body(); debug.sethook()
assert(r == 5 and table.concat(lines, ","):find("^1,2,3,4,3,4,3,6$"), table.concat(lines, ","))
local calls = 0; debug.sethook(function(ev) calls = calls + 1 end, "c"); va(); va(); debug.sethook(); assert(calls >= 2)
local cnt = 0; debug.sethook(function() cnt = cnt + 1 end, "", 100); for i = 1, 10000 do end; debug.sethook(); assert(cnt > 50)
print("passed")
