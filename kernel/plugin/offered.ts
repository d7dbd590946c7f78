import type { Wire } from '../call/wire.ts'
import type { LiveRoute } from '../route.ts'
import { pathsOf } from './wire-table.ts'

const methods: readonly unknown[] = ['get', 'post', 'put', 'patch', 'delete']
const accesses: readonly unknown[] = ['public', 'any', 'user', 'admin']

const forms: readonly unknown[] = ['events', 'text']

/** Literal parts, `{name}` for a parameter that is a segment or a part of one, `{+name}` for one of several segments. */
const pathPattern = /^(\/([\w.~:@-]|\{\+?[A-Za-z_]\w*\})+)+$/

/**
 * Throws a readable error when what a plugin offers as a route is none: one route without a method would be in the way of
 * all others, and one without an access open to anybody.
 */
export function checkRoute(route: LiveRoute): void {
  const { method, path, access, summary, status = 200, returns, handle } = route
  const at = `the route ${String(method)} ${String(path)}`
  demand(methods.includes(method), `${at} needs a method: ${methods.join(', ')}`)
  checkPath(path, at)
  demand(accesses.includes(access), `${at} needs an access: ${accesses.join(', ')}`)
  demand(typeof summary === 'string', `${at} needs a summary, a text`)
  demandStatus(status, at)
  for (const form of formsOf(returns, at)) {
    const byStream = !isSchema(form) && isSchema(Object(form).json)
    const isForm = byStream || forms.includes(form) || isSchema(form) || isFunction(Object(form).send)
    demand(isForm, `${at} must declare what it returns: a schema, 'events', 'text', or a form with send`)
    demand(!byStream || route.body !== undefined, `${at} needs a body, whose field stream decides`)
  }
  demand(isFunction(handle), `${at} needs handle, a function`)
  for (const input of ['params', 'query', 'body'] as const) {
    const isBytes = input === 'body' && isFunction(Object(route.body).read)
    const fits = route[input] === undefined || isSchema(route[input]) || isBytes
    demand(fits, `${input} of ${at} must be a schema`)
  }
}

/** The answer of a route, by status where it has several. */
function formsOf(returns: LiveRoute['returns'], at: string): readonly unknown[] {
  if (isSchema(returns) || typeof returns !== 'object' || !('statuses' in returns)) return [returns]
  const entries = Object.entries(returns.statuses)
  demand(entries.length > 0, `${at} names no status`)
  for (const [status] of entries) demandStatus(Number(status), at)
  return entries.map(([, form]) => form)
}

function demandStatus(status: number, at: string): void {
  demand(Number.isInteger(status) && status >= 200 && status <= 599, `${at} needs a status from 200 to 599`)
}

/** The same for a wire. */
export function checkWire(wire: Wire): void {
  const at = `the wire ${String(wire.id)}`
  for (const path of pathsOf(wire)) checkPath(path, at)
  for (const does of ['decode', 'encode', 'encoder', 'error'] as const)
    demand(isFunction(wire[does]), `${at} needs ${does}, a function`)
  demand(isSchema(wire.body), `the body of ${at} must be a schema`)
}

function checkPath(path: unknown, at: string): void {
  const fits = typeof path === 'string' && pathPattern.test(path)
  demand(fits, `${at} needs a path that begins with a slash, such as /api/things/{id}`)
  const names = (path as string).match(/\w+(?=\})/g) ?? []
  demand(new Set(names).size === names.length, `${at} names a parameter twice`)
}

function demand(holds: boolean, problem: string): void {
  if (!holds) throw new Error(problem)
}

const isFunction = (value: unknown): boolean => typeof value === 'function'

const isSchema = (value: unknown): boolean => typeof value === 'object' && isFunction(Object(value).safeParse)
