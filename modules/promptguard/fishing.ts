import type { Passage } from './passage.ts'
import { type Signal, spanOf } from './signal.ts'

/** Questions for the text that governs the model. */
export function* fishing(passage: Passage): Generator<Signal> {
  for (const word of passage.of('reveal')) {
    for (const concept of ['target', 'broadTarget', 'speech'] as const) {
      const target = passage.near(word, concept, 8, 10)
      if (!target) continue
      const system = passage.near(target, 'system', 3, 2)
      const yours = concept === 'target' ? passage.ofModel(target, 4, 3) : passage.near(target, 'your', 4, 3)
      const verbatim = passage.near(word, 'verbatim', 6, 14)
      const prior = passage.near(target, 'prior', 3, 4)
      const isStrong = concept === 'target'
      const isClose = Math.abs(target.at - word.at) <= 4
      let weight = 0
      if (system && yours) weight = isStrong ? 0.85 : concept === 'speech' ? 0.75 : 0.6
      else if (yours)
        weight = isStrong ? (verbatim || prior ? 0.85 : isClose ? 0.72 : 0.5) : verbatim ? 0.6 : 0.2
      else if (prior && verbatim) weight = isStrong ? 0.8 : 0.6
      else if (prior) weight = isStrong ? 0.6 : 0.2
      else if (system && isStrong) weight = verbatim ? 0.7 : 0.4
      if (weight > 0.2) yield { kind: 'prompt_fishing', weight, ...spanOf(word, target) }
    }
    const prior = passage.near(word, 'prior', 0, 8)
    const verbatim = prior && passage.near(word, 'verbatim', 4, 14)
    const all = prior && passage.near(prior, 'all', 6, 3)
    if (prior && verbatim)
      yield { kind: 'prompt_fishing', weight: all ? 0.75 : 0.55, ...spanOf(word, prior, verbatim) }
  }
}

/** The system prompt of the model, by name: nobody but its operator has much to do with it. */
export function* mentions(passage: Passage): Generator<Signal> {
  for (const word of passage.of('target')) {
    const system = passage.near(word, 'system', 1, 1)
    const yours = system && passage.near(system, 'your', 2, 2)
    if (yours) yield { kind: 'prompt_fishing', weight: 0.6, ...spanOf(yours, system, word) }
  }
}
