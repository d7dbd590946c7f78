import { StepFault } from '../steps/fault.ts'
import type { Part, Step } from '../workflows/step.ts'
import { type Scope, type Value, valued } from '../workflows/value.ts'

/** A step inside of another one, with what its tags show. */
export interface PlacedPart {
  readonly part: Part
  readonly path: string
  readonly scope: Scope
}

/** The parts of a step, and what it puts out when these have. */
interface Parts {
  readonly parts: readonly PlacedPart[]
  readonly outputFrom: (outputs: Value[]) => Value
}

/** What a step is put together from: its steps side by side, or one for each item of a list. Throws a `StepFault` for no list. */
export function partsOf(
  step: Extract<Step, { type: 'map' | 'parallel' }>,
  path: string,
  scope: Scope,
  maxItems: number,
): Parts {
  if (step.type === 'map') {
    const parts = itemsOf(step.config.over, scope, maxItems).map((item, index) => ({
      part: step.config.step,
      path: `${path}[${index}]`,
      scope: { ...scope, item, index },
    }))
    return { parts, outputFrom: (outputs) => outputs }
  }
  const { steps } = step.config
  const names = Object.keys(steps)
  return {
    parts: names.map((name) => ({ part: steps[name]!, path: `${path}.${name}`, scope })),
    outputFrom: (outputs) => Object.fromEntries(outputs.map((output, n) => [names[n]!, output])),
  }
}

function itemsOf(over: string, scope: Scope, most: number): Value[] {
  const items = valued(over, scope)
  if (!Array.isArray(items)) throw new StepFault('not_a_list', 'What the step goes through is no list.')
  if (items.length > most) throw new StepFault('too_large', `A step goes through ${most} items at the most.`)
  return items
}
