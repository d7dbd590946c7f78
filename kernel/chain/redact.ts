import type { Choice, Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import type { TextLocation } from '../../kit/canonical/text-location.ts'
import {
  mapReplyFields,
  mapReplyTexts,
  mapRequestAddresses,
  mapRequestParameters,
  mapRequestTexts,
} from '../../kit/canonical/texts.ts'
import type { Call } from '../call/call.ts'
import { type OnBlock, Window } from '../detect/window.ts'
import { looksElsewhere } from './batches.ts'
import { Detector, type Found } from './detector.ts'
import type { Entry } from './entry.ts'

/** The modules that would detect in a call after this one. */
export type Later = (entry: Entry, call: Call) => readonly Entry[]

/**
 * The call with its request redacted by a module. Throws when a finding blocks; the call's record may then have its request
 * without any finding, neither of this module nor of those after it.
 */
export function redactRequest(call: Call, entry: Entry, later: Later): Call {
  const detector = new Detector(entry, entry.hooks.detect!.request!, call)
  let blocked: Found | undefined
  const redacted = requestThrough(call, detector, (found) => {
    blocked ??= found
    return marked(found)
  })
  if (blocked) {
    call.trace.mayRecord(recordable(redacted, later(entry, call)))
    throw detector.refusal(blocked)
  }
  return redacted
}

/** A whole answer, redacted; the same object when nothing was found. Throws when a finding blocks. */
export function redactReply(body: Completion, detectors: readonly Detector[]): Completion {
  try {
    const search = (text: string, place: TextLocation): string => new Window(detectors, place).whole(text)
    const redacted = mapReplyTexts(body, (text, place, lane) =>
      search(text, detectors[0]?.placeOf(lane, place) ?? place),
    )
    return mapReplyFields(redacted === body ? body : withoutStaleLogprobs(redacted, body), search)
  } finally {
    for (const detector of detectors) detector.settle()
  }
}

/** The request as these modules would have left it; nothing when one of them cannot tell. */
function recordable(call: Call, entries: readonly Entry[]): ModelRequest | undefined {
  if (entries.some(({ hooks }) => hooks[looksElsewhere])) return undefined
  try {
    return entries.reduce(
      (seen, entry) => requestThrough(seen, new Detector(entry, entry.hooks.detect!.request!, seen), marked),
      call,
    ).request
  } catch {
    return undefined
  }
}

/** What a module makes of texts of requests: with what it finds in each replaced, and with what it puts around it. */
export const requestTextThrough =
  (detector: Detector, onBlock?: OnBlock) =>
  (text: string, place: TextLocation): string =>
    detector.framed(new Window([detector], place, onBlock).whole(text), place)

function requestThrough(call: Call, detector: Detector, onBlock: OnBlock): Call {
  const change = requestTextThrough(detector, onBlock)
  const said = mapRequestParameters(mapRequestTexts(call.request, change), change)
  const request = detector.detection.addresses ? mapRequestAddresses(said, change) : said
  return request === call.request ? call : call.with({ request })
}

/** Log probabilities spell the text out once more; those of a text that is no longer there are left out. */
function withoutStaleLogprobs(redacted: Completion, body: Completion): Completion {
  const choices = redacted.choices!.map((choice, i): Choice => {
    const changed = choice !== body.choices![i]
    return changed && choice.logprobs ? { ...choice, logprobs: null } : choice
  })
  return { ...redacted, choices }
}

const marked = ({ label }: Found): string => `[blocked: ${label}]`
