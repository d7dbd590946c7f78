import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { openapi } from '../../plugins/system/openapi/document.ts'
import { type Served, serveRoutes } from '../../test/served.ts'
import type { Route } from '../route.ts'

let served: Served | undefined

afterEach(() => served?.close())

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

/** A route that answers with its own path, and with what stood in the parameters. */
function told(method: (typeof methods)[number], path: string): Route<unknown, unknown, unknown, unknown> {
  const names = [...path.matchAll(/\{\+?(\w+)\}/g)].map(([, name]) => name!)
  return {
    method,
    path,
    access: 'public',
    summary: 'Says where it was asked',
    params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))),
    returns: z.object({ path: z.string(), params: z.unknown() }),
    handle: ({ params }) => ({ path, params }),
  }
}

async function ask(method: string, path: string) {
  const response = await fetch(served!.url + path, { method: method.toUpperCase() })
  const body = (await response.json()) as { path: string; params: object }
  return { status: response.status, allow: response.headers.get('allow'), ...body }
}

const literal = (method: (typeof methods)[number]) => told(method, '/api/things/stats')
const named = (method: (typeof methods)[number]) => told(method, '/api/things/{id}')

test.each([
  ['before it', (all: typeof methods) => ({ one: [...all.map(literal), ...all.map(named)] })],
  ['after it', (all: typeof methods) => ({ one: [...all.map(named), ...all.map(literal)] })],
  ['in another plugin', (all: typeof methods) => ({ one: all.map(named), two: all.map(literal) })],
  ['in an earlier plugin', (all: typeof methods) => ({ one: all.map(literal), two: all.map(named) })],
])('a literal segment wins over a parameter that was added %s, by every method', async (_, plugins) => {
  served = await serveRoutes(plugins(methods))
  for (const method of methods) {
    expect(await ask(method, '/api/things/stats')).toMatchObject({ path: '/api/things/stats' })
    expect(await ask(method, '/api/things/stat')).toMatchObject({ params: { id: 'stat' } })
  }
  const { paths } = await openapi(served.generation, '1')
  expect(Object.keys(paths as object)).toEqual(['/api/things/stats', '/api/things/{id}'])
})

test('what a literal path is asked with a method that it does not have is refused, and reaches no parameter', async () => {
  served = await serveRoutes({ one: [named('get'), named('delete'), literal('get')] })
  expect(await ask('delete', '/api/things/stats')).toMatchObject({ status: 405, allow: 'GET, HEAD, OPTIONS' })
  expect(await ask('delete', '/api/things/1')).toMatchObject({ status: 200, params: { id: '1' } })
  const options = await fetch(`${served.url}/api/things/stats`, { method: 'OPTIONS' })
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS'])
})

test('of paths that fit, the one with the most that stands fast from the left is asked', async () => {
  const paths = ['/{+rest}', '/a/{+rest}', '/{a}/b', '/a/{+rest}/z', '/a/{b}.json', '/a/{b}.min.json']
  served = await serveRoutes({ one: paths.map((path) => told('get', path)) })
  const found = async (path: string) => (await ask('get', path)).path
  expect(await found('/x/y/z')).toBe('/{+rest}')
  expect(await found('/a/x/y')).toBe('/a/{+rest}')
  expect(await found('/a/x/y/z')).toBe('/a/{+rest}/z')
  expect(await found('/a/b')).toBe('/a/{+rest}')
  expect(await found('/x/b')).toBe('/{a}/b')
  expect(await found('/a/x.json')).toBe('/a/{b}.json')
  expect(await found('/a/x.min.json')).toBe('/a/{b}.min.json')
})

test('a path may end with a slash, and each method has the names of its own parameters', async () => {
  served = await serveRoutes({ one: [told('get', '/a/{id}'), told('put', '/a/{name}'), told('get', '/b')] })
  expect(await ask('get', '/b/')).toMatchObject({ status: 200, path: '/b' })
  expect(await ask('get', '/a/1%2F2/')).toMatchObject({ status: 200, params: { id: '1/2' } })
  expect(await ask('put', '/a/1')).toMatchObject({ status: 200, params: { name: '1' } })
  expect(await ask('get', '/b//')).toMatchObject({ status: 404 })
  expect(await ask('get', '/B')).toMatchObject({ status: 404 })
  const head = await fetch(`${served.url}/a/1`, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})
