-- garbage collection
local weak = setmetatable({}, {__mode = "v"}); for i = 1, 100 do weak[i] = {} end
collectgarbage(); assert(next(weak) == nil); collectgarbage("generational"); for i = 1, 2e4 do local _ = {i} end; collectgarbage("incremental"); collectgarbage()
print("passed")
