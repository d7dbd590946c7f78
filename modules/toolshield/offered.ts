import { LRUCache } from 'lru-cache'
import { badRequest, type Call, type JsonObject, type ModelRequest, type Tool } from '#kernel'
import { type SchemaCheck, schemaCheck } from '#kit'

/** Characters of a tool's schema. */
const longest = 256 * 1024

const anything: SchemaCheck = () => []

/** The tools that a request offers to the model, by name, with the check of their arguments. */
export type Offered = ReadonlyMap<string, SchemaCheck>

/** Compiled schemas of tools; clients send them, so their number is bounded. */
export class ToolSchemas {
  readonly #known = new LRUCache<string, SchemaCheck>({ max: 500 })

  /** Throws a bad request when the schema of a tool cannot be used. */
  offeredBy({ tools = [], functions }: ModelRequest): Offered {
    const old = Array.isArray(functions) ? (functions as NonNullable<Tool['function']>[]) : []
    return new Map([
      ...tools.map(
        (tool, i) =>
          [nameOf(tool), this.#checkOf(tool.function?.parameters, `tools.${i}.function.parameters`)] as const,
      ),
      ...old.map(
        ({ name, parameters }, i) => [name, this.#checkOf(parameters, `functions.${i}.parameters`)] as const,
      ),
    ])
  }

  #checkOf(schema: JsonObject | null | undefined, param: string): SchemaCheck {
    if (!schema) return anything
    const text = JSON.stringify(schema)
    if (text.length > longest) throw badRequest(`The schema is longer than ${longest} characters.`, { param })
    const check = this.#known.get(text) ?? schemaCheck(schema, { param })
    this.#known.set(text, check)
    return check
  }
}

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
