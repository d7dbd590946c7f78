import type { Call, JsonObject, ModelRequest } from '#kernel'
import { protocolOptions } from '#kit'
import type { Changes } from '#provider'
import type { Abilities } from './model.ts'
import type { Content } from './wire.ts'

/** A body of this protocol's own wire. */
interface Body {
  readonly contents?: readonly Content[]
  readonly generationConfig?: JsonObject | null
  readonly [field: string]: unknown
}

/** Parts of a request that go out as the client sent them while no module has changed them. */
const parts = ['messages', 'tools', 'tool_choice', 'response_format', 'reasoning_effort'] as const

type Part = (typeof parts)[number]

interface Heard {
  readonly body: Body
  /** Whether another provider has had a part in the conversation, and wants something of it back. */
  readonly isForeign: boolean
  /** What was made of it. */
  readonly request: Readonly<Partial<Record<Part, unknown>>>
  /** Fields that the request has no place for. */
  readonly lost: readonly string[]
}

/** Whether the caller speaks this protocol itself: the answer's bytes are then what it is to get. */
export const isNative = (call: Call): boolean => call.wire === 'gemini'

/** The fields of a client of this protocol's own wire; undefined for clients of others. */
export function saidBy(call: Call, abilities: Abilities): Said | undefined {
  const heard = protocolOptions(call, 'gemini').said as Heard | undefined
  return heard && new Said(heard, call.request, abilities)
}

/** Whether the form of the answer is as such a client said it. */
export function saysForm(call: Call): boolean {
  const heard = protocolOptions(call, 'gemini').said as Heard | undefined
  return heard !== undefined && heard.request.response_format === call.request.response_format
}

/** Parameters of generation that have a place in a request, where modules may have changed them. */
const parameters = new Set([
  ...['temperature', 'topP', 'topK', 'candidateCount', 'maxOutputTokens', 'stopSequences', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs'],
])
const formats = ['responseMimeType', 'responseSchema', 'responseJsonSchema'] as const

/** Fields of a body that are made of others, or of the request. */
const apart = new Set(['model', 'contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig'])

/** A body in the client's own words, except where a module has changed it. */
export class Said {
  readonly #heard: Heard
  readonly #isSame: Readonly<Record<Part, boolean>>
  /** The request without what goes in the client's words. */
  readonly rest: ModelRequest

  constructor(heard: Heard, request: ModelRequest, abilities: Abilities) {
    this.#heard = heard
    const same = parts.map((part) => [part, request[part] === heard.request[part]] as const)
    const isSame = Object.fromEntries(same) as Record<Part, boolean>
    const taken = !heard.isForeign && isTaken(heard.body.contents, abilities)
    this.#isSame = { ...isSame, messages: isSame.messages && taken }
    const armed = this.#isSame.tools && this.#isSame.tool_choice
    const left = parts.filter((part) => !this.#isSame[part] || (!armed && part.startsWith('tool')))
    const gone = parts.filter((part) => !left.includes(part))
    this.rest = Object.fromEntries(
      Object.entries(request).filter(([field]) => !gone.some((part) => part === field)),
    ) as unknown as ModelRequest
  }

  /** Whether the conversation goes in the client's words. */
  get isSpoken(): boolean {
    return this.#isSame.messages
  }

  #isArmed(): boolean {
    return this.#isSame.tools && this.#isSame.tool_choice
  }

  /** The body: what was made of the rest, and the client's words. Names what changes by others have cost of these. */
  body(made: JsonObject, changes: Changes): JsonObject {
    const { body, lost } = this.#heard
    for (const field of lost) {
      const isGone =
        (field.startsWith('contents.') && !this.isSpoken) || (field.startsWith('tool') && !this.#isArmed())
      if (isGone) changes.add(`-${field}`)
    }
    const { contents, systemInstruction, tools, toolConfig } = body
    return without({
      ...made,
      ...Object.fromEntries(Object.entries(body).filter(([field, own]) => !apart.has(field) && own != null)),
      ...(this.isSpoken && { contents, systemInstruction }),
      ...(this.#isArmed() && { tools, toolConfig: toolConfig ?? made.toolConfig }),
      generationConfig: this.#config(made.generationConfig as JsonObject | undefined),
    })
  }

  #config(made: JsonObject = {}): JsonObject | undefined {
    const own = this.#heard.body.generationConfig ?? {}
    const { response_format: isFormed, reasoning_effort: isAsked } = this.#isSame
    const isTranslated = (field: string): boolean =>
      parameters.has(field) ||
      (!isFormed && formats.some((format) => format === field)) ||
      (!isAsked && field === 'thinkingConfig')
    const kept = Object.entries(own).filter(([field]) => !isTranslated(field))
    const config = without({ ...made, ...Object.fromEntries(kept) })
    return Object.keys(config).length > 0 ? config : undefined
  }
}

/**
 * Whether a model takes a conversation as it is: its calls must have been signed where it signs them, and have no ids where
 * it knows none. Those of other models are not.
 */
function isTaken(contents: readonly Content[] = [], { signed, callIds }: Abilities): boolean {
  let first = true
  for (const { role, parts: own } of contents) {
    if (role !== 'model') first = true
    for (const { functionCall: call, functionResponse: result, thoughtSignature: signature } of own ?? []) {
      if (!callIds && (call?.id ?? result?.id) !== undefined) return false
      if (!call) continue
      if (signed && first && !signature) return false
      first = false
    }
  }
  return true
}

/** A copy without the fields that say nothing. */
const without = (fields: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as JsonObject
