import type { Message, ModelRequest } from '#kernel'
import { messageTexts } from '#kit'
import { judge } from './judging.ts'
import type { Verdict } from './score.ts'

/** Newest texts of the user that are read together, characters of each, and of all of them. */
const most = { texts: 16, characters: 4000, together: 16_384 }

/**
 * What is an attack only when the texts of the user are read together: by each text that has a part in it. Texts of which one is an
 * attack by itself need no such look.
 */
export function spanAcross(
  { messages = [] }: ModelRequest,
  without: (text: string) => string,
  threshold: number,
): ReadonlyMap<string, Verdict> {
  const found = new Map<string, Verdict>()
  const texts = newestOf(messages)
  if (texts.length < 2) return found
  const last = texts.at(-1)!
  const whole = { start: 0, end: last.length }
  for (const [readings, separator] of [[texts, ' '] as const, [texts.flatMap(pieces), ''] as const]) {
    const verdict = judge(without(readings.join(separator)), false)
    if (verdict.score < threshold) continue
    if (separator === '') return found.set(last, { ...verdict, ...whole })
    let at = 0
    for (const text of texts) {
      const start = Math.max(verdict.start - at, 0)
      const end = Math.min(verdict.end - at, text.length)
      if (start < end) found.set(text, { ...verdict, start, end })
      at += text.length + separator.length
    }
    return found
  }
  return found
}

/** The newest texts of the user, in their order. */
function newestOf(messages: readonly Message[]): readonly string[] {
  const said = messages.filter(({ role }) => role === 'user').flatMap(messageTexts)
  const newest: string[] = []
  let room = most.together
  for (let at = said.length - 1; at >= 0 && newest.length < most.texts; at -= 1) {
    const text = said[at]!
    if (text === '' || text.length > Math.min(most.characters, room)) continue
    room -= text.length
    newest.unshift(text)
  }
  return newest
}

/** What a text has between quotation marks, or behind a colon or an equals sign: parts to be put together. */
const pieces = (text: string): string[] =>
  Array.from(
    text.matchAll(/["“'«]([^"”'»\n]{1,200})["”'»]|[:=]\s{0,3}(?!["“'«\s])([^\n]{1,200})$/gm),
    ([, quoted, rest]) => quoted ?? rest!,
  )
