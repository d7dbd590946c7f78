/**
 * Node's HTTP without what an `import` of it loads. That reads all names which the module has, and some of them, such as
 * `WebSocket`, load Node's own fetch, TLS and HTTP/2: 16 MB, and 70 ms of a start.
 */
export const { Agent, createServer, maxHeaderSize, request, STATUS_CODES } =
  process.getBuiltinModule('node:http')
