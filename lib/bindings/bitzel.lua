-- libbitzel from LuaJIT, with nothing but its FFI.
--
--     local bitzel = require("bitzel")
--     local jobs = bitzel.create("jobs.conf")      -- a service of one's own, or
--     local jobs = bitzel.attach("serve")          -- that of another process
--     local task = jobs:submit('{"opcode": 3, "args": {...}}')
--     print(jobs:wait(task, 5).data)
--     for part in jobs:results(task) do print(part.data) end
--     jobs:close()
--
-- bitzel/jobs.h says what each call means. What fails raises an error. The library is
-- found by its name, or where the variable LIBBITZEL says. There are no callbacks:
-- they would come on other threads, which Lua cannot be called from.
local ffi = require("ffi")

ffi.cdef [[
typedef struct bitzel_jobs bitzel_jobs;
typedef struct bitzel_result {
    uint64_t task_id;
    int32_t status, final;
    const char *data;
    uint32_t data_size;
    char error_msg[256];
} bitzel_result;
bitzel_jobs *bitzel_jobs_create(const char *config_path, char *error, size_t error_size);
bitzel_jobs *bitzel_attach(const char *name, char *error, size_t error_size);
int bitzel_jobs_listen(bitzel_jobs *jobs, const char *path, char *error, size_t error_size);
int bitzel_jobs_watch(bitzel_jobs *jobs, const char *dir, char *error, size_t error_size);
void bitzel_jobs_shutdown(bitzel_jobs *jobs);
uint64_t bitzel_jobs_submit(bitzel_jobs *jobs, const char *json);
bitzel_result *bitzel_jobs_poll(bitzel_jobs *jobs, uint64_t task_id);
bitzel_result *bitzel_jobs_wait(bitzel_jobs *jobs, uint64_t task_id, uint32_t timeout_ms);
void bitzel_result_free(bitzel_result *result);
int bitzel_jobs_cancel(bitzel_jobs *jobs, uint64_t task_id);
int bitzel_jobs_register_symbol(bitzel_jobs *jobs, const char *name, void *p, size_t size, int access);
int bitzel_jobs_unregister_symbol(bitzel_jobs *jobs, const char *name);
]]

local lib = ffi.load(os.getenv("LIBBITZEL") or "libbitzel.so.0")
local FOREVER = 1000 -- milliseconds to wait at a time

local Jobs = {}
Jobs.__index = Jobs

local function begin(call, ...)
    local why = ffi.new("char[512]")
    local handle = call(..., why, 512)
    if handle == nil then error(ffi.string(why), 3) end
    return setmetatable({handle = handle, kept = {}}, Jobs)
end

-- What a result says, as a table; it is freed.
local function take(raw)
    if raw == nil then return nil end
    local result = {
        task_id = raw.task_id,
        status = raw.status,
        final = raw.final ~= 0,
        data = raw.data ~= nil and ffi.string(raw.data, raw.data_size) or nil,
        error = ffi.string(raw.error_msg),
    }
    lib.bitzel_result_free(raw)
    return result
end

function Jobs:close()
    if self.handle then lib.bitzel_jobs_shutdown(self.handle) end
    self.handle, self.kept = nil, {}
end

local function also(call, self, path)
    local why = ffi.new("char[512]")
    if call(self.handle, path, why, 512) ~= 0 then error(ffi.string(why), 3) end
end

function Jobs:listen(path) also(lib.bitzel_jobs_listen, self, path) end

function Jobs:watch(directory) also(lib.bitzel_jobs_watch, self, directory) end

-- The id of the task, a 64-bit number.
function Jobs:submit(json)
    local task = lib.bitzel_jobs_submit(self.handle, json)
    if task == 0 then error("it was refused: there is too much to do, or its id is in use", 2) end
    return task
end

-- The next result of a task, or nil if there is none yet.
function Jobs:poll(task) return take(lib.bitzel_jobs_poll(self.handle, task)) end

-- The same, but waits for it: for so many seconds, or until it comes.
function Jobs:wait(task, seconds)
    if seconds then return take(lib.bitzel_jobs_wait(self.handle, task, seconds * 1000)) end
    local result
    repeat result = take(lib.bitzel_jobs_wait(self.handle, task, FOREVER)) until result
    return result
end

-- All of them as they come, the last one too.
function Jobs:results(task)
    local over = false
    return function()
        if over then return nil end
        local result = self:wait(task)
        over = result.final
        return result
    end
end

function Jobs:cancel(task) return lib.bitzel_jobs_cancel(self.handle, task) ~= 0 end

-- Lets requests name memory of the FFI's, which is kept until it is unregistered.
function Jobs:register_symbol(name, memory, size, access)
    if lib.bitzel_jobs_register_symbol(self.handle, name, memory, size or ffi.sizeof(memory), access or 3) ~= 0 then
        error(name .. " is registered already, or is no name", 2)
    end
    self.kept[name] = memory
end

function Jobs:unregister_symbol(name)
    if lib.bitzel_jobs_unregister_symbol(self.handle, name) ~= 0 then error(name .. " is not registered", 2) end
    self.kept[name] = nil
end

return {
    READ = 1,
    WRITE = 2,
    create = function(config) return begin(lib.bitzel_jobs_create, config) end,
    attach = function(name) return begin(lib.bitzel_attach, name) end,
}
