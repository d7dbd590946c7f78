import { badRequest } from '#kernel'
import { isIpRange, isPattern, type OlderPolicyConfig, policyFieldNames, type TrustPolicy } from '#kit'
import { fieldOf, kindOf } from './fields.ts'
import { comparison } from './numbers.ts'
import type { PolicyFields, PolicyRule } from './shapes.ts'

/** A policy in the one form in which it is kept. Throws a bad request that names the field which does not fit. */
export function normalised({ type, config, rules, ...rest }: TrustPolicy): PolicyFields {
  if (rules && config) throw bad('config', 'it takes the place of rules; send one of them')
  if (!rules && !config) throw bad('rules', 'say what the policy looks for')
  const policy = { ...rest, rules: (rules ?? [fromOlder(config!)]).map(normalisedRule) }
  checkAction(policy)
  return policy
}

function normalisedRule({ field: said, ...rule }: PolicyRule, place: number): PolicyRule {
  const at = `rules.${place}`
  const field = fieldOf(said)
  if (field === undefined)
    throw bad(
      `${at}.field`,
      `there is no field ${said}; they are ${policyFieldNames.join(', ')} and tags.<name>`,
    )
  const kind = kindOf(field)
  checkPattern({ field, ...rule }, `${at}.pattern`)
  if (rule.target !== undefined && field !== 'request' && field !== 'response')
    throw bad(`${at}.target`, `only request and response have targets, not ${field}`)
  if (field === 'response' && !['assistant', 'tool_args', undefined].includes(rule.target))
    throw bad(`${at}.target`, 'an answer has the targets assistant and tool_args')
  if (rule.negate && kind !== 'value')
    throw bad(`${at}.negate`, `only values such as model or ip can be negated, not ${field}`)
  if (rule.max_length !== undefined && kind !== 'request' && kind !== 'reply')
    throw bad(`${at}.max_length`, `only texts have it, not ${field}`)
  return { field, ...rule }
}

function checkPattern({ field, pattern }: PolicyRule, at: string): void {
  if (kindOf(field) === 'number') {
    if (!comparison(pattern)) throw bad(at, `${field} needs a comparison with a number, such as > 1000`)
  } else if (!(field === 'ip' && isIpRange(pattern)) && !isPattern(pattern))
    throw bad(at, 'must be a regular expression in RE2 syntax that repeats no more than thousands of times')
}

/** What is redacted must be a text that is still there when all other rules are known to match. */
function checkAction({ action, rules }: Pick<PolicyFields, 'action' | 'rules'>): void {
  if (action !== 'redact') return
  const kinds = rules.map(({ field }) => kindOf(field))
  if (!kinds.includes('request') && !kinds.includes('reply'))
    throw bad('action', 'there is nothing to redact without a rule for a text')
  if (!kinds.includes('reply') && rules.some(({ field }) => field === 'cost'))
    throw bad(
      'action',
      'what a call costs is known after its request was searched; block, warn or log instead',
    )
}

/** The one rule that the older form stands for. */
function fromOlder({ target, ...conditions }: OlderPolicyConfig): PolicyRule {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined)
  if (given.length !== 1) throw bad('config', 'give exactly one of pattern, max_tokens, max_cost and models')
  const { pattern, max_tokens: tokens, max_cost: cost, models } = conditions
  if (target !== undefined && pattern === undefined) throw bad('config.target', 'only a pattern has it')
  if (pattern !== undefined) return { field: target ?? 'request', pattern }
  if (tokens !== undefined) return { field: 'tokens', pattern: `> ${plain(tokens)}` }
  if (cost !== undefined) return { field: 'cost', pattern: `> ${plain(cost)}` }
  const { allow, deny } = models ?? {}
  if ((allow === undefined) === (deny === undefined)) throw bad('config.models', 'give either allow or deny')
  return { field: 'model', pattern: globsPattern(allow ?? deny!), ...(allow && { negate: true }) }
}

/** Without an exponent. */
const plain = (value: number): string => value.toFixed(12).replace(/\.?0+$/, '')

const globsPattern = (globs: readonly string[]): string =>
  `(?i)^(?:${globs
    .map((glob) =>
      glob
        .replaceAll(/[\\^$.+()[\]{}|]/g, '\\$&')
        .replaceAll('*', '.*')
        .replaceAll('?', '.'),
    )
    .join('|')})$`

const bad = (at: string, why: string) => badRequest(`body ${at}: ${why}.`, { param: at })
