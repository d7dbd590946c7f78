import { patternSize, takingTurns } from '#kit'
import { type Condition, matchesIn } from './condition.ts'
import type { Definition } from './definition.ts'
import { wrong } from './references.ts'
import type { Step } from './step.ts'

/** Steps of all patterns of a workflow: what it takes to read them is a tenth of a second. */
const mostSteps = 20_000

/**
 * Refuses texts that are no patterns where there should be some, and more of them than a workflow may have. Others have their turn
 * meanwhile.
 */
export async function checkPatterns({ steps }: Definition): Promise<void> {
  const turn = takingTurns()
  let taken = 0
  for (const [n, step] of steps.entries())
    for (const [question, path] of questionsOf(step, `steps.${n}`))
      for (const { pattern, at } of matchesIn(question, path)) {
        const size = patternSize(pattern)
        if (size === undefined) throw wrong(at, 'is no regular expression in RE2 syntax')
        taken += size
        if (taken > mostSteps)
          throw wrong(at, `the patterns of a workflow may take ${mostSteps} steps; repeat less in them`)
        await turn()
      }
}

function questionsOf(step: Step, at: string): (readonly [question: Condition, at: string])[] {
  const when = step.when === undefined ? [] : [[step.when, `${at}.when`] as const]
  return step.type === 'condition' ? [...when, [step.config.if, `${at}.config.if`]] : when
}
