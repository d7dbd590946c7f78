import { decodingsOf } from './decodings.ts'
import { Passage } from './passage.ts'
import type { Signal } from './signal.ts'
import { signalsIn } from './signals.ts'

/** What a text looks like. */
export interface Verdict {
  /** From 0 to 1: how much it looks like an attack on the model. */
  readonly score: number
  /** The kind of signal that says most; undefined where there is none. */
  readonly kind: Signal['kind'] | undefined
  /** The part of the text that the signals are in. */
  readonly start: number
  readonly end: number
  /** The signal that says most. */
  readonly strongest: Pick<Signal, 'start' | 'end'>
}

/** Signals count together within so many characters. */
const together = 900

/** What a text looks like in which there is no signal. */
export const clean: Verdict = { score: 0, kind: undefined, start: 0, end: 0, strongest: { start: 0, end: 0 } }

const uncut: Cuts = { before: false, behind: false }

/** Where a part of a longer text is cut. */
export interface Cuts {
  readonly before: boolean
  readonly behind: boolean
}

/** Signals so near to where a part is cut are left to the next one, or the one before, which has what stands around them. */
const margin = 300

/** Judges a text, or a part of a longer one. */
export function judgePart(text: string, isForeign: boolean, cuts: Cuts = uncut): Verdict {
  const from = cuts.before ? margin : 0
  const to = cuts.behind ? text.length - margin : text.length
  const plain = signalsIn(text, isForeign).filter(({ start, end }) => start >= from && end <= to)
  const least = Math.max(0.3, plain.length === 0 ? 0 : worstOf(plain).score + 0.1)
  const signals = [...plain, ...encodedIn(text, isForeign, cuts.before, least)]
  if (signals.length === 0) return clean
  const worst = worstOf(signals)
  return { ...worst, ...sentences(text, worst), score: worst.score * (1 - discount(text, isForeign, worst)) }
}

/** A sentence longer than this is cut. */
const longestSentence = 300

/** A part of a text with the rest of the sentences that it begins and ends in. */
function sentences(text: string, { start, end }: Verdict): Pick<Verdict, 'start' | 'end'> {
  const before = text.slice(Math.max(0, start - longestSentence), start)
  const behind = text.slice(end, end + longestSentence)
  return {
    start: start - /[^.!?。！？\n]*$/.exec(before)![0].trimStart().length,
    end: end + /^[^.!?。！？\n]*/.exec(behind)![0].trimEnd().length,
  }
}

/** Signals in what a text says in another form, if they say more than its own; that it hides them says something by itself. */
function* encodedIn(text: string, isForeign: boolean, isCut: boolean, least: number): Generator<Signal> {
  for (const { decoded, start, end, kind } of decodingsOf(text, isCut)) {
    const signals = signalsIn(decoded, isForeign)
    if (signals.length === 0) continue
    const { score } = worstOf(signals)
    if (score >= least) yield { kind, weight: 1 - (1 - score) * 0.6, start, end }
  }
}

/** The signals that say most together: of each kind the strongest, within a part of the text. */
function worstOf(signals: readonly Signal[]): Verdict {
  const sorted = signals.toSorted((a, b) => a.start - b.start)
  let best: Verdict = clean
  let first = 0
  // Parts begin at a signal: of those that begin in a part already looked at, only later ones say more.
  while (first < sorted.length) {
    const part = new Map<Signal['kind'], Signal>()
    const limit = sorted[first]!.start + together
    let next = sorted.length
    for (let i = first; i < sorted.length && sorted[i]!.start < limit; i += 1) {
      const signal = sorted[i]!
      if (next === sorted.length && signal.start >= sorted[first]!.start + together / 2) next = i
      const known = part.get(signal.kind)
      if (!known || known.weight < signal.weight) part.set(signal.kind, signal)
      if (i === sorted.length - 1 || sorted[i + 1]!.start >= limit) next = Math.min(next, i + 1)
    }
    const verdict = combined([...part.values()])
    if (verdict.score > best.score) best = verdict
    first = next
  }
  return best
}

function combined(signals: readonly Signal[]): Verdict {
  const strongest = signals.reduce((a, b) => (b.weight > a.weight ? b : a))
  return {
    score: 1 - signals.reduce((left, { weight }) => left * (1 - weight), 1),
    kind: strongest.kind,
    strongest,
    start: Math.min(...signals.map(({ start }) => start)),
    end: Math.max(...signals.map(({ end }) => end)),
  }
}

/** Less for a text that quotes an attack to talk about it. */
function discount(text: string, isForeign: boolean, { strongest: { start, end }, kind }: Verdict): number {
  if (kind === 'encoded' || kind === 'obfuscated' || kind === 'hidden_text') return 0
  const before = withoutAddresses(text.slice(Math.max(0, start - 200), start))
  const passage = new Passage(before)
  const behind = new Passage(withoutAddresses(text.slice(end, end + 120)))
  // Who asks to act on it does not only talk about it.
  if (passage.of('execute').length > 0 || behind.of('execute').length > 0) return 0
  const isAnnounced = passage.of('about').length > 0
  if (isAnnounced && !isForeign && /[:,]\s*$/.test(before)) return 0.5
  if (!isQuoted(text, start, end)) return 0
  return isAnnounced || behind.of('about').length > 0 ? 0.5 : 0
}

const withoutAddresses = (text: string): string => text.replace(/\S{0,100}[@/]\S{0,100}/g, ' ')

const quotes = '"\'`“”„«»‘’「」『』'

/** Whether quotation marks, or those of code, stand around a part of a text. */
function isQuoted(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 80), start)
  const behind = text.slice(end, end + 120)
  const has = (part: string): boolean => [...quotes].some((mark) => part.includes(mark))
  return has(before) && has(behind)
}
