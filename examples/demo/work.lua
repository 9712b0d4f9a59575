-- SPDX-License-Identifier: MIT
-- What a Lua script usually does: recursion, tables, strings, closures, patterns. Deterministic; prints checksums.

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end

local function words(count)
  local seed, list = 1, {}
  for i = 1, count do
    seed = (seed * 1103515245 + 12345) % 2147483648
    list[i] = string.format("%s%d", ("aeioubcd"):sub(seed % 8 + 1, seed % 8 + 1), seed % 1000)
  end
  return list
end

local function count_words(list)
  local counts = {}
  for _, word in ipairs(list) do counts[word] = (counts[word] or 0) + 1 end
  return counts
end

local function sorted_keys(counts)
  local keys = {}
  for key in pairs(counts) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b) return counts[a] > counts[b] or (counts[a] == counts[b] and a < b) end)
  return keys
end

local function matches(list, pattern)
  local found = 0
  for _, word in ipairs(list) do if word:find(pattern) then found = found + 1 end end
  return found
end

local list = words(20000)
local keys = sorted_keys(count_words(list))
print("fib(22)", fib(22))
print("different words", #keys, "most frequent", keys[1])
print("with 7 before the end", matches(list, "7%d$"))
print("joined", #table.concat(list, ","))
