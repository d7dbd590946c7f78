import type { Passage } from './passage.ts'
import { type Signal, spanOf } from './signal.ts'

/** In the text of a tool or of a document, which has nothing to ask of a model. */
export function* foreign(passage: Passage): Generator<Signal> {
  for (const word of passage.of('model')) {
    const asked = passage.near(word, 'send', 4, 16) ?? passage.near(word, 'execute', 4, 16)
    const yours = passage.near(word, 'your', 4, 12)
    const target = passage.near(word, 'target', 6, 10)
    const weight = (asked ? 0.25 : 0) + (yours ? 0.15 : 0) + (target ? 0.25 : 0)
    if (weight > 0.2) yield { kind: 'addressed_model', weight, ...spanOf(word, asked, target) }
  }
  for (const word of passage.of('conceal')) yield { kind: 'addressed_model', weight: 0.4, ...spanOf(word) }
  for (const word of passage.of('send')) {
    const address = addressBehind(passage.text, word.end)
    if (!address) continue
    const secret = passage.near(word, 'secret', 3, 14) ?? passage.near(word, 'broadTarget', 0, 10)
    yield { kind: 'exfiltration', weight: secret ? 0.5 : 0.3, start: word.start, end: address }
  }
}

/** Where an address ends that begins soon behind a place. */
function addressBehind(text: string, from: number): number | undefined {
  const match = /https?:\/\/[^\s"'<>)]{3,200}|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/.exec(
    text.slice(from, from + 160),
  )
  return match ? from + match.index + match[0].length : undefined
}
