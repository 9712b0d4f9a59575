-- SPDX-License-Identifier: MIT
-- A report of 12,000 lines, joined one after the other.
local report = ""
for number = 1, 12000 do
  report = report .. string.format("order %06d is paid, thank you\n", number)
end
print(#report .. " bytes")
