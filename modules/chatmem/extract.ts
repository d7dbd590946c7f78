import { sentenceEnd, wordsOf } from '#kit'
import type { Turn } from './turn.ts'

/** Characters of a line; the rest of a longer sentence is left out. */
const longestLine = 300

/** A turn in lines, each a sentence with who said it. */
export const linesOf = ({ user, assistant }: Turn): string[] => [
  ...sentencesOf(user).map((sentence) => `user: ${sentence}`),
  ...sentencesOf(assistant).map((sentence) => `assistant: ${sentence}`),
]

/**
 * The lines that tell most, in their order and not longer than `most` characters together: those whose words come up in many
 * lines, and those with names and figures. Of equal lines the last is there. It knows no meaning.
 */
export function extracted(lines: readonly string[], most: number): string[] {
  const all = lines.filter((line, at) => lines.lastIndexOf(line) === at)
  const weights = weightsOf(all)
  const ranked = all
    .map((line, at) => ({ at, line, score: scoreOf(line, weights) }))
    .sort((a, b) => b.score - a.score || b.at - a.at)
  let left = most
  const taken = new Set<number>()
  for (const { at, line } of ranked) {
    if (line.length >= left) continue
    taken.add(at)
    left -= line.length + 1
  }
  return all.filter((_, at) => taken.has(at))
}

/** In how many lines each word is; words of most lines, such as articles, weigh nothing. */
function weightsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines)
    for (const word of new Set(wordsOf(line))) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [word, count] of counts) if (count > 3 && count > lines.length / 3) counts.set(word, 0)
  return counts
}

function scoreOf(line: string, weights: ReadonlyMap<string, number>): number {
  const said = line.slice(line.indexOf(': ') + 2)
  const words = [...new Set(wordsOf(said))]
  const common = words.reduce((sum, word) => sum + Math.min(weights.get(word) ?? 0, 5), 0)
  const facts = said.match(/\p{N}+|(?<=\P{L}\s)\p{Lu}\p{L}+|(?<=\p{L} )\p{Lu}\p{L}+/gu)?.length ?? 0
  return (common + 3 * facts) / Math.sqrt(words.length + 4)
}

function sentencesOf(text: string): string[] {
  const sentences: string[] = []
  for (const line of text.split('\n')) {
    for (let rest = line.trim(); rest !== ''; ) {
      const end = sentenceEnd(rest, true) ?? rest.length
      sentences.push(rest.slice(0, Math.min(end, longestLine)).trim())
      rest = rest.slice(end).trim()
    }
  }
  return sentences
}
