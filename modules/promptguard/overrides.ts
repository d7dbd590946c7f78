import type { Passage } from './passage.ts'
import { type Signal, spanOf } from './signal.ts'
import type { Word } from './words.ts'

/** Instructions set aside: the verb, what it is about, and that this came before or is the model's. */
export function* overrides(passage: Passage): Generator<Signal> {
  for (const word of passage.of('override')) {
    // "Do not ignore the instructions" asks for the opposite.
    const negation = passage.near(word, 'negation', 2, 0)
    if (negation && negation.at < word.at) continue
    yield* overriding(passage, word, 1)
  }
  for (const word of passage.of('weakOverride')) yield* overriding(passage, word, 0.75)
  for (const word of passage.of('follow')) {
    const negation = passage.near(word, 'negation', 3, 1)
    if (negation) yield* overriding(passage, word, 0.92)
  }
}

function* overriding(passage: Passage, verb: Word, trust: number): Generator<Signal> {
  const target = passage.near(verb, 'target', 8, 8)
  const broad = passage.near(verb, 'broadTarget', 6, 8)
  const speech = passage.near(verb, 'speech', 3, 6)
  const about = target ?? broad ?? speech
  const prior = about && (passage.near(about, 'prior', 4, 5) ?? passage.near(verb, 'prior', 2, 5))
  const priorAlone = passage.near(verb, 'prior', 4, 5)
  const all = passage.near(verb, 'all', 6, 5)
  const yours = about && passage.ofModel(about, 3, 4)
  const system = about && passage.near(about, 'system', 3, 2)
  const safety = passage.near(verb, 'safety', 3, 7)
  const isNext = (word: Word | undefined, within: number) => word && Math.abs(word.at - verb.at) <= within
  const order = isOrder(passage.text, verb.start)
  let weight = 0
  if (target) weight = prior ? 0.92 : system ? 0.85 : all || yours ? 0.78 : order ? 0.6 : 0.45
  if (broad) {
    const broadWeight =
      prior && (all || yours) ? 0.82 : prior ? (order ? 0.7 : 0.58) : yours && all ? 0.72 : yours ? 0.5 : 0.3
    weight = Math.max(weight, broadWeight)
  }
  if (speech) weight = Math.max(weight, prior && all ? 0.75 : prior ? 0.45 : 0.1)
  if (safety)
    weight = Math.max(
      weight,
      passage.near(safety, 'your', 3, 1) || isNext(all, 2) ? 0.78 : order ? 0.65 : 0.5,
    )
  if (isNext(all, 2)) weight = Math.max(weight, priorAlone ? 0.8 : 0.45)
  const everything = passage.near(verb, 'everything', 2, 2)
  if (everything && !aboutSomething.test(passage.text.slice(everything.end))) weight = Math.max(weight, 0.72)
  if (isNext(priorAlone, 2)) weight = Math.max(weight, 0.55)
  if (weight > 0.1) {
    const sure = target && (yours || system) ? Math.max(trust, 0.95) : trust
    yield { kind: 'override', weight: weight * sure, ...spanOf(verb, about, prior ?? priorAlone) }
  }
}

/** Whether a verb begins a sentence, as orders do. */
const isOrder = (text: string, start: number): boolean =>
  /(?:^|[.!?\n:;,"'“([\]>]\s*|\b(?:and|please|then|now|just|und|et|y|e|bitte)\s+)$/i.test(
    text.slice(Math.max(0, start - 12), start),
  )

/** "Forget everything about the old law" leaves the rest as it is. */
const aboutSomething = /^\s(?:about|you know about|over|uber|sur|sobre|su)\s/i
