import type { Passage } from './passage.ts'
import { type Signal, spanOf } from './signal.ts'

/** What attacks have beside their main part. */
export function* others(passage: Passage): Generator<Signal> {
  for (const word of passage.of('fresh')) yield { kind: 'new_instructions', weight: 0.35, ...spanOf(word) }
  for (const word of passage.of('boast')) {
    const said = passage.near(word, 'reveal', 14, 8)
    yield { kind: 'forced_opening', weight: said ? 0.72 : 0.45, ...spanOf(said, word) }
  }
  for (const word of passage.of('negation')) {
    const work = passage.near(word, 'work', 0, 4)
    const other = work && (passage.near(word, 'fresh', 0, 14) ?? passage.near(word, 'opening', 0, 14))
    if (other) yield { kind: 'new_instructions', weight: 0.5, ...spanOf(word, work, other) }
  }
  for (const word of passage.of('authority')) yield { kind: 'authority', weight: 0.45, ...spanOf(word) }
  for (const word of passage.of('opening')) yield { kind: 'forced_opening', weight: 0.3, ...spanOf(word) }
  for (const word of passage.of('conceal')) yield { kind: 'concealment', weight: 0.3, ...spanOf(word) }
  for (const word of passage.of('decode')) {
    const act = passage.near(word, 'execute', 0, 14)
    if (act) yield { kind: 'encoded', weight: 0.35, ...spanOf(word, act) }
  }
  for (const word of passage.of('secret')) {
    const reveal = passage.near(word, 'reveal', 8, 4)
    const yours = passage.near(word, 'your', 4, 4) ?? passage.near(word, 'system', 3, 1)
    if (reveal) yield { kind: 'prompt_fishing', weight: yours ? 0.4 : 0.2, ...spanOf(reveal, word) }
  }
}
