import type { Completion, ModelRequest, PolicyToolUse, TraceBodies, TraceSummary } from '#kernel'
import { jsonText, usdOf } from '#kit'
import { type CompiledPolicy, compilePolicy, type PolicyText } from './compile.ts'
import type { Facts } from './facts.ts'
import { namesIn, type PlacedText, textsOfReply, textsOfRequest } from './texts.ts'

/** A call that is not made, or not any more, to try policies on. */
export interface Sample {
  readonly facts: Facts
  readonly costUsd: number | undefined
  readonly request: readonly PlacedText[]
  readonly reply: readonly PlacedText[]
  /** Of the tools that its answer calls. */
  readonly names: readonly string[]
}

/** Whether all rules of a policy match in a call. */
export function isViolated(
  policy: CompiledPolicy,
  { facts, costUsd, request, reply, names }: Sample,
): boolean {
  const isIn = (texts: readonly PlacedText[]) => (rule: PolicyText) => matchIn(rule, texts) !== undefined
  return (
    policy.covers(facts) &&
    policy.values.every((matches) => matches(facts)) &&
    policy.models.every((matches) => matches(facts)) &&
    policy.costs.every((holds) => costUsd !== undefined && holds(costUsd)) &&
    policy.names.every((matches) => names.some(matches)) &&
    policy.request.every(isIn(request)) &&
    policy.reply.every(isIn(reply))
  )
}

/** Which rules of a policy match in a call, in their order, and the first text that each rule for texts matches. */
export function ruleMatches({ row }: CompiledPolicy, sample: Sample) {
  return row.rules.map((rule) => {
    const alone = compilePolicy({ ...row, rules: [rule], scope: {} })
    const [text] = [...alone.request, ...alone.reply]
    const match = text && matchIn(text, text === alone.request[0] ? sample.request : sample.reply)
    return { field: rule.field, matched: isViolated(alone, sample), ...(match !== undefined && { match }) }
  })
}

function matchIn(rule: PolicyText, texts: readonly PlacedText[]): string | undefined {
  for (const { text, place } of texts) {
    const found = rule.looksAt(place) ? rule.find(text, 0) : undefined
    if (found) return text.slice(found.start, found.end)
  }
  return undefined
}

/** A call of the past, as it is stored. The address of its client is not. */
export function sampleOf(trace: TraceSummary, bodies: TraceBodies | undefined): Sample {
  const { project, model_requested: model, user_id: userId, tags, usage, cost } = trace
  const request = whole<ModelRequest>(bodies?.request)
  const reply = whole<Completion>(bodies?.response)
  return {
    facts: { project, model, userId, tags, ip: undefined, tokens: usage.input + usage.output },
    costUsd: cost && usdOf(cost.total_nano),
    request: request ? textsOfRequest(request) : [],
    reply: reply ? textsOfReply(reply) : [],
    names: reply ? namesIn(reply) : [],
  }
}

/** A use of a tool that no model asked for, as an answer that asks for it would be. */
export function sampleOfUse({ tool, arguments: json, principal, project, ip, tags }: PolicyToolUse): Sample {
  const place = { direction: 'reply', role: 'assistant', kind: 'arguments' } as const
  return {
    facts: { project, model: '', userId: principal.userId, tags, ip, tokens: undefined },
    costUsd: undefined,
    request: [],
    reply: [{ text: jsonText(json), place }],
    names: [tool],
  }
}

/** A stored side of a call; undefined for one of which only the beginning is stored. */
const whole = <T>(side: unknown): T | undefined =>
  typeof side === 'object' && side !== null && !('truncated' in side) ? (side as T) : undefined
