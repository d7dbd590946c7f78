import { clean, judgePart, type Verdict } from './score.ts'

/** Characters of a text that are judged at once, and of those before them that are judged with them once more. */
const size = 8192
const overlap = 2048

/** Judges a text part by part, so that other work can have its turn in between: what one part looks like, all of it does. */
export function* judging(text: string, isForeign: boolean): Generator<undefined, Verdict> {
  if (text.length <= size + overlap) return judgePart(text, isForeign)
  let worst = clean
  for (let at = 0; at < text.length; at += size) {
    const from = Math.max(0, at - overlap)
    const to = at + size
    const cuts = { before: from > 0, behind: to < text.length }
    const verdict = judgePart(text.slice(from, to), isForeign, cuts)
    if (verdict.score > worst.score) worst = moved(verdict, from)
    yield
  }
  return worst
}

/**
 * How much a text looks like an attack on a model. `isForeign`: it comes from a tool or a document, where nothing should ask
 * anything of a model.
 */
export function judge(text: string, isForeign: boolean): Verdict {
  const steps = judging(text, isForeign)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const moved = ({ start, end, strongest, ...verdict }: Verdict, by: number): Verdict => ({
  ...verdict,
  start: start + by,
  end: end + by,
  strongest: { start: strongest.start + by, end: strongest.end + by },
})
