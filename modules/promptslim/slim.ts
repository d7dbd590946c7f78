import { type Block, blocksOf } from './blocks.ts'
import { minified } from './json.ts'
import { withoutPhrases } from './phrases.ts'
import { isIndented, quotedAmong, tidied } from './prose.ts'
import { withoutPadding } from './tables.ts'

/** 1 loses nothing; 2 also takes the layout from JSON and tables; 3 also phrases that say nothing. */
export type Level = 1 | 2 | 3

/** Characters of a paragraph from which on saying it twice is no emphasis. */
const worthwhile = 60

/**
 * The text with fewer tokens, itself if there is nothing to save. Code and quotations stay byte for byte. Paragraphs in `said`
 * are left out, and those that this one says are added to it.
 */
export function slimmed(text: string, level: Level, said: Set<string>): string {
  const blocks = blocksOf(text, level >= 2)
  if (blocks.length === 0) return text
  const quoted = quotedAmong(blocks.map(({ kind, text }) => (kind === 'prose' ? text : '')))
  let slim = ''
  for (const [at, block] of blocks.entries()) {
    const own = quoted.has(at) ? block.text : ofBlock(block, level)
    if (block.kind === 'prose' && own.length >= worthwhile) {
      if (said.has(own)) continue
      said.add(own)
    }
    if (slim !== '') slim += block.isApart ? '\n\n' : '\n'
    slim += own
  }
  return slim.length < text.length ? slim : text
}

function ofBlock({ kind, text }: Block, level: Level): string {
  if (kind === 'code') return text
  if (kind === 'json') return minified(text)
  const lines = text.split('\n')
  const quoted = quotedAmong(lines)
  const laidOut = level >= 2 ? withoutPadding(lines) : lines
  return laidOut
    .map((line, at) => {
      if (quoted.has(at) || isIndented(line)) return lines[at]!
      return tidied(level === 3 ? withoutPhrases(line) : line)
    })
    .join('\n')
}
