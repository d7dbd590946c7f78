import { createRequire } from 'node:module'
import type KoaRouter from '@koa/router'

/**
 * Node's HTTP without what an `import` of it loads. That reads all names which the module has, and some of them, such as
 * `WebSocket`, load Node's own fetch, TLS and HTTP/2: 16 MB, and 70 ms of a start.
 */
export const { Agent, createServer, maxHeaderSize, request, STATUS_CODES } =
  process.getBuiltinModule('node:http')

/** Koa's router for the same reason: its ES module imports Node's HTTP. */
export const Router = createRequire(import.meta.url)('@koa/router') as typeof KoaRouter
export type Router = KoaRouter
