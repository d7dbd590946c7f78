import type { ModelRequest } from '../canonical/forms.ts'
import { promptOf } from './prompt.ts'
import { type Level, type Limits, type RuleName, ruleNames, type Weakness } from './rule.ts'
import { rules } from './rules.ts'

/** A finding: what, how bad, where, how often, and what to do. It has no text of the prompt. */
export interface LintFinding extends Weakness {
  readonly rule: RuleName
  readonly level: Level
  readonly message: string
}

export type Levels = Readonly<Partial<Record<RuleName, Level | 'off'>>>

/** The weaknesses of a request's prompt, errors first. `levels` changes how bad those of a rule are. */
export function lint(request: ModelRequest, levels: Levels, limits: Limits): LintFinding[] {
  const prompt = promptOf(request)
  const found = ruleNames.flatMap((rule) => {
    const { level: usual, advice, find } = rules[rule]
    const level = levels[rule] ?? usual
    return level === 'off'
      ? []
      : find(prompt, limits).map((one) => ({ rule, level, message: advice, ...one }))
  })
  return found.sort((a, b) => Number(b.level === 'error') - Number(a.level === 'error'))
}
