import type { TextLocation } from '../../kit/canonical/text-location.ts'
import type { Call } from '../call/call.ts'
import { Detector, looks } from './detector.ts'
import { type Entry, engages } from './entry.ts'

/** Puts into a text what the client alone gets to see; undefined where a call has nothing of that. */
export type Revealing = (call: Call) => ((text: string) => string) | undefined

const place: TextLocation = { direction: 'reply', role: 'assistant', kind: 'arguments' }

/** What modules of this thread reveal in values, for those that judge what the client gets. Leaves no trace. */
export function revealingOf(entries: readonly Entry[]): Revealing {
  return (call) => {
    const detectors = entries.flatMap((entry) => {
      const { reveal } = entry.hooks
      if (!reveal || !('scan' in reveal) || !engages(entry, call) || !looks(entry, reveal, call)) return []
      return [new Detector(entry, reveal, call)]
    })
    return detectors.length === 0 ? undefined : (text) => detectors.reduce(revealed, text)
  }
}

function revealed(text: string, detector: Detector): string {
  let made = ''
  let at = 0
  for (const { start, end, replacement = '' } of detector.scan(text, place, 0)) {
    made += text.slice(at, start) + replacement
    at = end
  }
  return made + text.slice(at)
}
