import { LRUCache } from 'lru-cache'
import { type Awaitable, badRequest, type Call, type JsonObject, type ModelRequest, type Tool } from '#kernel'
import type { HeldSchema, Schemas } from '#kit'

/** Characters of a tool's schema. */
const longest = 256 * 1024

const anything: HeldSchema = { isAside: false, check: (value) => ({ problems: [], value }) }

/** The tools that a request offers to the model, by name, with the schemas of their arguments. */
export type Offered = ReadonlyMap<string, HeldSchema>

/** Compiled schemas of tools; clients send them, so their number is bounded. */
export class ToolSchemas {
  readonly #schemas: Schemas
  readonly #known = new LRUCache<string, HeldSchema>({ max: 500 })

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** Throws or rejects with a bad request when the schema of a tool cannot be used. A promise only while one has to be read aside. */
  offeredBy({ tools = [], functions }: ModelRequest): Awaitable<Offered> {
    const old = Array.isArray(functions) ? (functions as NonNullable<Tool['function']>[]) : []
    const held = [
      ...tools.map(
        (tool, i) =>
          [
            nameOf(tool),
            this.#schemaOf(tool.function?.parameters, `tools.${i}.function.parameters`),
          ] as const,
      ),
      ...old.map(
        ({ name, parameters }, i) => [name, this.#schemaOf(parameters, `functions.${i}.parameters`)] as const,
      ),
    ]
    const ready = held.flatMap(([name, schema]) =>
      schema instanceof Promise ? [] : [[name, schema] as const],
    )
    if (ready.length === held.length) return new Map(ready)
    return Promise.all(held.map(async ([name, schema]) => [name, await schema] as const)).then(
      (all) => new Map(all),
    )
  }

  #schemaOf(schema: JsonObject | null | undefined, param: string): Awaitable<HeldSchema> {
    if (!schema) return anything
    const text = JSON.stringify(schema)
    if (text.length > longest) throw badRequest(`The schema is longer than ${longest} characters.`, { param })
    const known = this.#known.get(text)
    if (known) return known
    const read = this.#schemas.read(schema, { param })
    if (read instanceof Promise) return read.then((held) => this.#keep(text, held))
    return this.#keep(text, read)
  }

  #keep(text: string, held: HeldSchema): HeldSchema {
    this.#known.set(text, held)
    return held
  }
}

/** Whether a call of one of these tools may have to be judged by a thread of its own. */
export const needsTime = (offered: Offered = new Map()): boolean =>
  [...offered.values()].some(({ isAside }) => isAside)

/** The name by which a model calls a tool; of a tool that the provider has, its own name or its kind. */
export function nameOf(tool: Tool): string {
  const { custom, name } = tool as { readonly custom?: { readonly name?: unknown }; readonly name?: unknown }
  return String(tool.function?.name ?? custom?.name ?? name ?? tool.type)
}

/**
 * The call without the tools that its model may not call and its provider runs by itself: of their calls no answer tells in time.
 * Undefined when there are none.
 */
export function withoutHosted(call: Call, mayCall: (tool: string) => boolean): Call | undefined {
  const { tools = [], tool_choice: choice } = call.request
  const isDenied = (tool: Tool): boolean =>
    tool.type !== 'function' && tool.type !== 'custom' && !mayCall(nameOf(tool))
  const gone = new Set<unknown>(tools.filter(isDenied).map(nameOf))
  if (gone.size === 0) return undefined
  for (const name of gone) call.trace.changeParam(`-tools.${name}`)
  const left = tools.filter((tool) => !isDenied(tool))
  const { type, name } = Object(choice) as { readonly type?: unknown; readonly name?: unknown }
  const isMeant = gone.has(name ?? type)
  return call.withRequest({
    tools: left.length > 0 ? left : undefined,
    ...((left.length === 0 || isMeant) && { tool_choice: undefined }),
    ...(left.length === 0 && { parallel_tool_calls: undefined }),
  })
}
