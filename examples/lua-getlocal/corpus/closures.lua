local function counter(step)
  local total = 0
  return function() total = total + step; return total end
end
local one, ten = counter(1), counter(10)
print(one(), one(), ten(), one(), ten())
for i, v in ipairs { "x", "y" } do print(i, v) end
