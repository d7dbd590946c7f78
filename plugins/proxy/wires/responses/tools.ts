import { z } from 'zod'
import { badRequest, type Tool } from '#kernel'
import { checked } from './checked.ts'
import { freeTextParameters } from './free-text.ts'
import type { Offered } from './offered.ts'
import type { Fields, Report, ResponsesBody } from './schema.ts'
import { customName, functionName, type Origin, searchName, type Toolbox } from './toolbox.ts'

const about = { type: z.string(), name: z.string().min(1), description: z.string().nullish() }
const functionTool = z.looseObject({
  ...about,
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
})
const customTool = z.looseObject({ ...about, format: z.looseObject({ type: z.string() }).nullish() })
const searchTool = z.looseObject({
  type: z.string(),
  execution: z.literal('client'),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
})
const chosen = z.looseObject({ name: z.string().min(1), namespace: z.string().nullish() })
const allowed = z.looseObject({
  mode: z.enum(['auto', 'required']),
  tools: z.array(z.looseObject({ type: z.string() })),
})

export interface Tools {
  /** `tools`, `tool_choice` and `parallel_tool_calls` of the canonical request; nothing when there are no tools. */
  readonly fields: Fields
  readonly toolbox: Toolbox
  /** Where in the body each of the canonical tools stands. */
  readonly places: readonly string[]
  /** The formats of tools of free text, by the names of the functions that stand for them. */
  readonly freeText: Readonly<Record<string, Fields>>
}

interface Made {
  readonly fn: NonNullable<Tool['function']>
  readonly origin: Origin
  readonly at: string
  /** Of a tool of free text. */
  readonly format?: Fields
}

/**
 * Tools and which of them to use, all as functions: whatever the client itself runs can be one. A tool that the
 * service would run is left out and reported, unless the request is for nothing else.
 */
export function toolsOf(body: ResponsesBody, offered: Iterable<Offered>, report: Report): Tools {
  const { tool_choice: choice, parallel_tool_calls: parallel } = body
  const made = new Map<string, Made>()
  const hosted: Offered[] = []
  for (const one of offered) {
    const tool = madeOf(one, report)
    if (tool === undefined) hosted.push(one)
    else if (isOther(made.get(tool.fn.name)?.origin, tool.origin))
      throw badRequest(`${one.at}.name: another tool has the name ${tool.fn.name} too.`, {
        param: `${one.at}.name`,
      })
    else made.set(tool.fn.name, tool)
  }
  if (made.size === 0 && hosted.length > 0) throw cannotRun(hosted[0]!)
  for (const { tool } of hosted) report(`-tools.${tool.type}`)
  const list = [...made.values()]
  const formats = list.flatMap(({ fn, format }) => (format ? [[fn.name, format] as const] : []))
  return {
    fields: list.length > 0 ? fieldsOf(list, choice, parallel) : withoutTools(choice, report),
    toolbox: new Map(list.map(({ fn, origin }) => [fn.name, origin])),
    places: list.map(({ at }) => at),
    freeText: Object.fromEntries(formats),
  }
}

const fieldsOf = (
  made: readonly Made[],
  choice: ResponsesBody['tool_choice'],
  parallel: ResponsesBody['parallel_tool_calls'],
): Fields => ({
  tools: made.map(({ fn }): Tool => ({ type: 'function', function: fn })),
  ...(choice != null && { tool_choice: choiceOf(choice, 'tool_choice') }),
  ...(parallel != null && { parallel_tool_calls: parallel }),
})

function withoutTools(choice: ResponsesBody['tool_choice'], report: Report): Fields {
  if (choice != null && choice !== 'auto' && choice !== 'none') report('-tool_choice')
  return {}
}

const isOther = (known: Origin | undefined, { name, namespace }: Origin): boolean =>
  known !== undefined && (known.name !== name || known.namespace !== namespace)

const cannotRun = ({ tool, at }: Offered): Error =>
  badRequest(`${at}.type: tools of the type ${tool.type} are not supported; use functions.`, {
    param: `${at}.type`,
  })

/** The function that stands for a tool; undefined for one that the service would run. */
function madeOf({ tool, at, namespace }: Offered, report: Report): Made | undefined {
  const lost = (own: Fields): void => {
    for (const field in own) if (own[field] != null) report(`-tools.${field}`)
  }
  const within = namespace === undefined ? {} : { namespace }
  if (tool.type === 'function') {
    const { type: _, name, description, parameters, strict, ...own } = checked(functionTool, tool, at)
    lost(own)
    const fn = functionOf(functionName(name, namespace), description, parameters)
    return {
      fn: { ...fn, ...(strict != null && { strict }) },
      origin: { kind: 'function', name, ...within },
      at,
    }
  }
  if (tool.type === 'custom') {
    const { type: _, name, description, format, ...own } = checked(customTool, tool, at)
    lost(own)
    const fn = functionOf(customName(name, namespace), description, freeTextParameters(format))
    return { fn, origin: { kind: 'custom', name, ...within }, at, format: formatOf(format) }
  }
  if (tool.type === 'tool_search' && tool.execution === 'client') {
    const { type: _, execution: __, description, parameters, ...own } = checked(searchTool, tool, at)
    lost(own)
    const fn = functionOf(searchName, description, parameters)
    return { fn, origin: { kind: 'search', name: searchName }, at }
  }
  return undefined
}

const functionOf = (
  name: string,
  description: string | null | undefined,
  parameters: object | null | undefined,
) =>
  ({
    name,
    ...(description != null && { description }),
    ...(parameters != null && { parameters }),
  }) as NonNullable<Tool['function']>

/** What a tool takes: this wire writes a grammar flat, the canonical form does not. */
function formatOf(format: Fields | null | undefined): Fields {
  const { type, ...grammar } = format ?? {}
  return type === undefined ? {} : { format: type === 'grammar' ? { type, grammar } : { type, ...grammar } }
}

function choiceOf(choice: NonNullable<ResponsesBody['tool_choice']>, at: string): unknown {
  if (typeof choice === 'string') return choice
  const { type } = choice
  if (type === 'function' || type === 'custom') {
    const { name, namespace } = checked(chosen, choice, at)
    const nameOf = type === 'custom' ? customName : functionName
    return { type: 'function', function: { name: nameOf(name, namespace) } }
  }
  if (type === 'tool_search') return { type: 'function', function: { name: searchName } }
  if (type === 'allowed_tools') {
    const { mode, tools } = checked(allowed, choice, at)
    const few = tools.map((tool, i) => choiceOf(tool, `${at}.tools.${i}`))
    return { type, allowed_tools: { mode, tools: few } }
  }
  throw badRequest(`${at}.type: tools of the type ${type} cannot be chosen.`, { param: `${at}.type` })
}
