/** A line of a text that was changed: kept, taken out or put in. */
export interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** The lines of two texts, those that both have once, in the order of a longest common subsequence. */
export function compareLines(before: readonly string[], after: readonly string[]): Line[] {
  const common = lengths(before, after)
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ mark: ' ', text: before[i]! })
      i += 1
      j += 1
    } else if (j >= after.length || (i < before.length && common[i + 1]![j]! >= common[i]![j + 1]!)) {
      lines.push({ mark: '-', text: before[i]! })
      i += 1
    } else {
      lines.push({ mark: '+', text: after[j]! })
      j += 1
    }
  }
  return lines
}

/** How long the longest common subsequence of the rest is, from each place in both. */
function lengths(before: readonly string[], after: readonly string[]): number[][] {
  const table = Array.from({ length: before.length + 1 }, () => new Array<number>(after.length + 1).fill(0))
  for (let i = before.length - 1; i >= 0; i -= 1)
    for (let j = after.length - 1; j >= 0; j -= 1)
      table[i]![j] =
        before[i] === after[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!)
  return table
}
