import type Koa from 'koa'
import { badRequest } from '../errors.ts'
import type { Generation } from '../plugin/generation.ts'
import type { LiveRoute } from '../route.ts'

/** The methods of requests that a route answers. */
export const methodsOf = ({ method }: LiveRoute): readonly string[] =>
  method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]

/**
 * Says how the path of these routes may be asked where none of them has answered: to OPTIONS with the header `Allow`, to any
 * other method with 405. Does nothing where there is nothing at the path.
 */
export function tellMethods(
  ctx: Koa.Context,
  there: readonly { readonly route: LiveRoute }[],
  { wires }: Generation,
): void {
  const methods = new Set(there.flatMap(({ route }) => methodsOf(route)))
  if (wires.find(ctx.path)) methods.add('POST')
  if (methods.size === 0) return
  methods.add('OPTIONS')
  const allowed = [...methods].sort().join(', ')
  ctx.set('allow', allowed)
  if (ctx.method !== 'OPTIONS') {
    throw badRequest(`${ctx.method} is not supported at ${ctx.path}; use ${allowed}.`, { status: 405 })
  }
  ctx.status = 204
}
