-- Has `bitzel serve` build something, through libbitzel, and polls for what happens.
-- usage: luajit follow.lua SOCKET PROJECT TARGET [--cancel]
-- With --cancel the build is interrupted as soon as a task runs.
local here = arg[0]:match("^(.*)/tests/jobs/[^/]*$") or "../.."
package.path = here .. "/lib/bindings/?.lua;" .. package.path
local bitzel = require("bitzel")
local ffi = require("ffi")
ffi.cdef "int poll(void *fds, unsigned long n, int milliseconds);"

-- Enough JSON for what is asked here; programs have a library for it.
local function quote(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end
local function text_of(json, key) return json:match('"' .. key .. '":%s*"(.-)"') end

local path, project, target, flag = unpack(arg)
local jobs = bitzel.attach(path)
local task = jobs:submit(('{"opcode": "build", "args": {"project": %s, "targets": [%s]}}')
    :format(quote(project), quote(target)))
while true do
    local result = jobs:poll(task)
    if not result then
        ffi.C.poll(nil, 0, 1)
    else
        assert(result.status == 0, result.error)
        local event = text_of(result.data, "event")
        if event == "started" or event == "done" then print(event .. " " .. text_of(result.data, "task")) end
        if event == "started" and flag == "--cancel" then
            local id = tostring(task):match("%d+")
            local answer = jobs:wait(jobs:submit(('{"opcode": "cancel", "args": {"task_id": %s}}'):format(id)), 60)
            print("canceled " .. (answer.data == '{"canceled": true}' and "True" or "False"))
        end
        if result.final then
            print("exit code " .. result.data:match('"exit_code": (%d+)'))
            break
        end
    end
end
jobs:close()
