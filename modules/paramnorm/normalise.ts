import type { Message, ModelRequest } from '#kernel'
import type { Family } from './families.ts'

/** A request as a model wants it, and what was changed for that: `a->b` renamed, `-a` dropped, `a` rewritten. */
export interface Normalised {
  readonly request: ModelRequest
  readonly changes: readonly string[]
}

/** Applies families in order, then what holds for every model. The request is copied when something changes. */
export function normalise(request: ModelRequest, families: readonly Family[]): Normalised {
  const draft = new Draft(request)
  for (const { rename = {}, drop = [], fixed = {}, roles, maxStops } of families) {
    for (const [from, to] of Object.entries(rename)) draft.rename(from, to)
    for (const name of drop) draft.drop(name)
    for (const [name, value] of Object.entries(fixed)) if (draft.get(name) !== value) draft.drop(name)
    if (roles) draft.roles(roles)
    if (maxStops !== undefined) draft.cutStops(maxStops)
  }
  draft.rewrite('tool_choice', toolChoice)
  draft.rewrite('response_format', responseFormat)
  return draft
}

class Draft implements Normalised {
  #fields: Record<string, unknown>
  readonly #original: ModelRequest
  readonly changes: string[] = []

  constructor(request: ModelRequest) {
    this.#original = request
    this.#fields = request
  }

  get request(): ModelRequest {
    return this.#fields as ModelRequest
  }

  get(name: string): unknown {
    return this.#fields[name]
  }

  rename(from: string, to: string): void {
    const value = this.get(from)
    if (!given(value)) return
    const target = this.get(to)
    this.#copy()
    delete this.#fields[from]
    if (!given(target)) this.#fields[to] = value
    this.changes.push(given(target) ? `-${from}` : `${from}->${to}`)
  }

  drop(name: string): void {
    if (!given(this.get(name))) return
    this.#copy()
    delete this.#fields[name]
    this.changes.push(`-${name}`)
  }

  roles(names: Readonly<Record<string, string>>): void {
    const messages = this.request.messages
    const found = new Set(messages?.map(({ role }) => role).filter((role) => Object.hasOwn(names, role)))
    if (!messages || found.size === 0) return
    const renamed = messages.map((message) =>
      Object.hasOwn(names, message.role)
        ? { ...message, role: names[message.role] as Message['role'] }
        : message,
    )
    this.#set('messages', renamed)
    for (const role of found) this.changes.push(`role ${role}->${names[role]}`)
  }

  cutStops(most: number): void {
    const stop = this.get('stop')
    if (!Array.isArray(stop) || stop.length <= most) return
    this.#set('stop', stop.slice(0, most))
    this.changes.push('stop')
  }

  rewrite(name: string, change: (value: unknown) => unknown): void {
    const value = this.get(name)
    const next = given(value) ? change(value) : value
    if (next === value) return
    this.#set(name, next)
    this.changes.push(name)
  }

  #set(name: string, value: unknown): void {
    this.#copy()
    this.#fields[name] = value
  }

  #copy(): void {
    if (this.#fields === this.#original) this.#fields = { ...this.#original }
  }
}

const given = (value: unknown): boolean => value !== undefined && value !== null

type Fields = Record<string, unknown>
const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

/** Other wires' ways to choose a tool, in OpenAI's. */
function toolChoice(value: unknown): unknown {
  if (value === 'any') return 'required'
  const { type, name, function: fn } = fieldsOf(value)
  if (fn !== undefined) return value
  if ((type === 'tool' || type === 'function') && typeof name === 'string')
    return { type: 'function', function: { name } }
  if (type === 'any') return 'required'
  return type === 'auto' || type === 'none' ? type : value
}

/** Short and older forms of structured output, in OpenAI's. */
function responseFormat(value: unknown): unknown {
  if (value === 'json' || value === 'json_object') return { type: 'json_object' }
  const { type, schema, name, json_schema, ...rest } = fieldsOf(value)
  if (type === 'json') return { type: 'json_object' }
  if (type !== 'json_schema' && type !== 'json_object') return value
  if (json_schema !== undefined || schema === undefined) return value
  return {
    type: 'json_schema',
    json_schema: { name: typeof name === 'string' ? name : 'answer', schema, ...rest },
  }
}
