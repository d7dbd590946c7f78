import type { Middleware } from 'koa'

/** Lets pages of the configured origins call the API, and no others: an origin is compared whole, never reflected. */
export function cors(origins: readonly string[]): Middleware {
  const allowed = new Set(origins)
  return async (ctx, next) => {
    const origin = ctx.get('origin')
    if (allowed.size > 0) ctx.vary('origin')
    if (!allowed.has(origin)) return next()
    ctx.set('access-control-allow-origin', origin)
    ctx.set('access-control-expose-headers', 'x-request-id, x-trace-id, x-ratelimit-remaining, retry-after')
    if (ctx.method !== 'OPTIONS') return next()
    ctx.set('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE')
    ctx.set('access-control-allow-headers', 'authorization, content-type, x-admin-key, x-project, x-provider')
    ctx.set('access-control-max-age', '600')
    ctx.status = 204
  }
}
