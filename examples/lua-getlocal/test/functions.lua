-- closures, varargs, goto, metatables, to-be-closed, integer for
local function va(...) local a, b = ...; return select("#", ...), a, b end
local n, a, b = va(1, nil, 3); assert(n == 3 and a == 1 and b == nil)
local fs = {}; for i = 1, 3 do fs[i] = function() i = i + 1; return i end end
assert(fs[1]() == 2 and fs[1]() == 3 and fs[2]() == 3)
do local i = 0; ::top:: i = i + 1; if i < 5 then goto top end; assert(i == 5) end
local mt = {__index = function(_, k) return k .. "!" end, __add = function(x, y) return 42 end, __call = function(_, x) return x * 2 end}
local o = setmetatable({}, mt); assert(o.foo == "foo!" and o + 1 == 42 and o(21) == 42)
local closed = 0; do local c <close> = setmetatable({}, {__close = function() closed = closed + 1 end}) end; assert(closed == 1)
local K <const> = 10; assert(K + 1 == 11 and not load("local x <const> = 1; x = 2"))
print("passed")
