import { type GuardrailRule, guardrailRule, patternTest } from '#kit'
import type { BuiltAttack } from '../attacks/genome.ts'
import type { RulePattern } from '../attacks/rule-pattern.ts'
import { strategyOf } from '../attacks/strategies.ts'

const usualLength = 400

/**
 * A guardrail rule that would have stopped an attack: by the strategy that hid it, else by what attacks of its type say. Null when neither
 * matches what was sent.
 */
export function suggestRule(
  { type, payload, conversation }: BuiltAttack,
  trait: string,
): GuardrailRule | null {
  const sent = conversation.messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .map(({ content }) => String(content))
  const known = [strategyOf(trait)?.rule, type.rule].flatMap((rule) => rule ?? [])
  const found = known.find(({ pattern }) => [payload, ...sent].some(patternTest(pattern)))
  return found ? ruleOf(found, `${type.name}: ${trait}`, type.severity) : null
}

const ruleOf = (
  { pattern, max_length = usualLength }: RulePattern,
  name: string,
  severity: GuardrailRule['severity'],
) =>
  guardrailRule.parse({
    name: `Red team: ${name}`,
    description: 'Suggested by a campaign. Try it on past calls first: POST /api/guardrails/history.',
    type: 'injection',
    pattern,
    max_length,
    action: 'block',
    direction: 'request',
    targets: ['user', 'tool_result'],
    severity,
  })
