import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import { changeInTurns } from '../../kit/canonical/in-turns.ts'
import { withoutStaleLogprobs } from '../../kit/canonical/logprobs.ts'
import type { TextLocation } from '../../kit/canonical/text-location.ts'
import {
  mapReplyFields,
  mapReplyTexts,
  mapRequestAddresses,
  mapRequestParameters,
  mapRequestTexts,
} from '../../kit/canonical/texts.ts'
import { Cancel } from '../../kit/work/cancel.ts'
import { type Awaitable, continueWith } from '../../kit/work/continue-with.ts'
import type { Call } from '../call/call.ts'
import { type OnBlock, Window } from '../detect/window.ts'
import { looksElsewhere } from './batches.ts'
import { Detector, type Found } from './detector.ts'
import type { Entry } from './entry.ts'

/** The modules that would detect in a call after this one. */
export type Later = (entry: Entry, call: Call) => readonly Entry[]

/**
 * The call with its request redacted by a module; a promise where that is long, so that other calls go on meanwhile. Throws when a
 * finding blocks; the call's record may then have its request without any finding, neither of this module nor of those after it.
 */
export function redactRequest(call: Call, entry: Entry, later: Later): Awaitable<Call> {
  const detector = new Detector(entry, entry.hooks.detect!.request!, call)
  let blocked: Found | undefined
  const redacted = requestThrough(call, detector, (found) => {
    blocked ??= found
    return marked(found)
  })
  const passed = (seen: Call): Awaitable<Call> => {
    if (!blocked) return seen
    const refusal = detector.refusal(blocked)
    return continueWith(recordable(seen, later(entry, call)), (request): never => {
      call.trace.mayRecord(request)
      throw refusal
    })
  }
  if (!(redacted instanceof Promise)) return passed(redacted)
  return redacted.finally(() => detector.settle()).then(passed)
}

/** A whole answer, redacted, as with `redactRequest`; the same object when nothing was found. Throws when a finding blocks. */
export function redactReply(
  body: Completion,
  detectors: readonly Detector[],
  cancel = new Cancel(),
): Awaitable<Completion> {
  const walk = (search: (text: string, place: TextLocation) => string): Completion => {
    const redacted = mapReplyTexts(body, (text, place, lane) =>
      search(text, detectors[0]?.placeOf(lane, place) ?? place),
    )
    return mapReplyFields(redacted === body ? body : withoutStaleLogprobs(redacted, body), search)
  }
  const settle = (): void => {
    for (const detector of detectors) detector.settle()
  }
  let redacted: Awaitable<Completion> | undefined
  try {
    redacted = changeInTurns(walk, { open: (place: TextLocation) => new Window(detectors, place), cancel })
    return redacted instanceof Promise ? redacted.finally(settle) : redacted
  } finally {
    if (!(redacted instanceof Promise)) settle()
  }
}

/** The request as these modules would have left it; nothing when one of them cannot tell. */
function recordable(call: Call, entries: readonly Entry[]): Awaitable<ModelRequest | undefined> {
  if (entries.some(({ hooks }) => hooks[looksElsewhere])) return undefined
  const through = (seen: Call, entry: Entry): Awaitable<Call> =>
    requestThrough(seen, new Detector(entry, entry.hooks.detect!.request!, seen), marked)
  try {
    const seen = entries.reduce<Awaitable<Call>>(
      (so, entry) => continueWith(so, (one) => through(one, entry)),
      call,
    )
    return seen instanceof Promise
      ? seen.then(
          ({ request }) => request,
          () => undefined,
        )
      : seen.request
  } catch {
    return undefined
  }
}

/** How a module changes texts of requests: what it finds in each is replaced, and something may be put around it. */
export const requestChange = (detector: Detector, { cancel }: Call, onBlock?: OnBlock) => ({
  open: (place: TextLocation) => new Window([detector], place, onBlock),
  study: (text: string, place: TextLocation) => detector.study(text, place),
  close: (text: string, place: TextLocation) => detector.framed(text, place),
  cancel,
})

function requestThrough(call: Call, detector: Detector, onBlock: OnBlock): Awaitable<Call> {
  const walk = (change: (text: string, place: TextLocation) => string): ModelRequest => {
    const said = mapRequestParameters(mapRequestTexts(call.request, change), change)
    return detector.detection.addresses ? mapRequestAddresses(said, change) : said
  }
  return continueWith(changeInTurns(walk, requestChange(detector, call, onBlock)), (request) =>
    request === call.request ? call : call.with({ request }),
  )
}

const marked = ({ label }: Found): string => `[blocked: ${label}]`
