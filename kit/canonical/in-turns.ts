import type { Cancel } from '../work/cancel.ts'
import { takingTurns } from '../work/turns.ts'

/** Characters of texts that are changed at once; for what comes behind them, other work has its turn in between. */
const atOnce = 32_768
/** A part of a text is to take about so long, and has so many characters. */
const partMs = 10
const parts = { first: 4096, least: 256, most: 32_768 }
/** What a text costs beside its characters, in characters. */
const each = 64

/** Passes texts, each with what is known of it, through a change: such as `mapRequestTexts`. It goes the same way each time. */
type Walk<T, P extends unknown[]> = (change: (text: string, ...about: P) => string) => T

/** Changes one text, which comes whole or in parts. */
interface Changing {
  whole(text: string): string
  add(part: string): void
  /** What is changed of it so far, each part of it once. */
  take(): string
  end(): string
}

/** How each text is changed. */
interface Way<P extends unknown[]> {
  open(...about: P): Changing
  /** What comes before the change of a text whose parts take turns: steps that take turns, too. */
  study?(text: string, ...about: P): Iterable<unknown>
  /** Changes the whole of what was changed in parts. */
  close?(text: string, ...about: P): string
  /** Ends the work when nobody waits for it any more. */
  readonly cancel: Cancel
}

/**
 * What a walk makes of texts that are changed. Where they are long together it is a promise: the first of them are changed at once,
 * and the rest part by part, with turns for other work.
 */
export function changeInTurns<T, P extends unknown[]>(walk: Walk<T, P>, way: Way<P>): T | Promise<T> {
  const made: string[] = []
  const late: { readonly text: string; readonly about: P }[] = []
  let room = atOnce
  const close = (text: string, about: P): string => way.close?.(text, ...about) ?? text
  const first = walk((text, ...about) => {
    room -= text.length + each
    if (room < 0) {
      late.push({ text, about })
      return text
    }
    const changed = close(way.open(...about).whole(text), about)
    made.push(changed)
    return changed
  })
  return late.length === 0 ? first : rest()

  async function rest(): Promise<T> {
    const turn = takingTurns()
    let length = parts.first
    for (const { text, about } of late) {
      for (const _ of way.study?.(text, ...about) ?? []) {
        await turn()
        way.cancel.check()
      }
      const changing = way.open(...about)
      let changed = ''
      for (let at = 0; at < text.length; ) {
        await turn()
        way.cancel.check()
        const part = text.slice(at, at + length)
        const began = performance.now()
        changing.add(part)
        changed += changing.take()
        at += part.length
        length = lengthAfter(part.length, performance.now() - began)
      }
      await turn()
      made.push(close(changed + changing.end(), about))
    }
    const texts = made.values()
    return walk(() => texts.next().value!)
  }
}

/** How long the next part is to be, by what one took. */
const lengthAfter = (length: number, ms: number): number =>
  Math.round(Math.min(parts.most, 2 * length, Math.max(parts.least, length * (partMs / Math.max(ms, 0.01)))))
