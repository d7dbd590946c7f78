import { badRequest, type Message, type ToolCall } from '#kernel'
import { type Changes, callArguments, objectIn } from '#provider'
import { partsOfId } from './call-id.ts'
import type { Abilities } from './model.ts'
import { partsOf, textOf } from './parts.ts'
import { signedIn } from './reasoning.ts'
import type { Content, Part } from './wire.ts'

/** Stands for a missing signature, such as that of a call that another model made. */
const unsigned = 'skip_thought_signature_validator'

export interface Conversation {
  readonly systemInstruction?: Content
  readonly contents: readonly Content[]
}

interface OpenCall {
  readonly name: string
  /** Grows with its place among the calls of its turn. */
  readonly place: number
}

/** The result of a call: an object with what may be a part of it, and what it shows beside that follows all results. */
interface Result {
  readonly place: number
  readonly part: Part
  readonly shown: readonly Part[]
}

/** The messages as Gemini has them: instructions apart, two roles, and results that name their function. */
export function conversationOf(
  messages: readonly Message[],
  abilities: Abilities,
  changes: Changes,
): Conversation {
  const system: Part[] = []
  const contents: Content[] = []
  const open = new Map<string, OpenCall>()
  let results: Result[] = []

  const closeResults = (): void => {
    if (results.length === 0) return
    // Gemini distinguishes calls of the same function by their order alone.
    const parts = results.toSorted((a, b) => a.place - b.place).map(({ part }) => part)
    contents.push({ role: 'user', parts })
    const shown = results.flatMap((result) => result.shown)
    if (shown.length > 0) contents.push({ role: 'user', parts: shown })
    results = []
  }

  for (const [i, message] of messages.entries()) {
    const at = `messages[${i}]`
    if (message.role === 'tool') {
      results.push(resultOf(message, open, abilities, at, changes))
      continue
    }
    if (message.role === 'system' || message.role === 'developer') {
      if (contents.length > 0) changes.add(`role:${message.role}->systemInstruction`)
      const text = textOf(message.content, `${at}.content`, changes)
      if (text !== '') system.push({ text })
      continue
    }
    closeResults()
    if (message.role === 'assistant') {
      const parts = assistantParts(message, abilities, at, changes)
      const last = contents.at(-1)
      const before = last?.role === 'model' ? last.parts : []
      for (const [place, { id, function: fn }] of (message.tool_calls ?? []).entries()) {
        open.set(id, { name: fn.name, place: before.length + place })
      }
      // The results of calls stand in one content, and so must the calls.
      if (before.length > 0) contents.pop()
      if (before.length + parts.length > 0) contents.push({ role: 'model', parts: [...before, ...parts] })
    } else if (message.role === 'user') {
      if (message.name !== undefined) changes.add('-messages.name')
      const parts = partsOf(message.content, abilities.fetches, `${at}.content`, changes)
      contents.push({ role: 'user', parts: parts.length > 0 ? parts : [{ text: '' }] })
    } else {
      const param = `${at}.role`
      throw badRequest(
        `${param}: Gemini does not support ${message.role} messages; use tools and tool messages.`,
        {
          param,
        },
      )
    }
  }
  closeResults()
  if (contents.length > 0)
    return { ...(system.length > 0 && { systemInstruction: { parts: system } }), contents }
  // Gemini requires at least one message of the user.
  changes.add('role:system->user')
  return { contents: [{ role: 'user', parts: system.length > 0 ? system : [{ text: '' }] }] }
}

function resultOf(
  message: Message,
  open: ReadonlyMap<string, OpenCall>,
  { fetches, callIds, nests }: Abilities,
  at: string,
  changes: Changes,
): Result {
  const call = open.get(message.tool_call_id ?? '')
  if (!call) {
    const param = `${at}.tool_call_id`
    throw badRequest(`${param}: no earlier call has this id.`, { param })
  }
  const { id } = partsOfId(message.tool_call_id!)
  if (message.cache_control !== undefined) changes.add('-cache_control')
  const parts = partsOf(message.content, fetches, `${at}.content`, changes)
  const said = parts.flatMap(({ text }) => text ?? []).join('\n\n')
  const response = message.is_error === true ? { error: said } : (objectIn(said) ?? { output: said })
  const nested = parts.filter((part) => nests && isNestable(part))
  return {
    place: call.place,
    part: {
      functionResponse: {
        ...(callIds && id !== undefined && { id }),
        name: call.name,
        response,
        ...(nested.length > 0 && { parts: nested }),
      },
    },
    shown: parts.filter((part) => part.text === undefined && !nested.includes(part)),
  }
}

/** Whether a part may stand in a result. */
const isNestable = ({ inlineData }: Part): boolean =>
  inlineData !== undefined &&
  /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(inlineData.mimeType)

/** Fields of an assistant's message that have no place there. */
const lost = [
  'reasoning',
  'reasoning_content',
  'name',
  'audio',
  'annotations',
  'citations',
  'vendor_blocks',
] as const

function assistantParts(
  message: Message,
  { fetches, signed, callIds }: Abilities,
  at: string,
  changes: Changes,
): Part[] {
  const { signature: ofText, isForeign } = signedIn(message)
  changes.lose(message, lost, ['extra'])
  if (isForeign) changes.add('-messages.reasoning_details')
  if (message.function_call !== undefined && message.function_call !== null) {
    const param = `${at}.function_call`
    throw badRequest(`${param}: use tool_calls.`, { param })
  }
  const parts = partsOf(message.content ?? message.refusal, fetches, `${at}.content`, changes)
  const signature = signatureIn(message) ?? ofText
  const last = parts.at(-1)
  if (signature !== undefined && last?.text !== undefined) {
    parts[parts.length - 1] = { ...last, thoughtSignature: signature }
  }
  const calls = (message.tool_calls ?? []).map((call, i) =>
    callPart(call, callIds, `${at}.tool_calls[${i}]`, changes),
  )
  const first = calls[0]
  if (signed && first && first.thoughtSignature === undefined) {
    changes.add('messages.tool_calls.thought_signature')
    calls[0] = { ...first, thoughtSignature: unsigned }
  }
  return [...parts, ...calls]
}

function callPart(call: ToolCall, callIds: boolean, at: string, changes: Changes): Part {
  const { id, signature: inId } = partsOfId(call.id)
  if (call.type !== 'function' || call.function === undefined) {
    throw badRequest(`${at}.type: Gemini supports only function calls.`, { param: `${at}.type` })
  }
  const { name, arguments: json } = call.function
  const args = callArguments(json, changes)
  if (!args) {
    const param = `${at}.function.arguments`
    throw badRequest(`${param}: expected the JSON of an object.`, { param })
  }
  const signature = signatureIn(call) ?? inId
  return {
    functionCall: { ...(callIds && id !== undefined && { id }), name, args },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

/** What Google's own clients of this form call `extra_content`, and carry for it. */
function signatureIn(carrier: object): string | undefined {
  const { extra_content: extra } = carrier as {
    readonly extra_content?: { readonly google?: { readonly thought_signature?: unknown } } | null
  }
  const signature = extra?.google?.thought_signature
  return typeof signature === 'string' ? signature : undefined
}
