import type { ModelRequest } from '../../kit/canonical/forms.ts'
import { changeInTurns } from '../../kit/canonical/in-turns.ts'
import type { TextLocation } from '../../kit/canonical/text-location.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'
import { Call } from '../call/call.ts'
import type { Trace } from '../call/trace.ts'
import { looksElsewhere } from './batches.ts'
import { Detector } from './detector.ts'
import { type Entry, engages } from './entry.ts'
import { inspectRequest } from './inspect.ts'
import { requestChange } from './redact.ts'

/** A text that a module brings into a call: a passage that it found, a turn that it remembers, a template that it filled. */
export interface BroughtText {
  /** Of the message that it is to be part of. */
  readonly role: string
  readonly text: string
}

/** Resolves with the texts as guards let them pass; rejects with what one refuses with. `origin` brings them. */
export type InspectBrought = (
  trace: Trace,
  call: Call,
  texts: readonly BroughtText[],
  origin: string,
) => Promise<string[]>

/**
 * Has the guards of a chain look at texts that a module brings into a call after they have looked at its request. The
 * module that brings them is not asked about its own. Undefined when there are no guards.
 */
export function inspectorOf(guards: readonly Entry[]): InspectBrought | undefined {
  if (guards.length === 0) return undefined
  return async (trace, handed, texts, origin) => {
    // A plugin from outside has a call that cannot be written to.
    const call = handed.trace === trace ? handed : new Call({ ...handed, trace })
    let seen = texts
    for (const entry of guards) {
      if (entry.id === origin || !engages(entry, call)) continue
      seen = entry.hooks[looksElsewhere]
        ? await askElsewhere(entry, call, seen)
        : await lookedThrough(entry, call, seen, origin)
    }
    return seen.map(({ text }) => text)
  }
}

async function lookedThrough(
  entry: Entry,
  call: Call,
  texts: readonly BroughtText[],
  origin: string,
): Promise<readonly BroughtText[]> {
  const detector = new Detector(entry, entry.hooks.detect!.request!, call)
  const walk = (change: (text: string, place: TextLocation) => string): readonly BroughtText[] =>
    texts.map(({ role, text }) => ({
      role,
      text: change(text, { direction: 'request', role, kind: 'content', origin }),
    }))
  try {
    return await changeInTurns(walk, requestChange(detector, call))
  } finally {
    detector.settle()
  }
}

/** A guard in a worker gets the texts as the messages of a request. */
async function askElsewhere(entry: Entry, call: Call, texts: readonly BroughtText[]): Promise<BroughtText[]> {
  const messages = texts.map(({ role, text }) => ({ role, content: text }))
  const asked = call.withRequest({ messages, prompt: undefined, input: undefined })
  const step = await inspectRequest(entry, asked, () => [])
  if (step && 'kind' in step) throw new HookFault(`${entry.id} answers where it is asked about texts`)
  const after = ((step ?? asked).request as ModelRequest).messages ?? []
  return texts.map(({ role }, n) => ({ role, text: String(after[n]?.content ?? '') }))
}
