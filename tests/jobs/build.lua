-- Has `bitzel serve` build something, and polls for what happens.
-- usage: luajit build.lua SOCKET PROJECT TARGET [--cancel]
-- With --cancel the build is interrupted as soon as a task runs.
local ffi = require("ffi")
ffi.cdef [[
struct sockaddr_un { uint16_t family; char path[108]; };
struct pollfd { int fd; short events, revents; };
int socket(int domain, int type, int protocol);
int connect(int fd, const struct sockaddr_un *address, uint32_t size);
long send(int fd, const void *bytes, size_t n, int flags);
long recv(int fd, void *bytes, size_t n, int flags);
int poll(struct pollfd *fds, unsigned long n, int milliseconds);
]]
local AF_UNIX, SOCK_STREAM, POLLIN = 1, 1, 1
local BUILD, CANCEL = 1, 2

local Server = {}
Server.__index = Server

function Server.connect(path)
    local address = ffi.new("struct sockaddr_un", {family = AF_UNIX})
    ffi.copy(address.path, path)
    local fd = ffi.C.socket(AF_UNIX, SOCK_STREAM, 0)
    assert(ffi.C.connect(fd, address, ffi.sizeof(address)) == 0, "nobody is at " .. path)
    return setmetatable({fd = fd, rest = "", buffer = ffi.new("char[65536]")}, Server)
end

function Server:submit(request)
    assert(ffi.C.send(self.fd, request .. "\n", #request + 1, 0) == #request + 1)
end

-- The next line, or nil if none has come within so many milliseconds.
function Server:poll(milliseconds)
    local line, rest = self.rest:match("^([^\n]*)\n(.*)$")
    if line then
        self.rest = rest
        return line
    end
    local fds = ffi.new("struct pollfd[1]", {{fd = self.fd, events = POLLIN}})
    if ffi.C.poll(fds, 1, milliseconds) <= 0 then return nil end
    local n = tonumber(ffi.C.recv(self.fd, self.buffer, 65536, 0))
    assert(n > 0, "the server is gone")
    self.rest = self.rest .. ffi.string(self.buffer, n)
    return self:poll(0)
end

-- Enough JSON for what is asked here; programs have a library for it.
local function quote(text) return '"' .. text:gsub('[\\"]', "\\%0") .. '"' end
local function text_of(json, key)
    local text = json:match('"' .. key .. '":%s*"(.-[^\\])"')
    return text and text:gsub("\\(.)", "%1")
end
local function data_of(line)
    local text = line:match('"data":"(.*)"}$') or line:match('"data":"(.*)","error"')
    return text and text:gsub("\\n", "\n"):gsub("\\(.)", "%1") or ""
end

local path, project, target, flag = unpack(arg)
local server = Server.connect(path)
server:submit(('{"opcode": "build", "task_id": %d, "args": {"project": %s, "targets": [%s]}}')
    :format(BUILD, quote(project), quote(target)))
while true do
    local line = server:poll(100)
    if line and tonumber(line:match('"task_id":(%d+)')) == BUILD then
        assert(tonumber(line:match('"status":(-?%d+)')) == 0, line)
        local data = data_of(line)
        local event = text_of(data, "event")
        if event == "started" or event == "done" then print(event .. " " .. text_of(data, "task")) end
        if event == "started" and flag == "--cancel" then
            server:submit(('{"opcode": "cancel", "task_id": %d, "args": {"task_id": %d}}'):format(CANCEL, BUILD))
        end
        if line:find('"final":true', 1, true) then
            print("exit code " .. data:match('"exit_code": (%d+)'))
            break
        end
    end
end
