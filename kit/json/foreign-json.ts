import { findExcess, type JsonBounds } from './json-bounds.ts'

/**
 * The bounds of a provider's answer. Answers are seldom nested at all; code that copies or writes them runs out of stack only
 * far beyond this, at several thousand levels.
 */
const foreign: JsonBounds = { depth: 1_000, nodes: Number.POSITIVE_INFINITY }

/**
 * The bounds of one event of a stream. It is read and passes all filters without a turn for other work, and some thousands of
 * tokens with all of their alternatives have fewer values.
 */
const ofEvent: JsonBounds = { ...foreign, nodes: 250_000 }

/** What is wrong with an event of a provider that goes further than any that is sent in good faith; undefined for others. */
export function excessOfEvent(json: Uint8Array): string | undefined {
  const excess = findExcess(json, ofEvent)
  return excess && `an event ${excess === 'depth' ? 'that is nested too deeply' : 'of too many values'}`
}

/** Whether JSON of a provider lies deeper than anything that it says in good faith. */
export const isTooDeep = (json: Uint8Array): boolean => findExcess(json, foreign) !== undefined

/** The value of JSON that a provider or its model wrote. Throws a SyntaxError for what is none, or lies too deep. */
export function parseForeign(json: string): unknown {
  if (json.length >= 2 * foreign.depth && isTooDeep(Buffer.from(json))) {
    throw new SyntaxError(`nested more than ${foreign.depth} levels deep`)
  }
  return JSON.parse(json)
}
