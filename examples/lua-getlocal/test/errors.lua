-- coroutines and errors
local co = coroutine.wrap(function(x) for i = 1, 3 do x = coroutine.yield(x + i) end; return "end" end)
assert(co(1) == 2 and co(10) == 12 and co(5) == 8 and co(0) == "end")
local ok, e = pcall(error, {code = 7}); assert(not ok and e.code == 7)
ok, e = pcall(function() local x = nil; return x.y end); assert(not ok and e:find("local 'x'"))
ok, e = pcall(function() return undefinedname.y end); assert(not ok and e:find("global 'undefinedname'"))
ok, e = xpcall(function() error("boom") end, function(m) return "H:" .. m end); assert(e:find("^H:.*boom"))
print("passed")
