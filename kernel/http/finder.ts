import { LRUCache } from 'lru-cache'
import { formOf, routerPath } from '../../kit/http/path-forms.ts'
import type { LiveRoute } from '../route.ts'
import { Router } from './node-http.ts'

/** Finds the route that a request is for, as Koa's middleware. */
type Finder = ReturnType<Router['routes']>

const finders = new WeakMap<readonly LiveRoute[], Finder>()

/** By methods and paths: most changes leave these as they are, and a router takes longer to make than all the rest of a change. */
const alike = new LRUCache<string, Finder>({ max: 8 })

/**
 * Puts the place of a request's route among these into `ctx.state.place` and its parameters into `ctx.params`; runs `next`
 * where no route fits. The most exact paths must come first.
 */
export function finderOf(routes: readonly LiveRoute[]): Finder {
  const known = finders.get(routes)
  if (known) return known
  const paths = routes.map(({ method, path }) => `${method} ${path}`).join('\n')
  const finder = alike.get(paths) ?? makeFinder(routes)
  alike.set(paths, finder)
  finders.set(routes, finder)
  return finder
}

function makeFinder(routes: readonly LiveRoute[]): Finder {
  const router = new Router({ strict: false, sensitive: true })
  for (const [place, { method, path }] of routes.entries()) {
    router[method](formOf(path), routerPath(path), async (ctx, next) => {
      // A literal path is never another one's parameter, also not for a method that it does not have.
      if (ctx.matched?.[0]?.name !== ctx.routerName) return next()
      ctx.state.place = place
    })
  }
  return router.routes()
}
