/**
 * What the bundle has for `node:http`. To `import` that one evaluates everything that it exports, WebSocket and with it
 * all of fetch among them: 30 ms of every invocation, for nothing.
 */
const http = process.getBuiltinModule('node:http');

export const { Agent, request, ServerResponse, STATUS_CODES, createServer } = http;
export default http;
