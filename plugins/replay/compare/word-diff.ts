import { z } from 'zod'
import { takingTurns } from '#kit'

export const diffPart = z.object({ kind: z.enum(['same', 'removed', 'added']), text: z.string() })
export type DiffPart = z.infer<typeof diffPart>

/** Words that are compared at the most; what follows them is shown as replaced. */
const mostWords = 100_000
/** Edits that are looked for at the most: the search takes their square in time and memory. */
const mostEdits = 1500
/** Words between two looks at whether it is the turn of others. */
const betweenTurns = 200

/** A word with the space behind it; any other character, and each of a script without spaces, is one by itself. */
const wordForm =
  /[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]]{1,200}\s{0,20}|\S\s{0,20}|\s{1,200}/gv

type Rest = ReturnType<typeof takingTurns>

/**
 * How one text becomes another, word by word, with the fewest edits (Myers' algorithm). The parts that are not `added` make up the
 * first text, those that are not `removed` the second. Others get their turn meanwhile, and it takes bounded time and memory: texts
 * that differ too much, or are too long, have their differing middle shown as replaced.
 */
export async function wordDiff(before: string, after: string): Promise<DiffPart[]> {
  const rest = takingTurns()
  const a = await wordsOf(before, rest)
  const b = await wordsOf(after, rest)
  const start = commonStart(a, b)
  const end = commonEnd(a, b, start)
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const parts = new Parts()
  parts.add('same', a.slice(0, start))
  editsInto(parts, middleA, middleB, await searched(middleA, middleB, rest))
  parts.add('same', a.slice(a.length - end))
  return parts.all
}

/** The words of a text; the last one has the rest of a text that is too long. */
async function wordsOf(text: string, rest: Rest): Promise<string[]> {
  const words: string[] = []
  let length = 0
  for (const [word] of text.matchAll(wordForm)) {
    if (words.length === mostWords) break
    if (words.length % betweenTurns === 0) await rest()
    words.push(word)
    length += word.length
  }
  if (length < text.length) words.push(text.slice(length))
  return words
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  let n = 0
  while (n < a.length && n < b.length && a[n] === b[n]) n += 1
  return n
}

function commonEnd(a: readonly string[], b: readonly string[], start: number): number {
  let n = 0
  while (n < a.length - start && n < b.length - start && a[a.length - 1 - n] === b[b.length - 1 - n]) n += 1
  return n
}

type Steps = readonly (readonly [x: number, y: number])[]

function editsInto(parts: Parts, a: readonly string[], b: readonly string[], steps: Steps | undefined): void {
  if (!steps) {
    parts.add('removed', a)
    parts.add('added', b)
    return
  }
  let [x, y] = [0, 0]
  for (const [toX, toY] of steps) {
    // The edit comes first, then the run of equal words up to the next one.
    const same = Math.min(toX - x, toY - y)
    if (toX - x > toY - y) parts.add('removed', [a[x]!])
    else if (toY - y > toX - x) parts.add('added', [b[y]!])
    parts.add('same', a.slice(toX - same, toX))
    ;[x, y] = [toX, toY]
  }
}

/** The points after each edit and the equal words behind it, first to last; undefined where there are too many edits. */
async function searched(a: readonly string[], b: readonly string[], rest: Rest): Promise<Steps | undefined> {
  if (a.length === 0 || b.length === 0) return undefined
  const most = Math.min(mostEdits, a.length + b.length)
  const furthest = new Int32Array(2 * most + 3)
  const rounds: Int32Array[] = []
  const middle = most + 1
  for (let edits = 0; edits <= most; edits += 1) {
    await rest()
    for (let k = -edits; k <= edits; k += 2) {
      let x = fromAbove(furthest, middle, k, edits)
        ? furthest[middle + k + 1]!
        : furthest[middle + k - 1]! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      furthest[middle + k] = x
      if (x >= a.length && x - k >= b.length) return wayBack(rounds, a.length, b.length)
    }
    rounds.push(furthest.slice(middle - edits - 1, middle + edits + 2))
  }
  return undefined
}

/** Whether the best way to a diagonal is by an added word. */
const fromAbove = (furthest: Int32Array, middle: number, k: number, edits: number): boolean =>
  k === -edits || (k !== edits && furthest[middle + k - 1]! < furthest[middle + k + 1]!)

function wayBack(rounds: readonly Int32Array[], endX: number, endY: number): [number, number][] {
  const points: [number, number][] = []
  let [x, y] = [endX, endY]
  for (let edits = rounds.length; edits > 0; edits -= 1) {
    points.push([x, y])
    const round = rounds[edits - 1]!
    const k = x - y
    const before = fromAbove(round, edits, k, edits) ? k + 1 : k - 1
    x = round[edits + before]!
    y = x - before
  }
  if (x > 0) points.push([x, y])
  return points.reverse()
}

/** Parts of a text, in which neighbours of a kind are one. */
class Parts {
  readonly all: DiffPart[] = []

  add(kind: DiffPart['kind'], words: readonly string[]): void {
    if (words.length === 0) return
    const text = words.join('')
    const last = this.all.at(-1)
    if (last?.kind === kind) last.text += text
    else this.all.push({ kind, text })
  }
}
