local function unfinished(a, b
