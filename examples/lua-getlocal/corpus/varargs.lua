local function shown(name, value)
  if type(value) == "string" or value == nil then return name, value end
  return name, type(value)
end
local function show(...)
  local named = "here"
  print(shown(debug.getlocal(1, 1)), shown(debug.getlocal(1, 2)))
  print(shown(debug.getlocal(1, -1)))
  print(shown(debug.getlocal(1, -2)))
  print(shown(debug.getlocal(1, -3)))
  print(shown(debug.getlocal(1, -4)))
  print(debug.setlocal(1, -1, "changed"), (...))
end
show()
show("a")
show("a", nil, 3)
