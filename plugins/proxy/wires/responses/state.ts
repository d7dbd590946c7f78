import { parseForeign } from '#kit'
import type { Fields } from './schema.ts'

/**
 * State that clients carry from turn to turn without looking into it, as the `encrypted_content` of a reasoning item:
 * everything that a provider must get back unchanged. It is opaque, not secret; providers sign the parts that they rely on.
 */
export interface State {
  /** Fields of the assistant's message, such as reasoning with its signatures. */
  readonly message?: Fields
  /** Fields of its tool calls, by their ids. */
  readonly calls?: Readonly<Record<string, Fields>>
}

const prefix = 'sy1.'
const ofMessages = ['reasoning_details', 'vendor_blocks', 'extra_content']
const lists = new Set(['reasoning_details', 'vendor_blocks'])
const ofCalls = ['extra', 'extra_content']

/** Whether there may be something in a delta that is to be given back. */
export const hasState = (delta: Fields): boolean => ofMessages.some((name) => delta[name] !== undefined)

/** The state of a message, or of the delta of one, that the client gives back with it. */
export const stateOf = (message: Fields | undefined): Fields => picked(message, ofMessages)

/** The state of a tool call that the client gives back with it. */
export const callStateOf = (call: Fields | undefined): Fields => picked(call, ofCalls)

export const sealed = (state: State): string =>
  prefix + Buffer.from(JSON.stringify(state)).toString('base64url')

/** The state behind `sealed`'s result; undefined for what others have sealed. */
export function opened(text: string): State | undefined {
  if (!text.startsWith(prefix)) return undefined
  try {
    const { message, calls } = parseForeign(
      Buffer.from(text.slice(prefix.length), 'base64url').toString(),
    ) as Partial<State>
    return {
      message: stateOf(message),
      calls: Object.fromEntries(
        Object.entries(calls ?? {}).map(([id, own]) => [id, callStateOf(own as Fields)]),
      ),
    }
  } catch {
    return undefined
  }
}

function picked(from: Fields | undefined, names: readonly string[]): Fields {
  const found = names.filter((name) => isState(from?.[name], lists.has(name)))
  return Object.fromEntries(found.map((name) => [name, from![name]]))
}

/** A client could have sent anything; providers' plugins rely on lists of objects, and on objects. */
function isState(value: unknown, list: boolean): boolean {
  if (list) return Array.isArray(value) && value.length > 0 && value.every((item) => isState(item, false))
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
