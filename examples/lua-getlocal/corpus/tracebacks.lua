local function inner(n) if n == 0 then error { code = 7 } end return inner(n - 1) + 1 end
local ok, problem = pcall(inner, 5)
print(ok, type(problem), problem.code)
print((debug.traceback("here", 1):gsub("0x%x+", "ADDRESS")))
local info = debug.getinfo(inner, "SlnuL")
print(info.short_src, info.linedefined, info.nparams, info.isvararg)
