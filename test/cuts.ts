import assert from 'node:assert/strict'
import type { Detection } from '../kernel/detect/detect.ts'
import type { OnBlock } from '../kernel/detect/window.ts'
import type { TextLocation } from '../kit/canonical/text-location.ts'
import { ask, textOf } from './ask.ts'
import { callWith } from './chain.ts'
import type { GatewayUnderTest } from './harness.ts'
import { content, cut, piecesThrough, redactedWhole } from './scanning.ts'
import type { Upstream } from './upstream/index.ts'

/** Ways of cutting a text: not at all, in two at every place, and at every place at once. Each says where parts end. */
export function* cutsOf(text: string): Generator<readonly number[]> {
  const places = Array.from({ length: Math.max(0, text.length - 1) }, (_, n) => n + 1)
  yield []
  for (const place of places) yield [place]
  yield places
}

/**
 * The law of detections: however a text is cut on its way, what leaves is what a look at the whole of it makes. Throws
 * for the first text and cut where that does not hold. Texts that end in the middle of a finding try it most.
 */
export function holdsAtEveryCut(
  detection: Detection,
  texts: Iterable<string>,
  place: TextLocation = content,
): void {
  for (const text of texts) {
    const whole = seenWhole(detection, text, place)
    for (const places of cutsOf(text)) {
      assert.equal(streamed(detection, text, places, place), whole, departed(text, places))
    }
  }
}

/** The same law for anything that a gateway does to answers: every streamed form of this text, cut by the provider in
 * every way, reaches the client as the plain one does. `fields` are of its call. Resolves with that text; rejects where they differ.
 */
export async function streamsAsWhole(
  gateway: Pick<GatewayUnderTest, 'url' | 'adminKey'>,
  upstream: Upstream,
  text: string,
  fields: object = {},
): Promise<string> {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Go on' }], ...fields }
  const said = async (stream: boolean, parts: readonly string[]): Promise<string> => {
    upstream.reply({ content: parts })
    const answer = await ask(gateway, { body: { ...body, stream } })
    return textOf(answer.body) ?? JSON.stringify(answer.body.error)
  }
  const whole = await said(false, [text])
  for (const places of cutsOf(text)) {
    assert.equal(await said(true, cut(text, places)), whole, departed(text, places))
  }
  return whole
}

/** Instead of a text that was blocked; nobody's findings look like it. */
const blocked = '\0blocked'

class Blocked extends Error {}

const onBlock: OnBlock = () => {
  throw new Blocked()
}

function seenWhole(detection: Detection, text: string, place: TextLocation): string {
  const call = callWith()
  const blocks = detection.scan(text, place, call, 0).some(({ action }) => action === 'block')
  return blocks ? blocked : redactedWhole(text, [detection], place, call)
}

function streamed(
  detection: Detection,
  text: string,
  places: readonly number[],
  place: TextLocation,
): string {
  try {
    return piecesThrough(cut(text, places), [detection], place, callWith(), onBlock).join('')
  } catch (error) {
    if (error instanceof Blocked) return blocked
    throw error
  }
}

const departed = (text: string, places: readonly number[]): string =>
  `${JSON.stringify(text)} cut at ${places.join(', ') || 'no place'} becomes something else than whole`
