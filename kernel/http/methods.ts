import type { RouterContext } from '@koa/router'
import { badRequest } from '../../kit/errors.ts'
import type { Generation } from '../plugin/generation.ts'

/**
 * Says how a path may be asked where no route has answered: to OPTIONS with the header `Allow`, to any other method with
 * 405. Does nothing where there is nothing at the path. Of the paths that fit, it speaks of the most exact one.
 */
export function tellMethods(ctx: RouterContext, { wires }: Generation): void {
  const [first, ...others] = ctx.matched ?? []
  const matched = [first, ...others.filter(({ name }) => name === first?.name)]
  const methods = new Set(matched.flatMap((route) => route?.methods ?? []))
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
