-- reading and writing locals and varargs by number
local function locs(p1, ...)
  local l1 = "L"
  assert(debug.getlocal(1, 1) == "p1" and select(2, debug.getlocal(1, 2)) == "L")
  assert(select(2, debug.getlocal(1, -1)) == "v1" and select(2, debug.getlocal(1, -2)) == "v2" and debug.getlocal(1, -3) == nil)
  assert(debug.setlocal(1, -2, "new") == "(vararg)" and debug.setlocal(1, 2, "M") == "l1" and debug.setlocal(1, -9, 0) == nil)
  return l1, select(2, ...)
end
local l, v = locs(0, "v1", "v2"); assert(l == "M" and v == "new")
assert(debug.getlocal(locs, 1) == "p1" and debug.getlocal(1, 250) == nil)
print("passed")
