-- The binding for LuaJIT with a service of its own. Arguments: a config file.
local here = arg[0]:match("^(.*)/tests/jobs/[^/]*$") or "../.."
package.path = here .. "/lib/bindings/?.lua;" .. package.path
local ffi = require("ffi")
local bitzel = require("bitzel")

local jobs = bitzel.create(arg[1])
local memory = ffi.new("char[32]")
jobs:register_symbol("memory", memory)
print(jobs:wait(jobs:submit('{"opcode": 3, "args": {"write_to": "memory", "data": "hello"}}'), 30).data)
print(ffi.string(memory))
local refused = jobs:wait(jobs:submit('{"opcode": 99}'))
print(refused.status .. " " .. refused.error)
local parts = 0
for _ in jobs:results(jobs:submit('{"opcode": 3, "args": {"write_to": "memory", "data": "bye"}}')) do
    parts = parts + 1
end
print(parts)
print(jobs:cancel(12345))
jobs:unregister_symbol("memory")
print(pcall(jobs.unregister_symbol, jobs, "memory"))
jobs:close()
local ok, why = pcall(bitzel.attach, "/nowhere/socket")
print(ok, why:match("no service.*"))
