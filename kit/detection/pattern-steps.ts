/** A class of characters, a text that is quoted, an escape, a repetition, or any other character. */
const pieces =
  /\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]?|\\Q[\s\S]*?(?:\\E|$)|\\(?:[pP]\{[^}]*\}|x\{[^}]*\}|[\s\S])|\{(\d+)(,?)(\d*)\}|\(\?P?<\w+>|\(\?[a-zA-Z-]*:?|[\s\S]/gu

/** What is between two brackets, so far. */
interface Group {
  /** Steps of what stands before the last thing, which alone a repetition behind it repeats. */
  before: number
  last: number
}

/**
 * Steps that the program of a pattern has at the most. It takes time by the length of the pattern alone: the program itself, of which
 * the exact number is known, takes a second for `a{1000}` a hundred times over.
 */
export function stepsAtMost(source: string): number {
  const outer: Group[] = []
  let group: Group = { before: 3, last: 0 }
  const add = (steps: number): void => {
    group = { before: group.before + group.last, last: steps }
  }
  for (const [piece, least, comma, most] of source.matchAll(pieces)) {
    const sign = piece[0]
    if (least !== undefined) {
      const times = Math.max(1, Number(least) + (comma && most === '' ? 1 : 0), Number(most))
      group.last = times * (group.last + 1)
    } else if (sign === '(') {
      outer.push(group)
      group = { before: 3, last: 0 }
    } else if (sign === ')') {
      const { before, last } = group
      group = outer.pop() ?? { before: 3, last: 0 }
      add(before + last)
    } else if (sign === '*' || sign === '+' || sign === '?' || sign === '|') {
      group.last += 2
      if (sign === '|') add(0)
    } else add(piece.startsWith('\\Q') ? piece.length : 1)
  }
  return outer.reduce((sum, { before, last }) => sum + before + last, group.before + group.last)
}
