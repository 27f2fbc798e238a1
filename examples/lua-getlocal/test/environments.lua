-- _ENV
do local _ENV = {y = 5}; x = y + 1; y = x end
assert(x == nil and y == nil)
local function sandbox(_ENV) z = 1; return w end
local env = {w = "W"}; assert(sandbox(env) == "W" and env.z == 1 and z == nil)
assert(load("a = 1; return a", "c", "t", env)() == 1 and env.a == 1)
do local E <const> = env; local _ENV <const> = E; q = 3 end; assert(env.q == 3)
do local up = {v = 1}; local _ENV <const> = up; local f = function() v = v + 1; return v end; up.r = f() end
local function inner() local _ENV <const> = {g = "G"}; return (function() return g end)() end; assert(inner() == "G")
print("passed")
