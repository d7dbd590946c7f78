import { z } from 'zod'
import { type findingActions, findingTypes, severities, type TraceFinding, type TraceSummary } from '#kernel'

/** What became of a finding. A guard in shadow does nothing. */
export const actionsTaken = ['blocked', 'redacted', 'warned', 'logged', 'shadow'] as const
export type ActionTaken = (typeof actionsTaken)[number]

const nullable = z.string().nullable()

export const safetyEvent = z.object({
  id: z.string(),
  event_type: z.enum(findingTypes),
  severity: z.enum(severities),
  category: z.string().meta({ description: 'The kind of finding, such as `email`.' }),
  detail: z.string().meta({ description: 'Where it stood and how often, without the text that was found.' }),
  count: z.int().meta({ description: 'How many alike there were in the call.' }),
  direction: z.enum(['request', 'response']),
  action_taken: z.enum(actionsTaken),
  module: z.string(),
  rule_id: nullable.meta({ description: "The operator's rule that found it." }),
  user_id: nullable,
  key_id: z.string(),
  project: z.string(),
  model: z.string(),
  source: z.string().meta({ description: 'What made the call: `proxy` for clients.' }),
  trace_id: z.string(),
  source_ip: nullable,
  tenant: z.string().optional(),
  created_at: z.string().meta({ format: 'date-time', description: 'When the call began.' }),
})
export type SafetyEvent = z.infer<typeof safetyEvent>

const taken: Readonly<Record<(typeof findingActions)[number], ActionTaken>> = {
  block: 'blocked',
  redact: 'redacted',
  warn: 'warned',
  log: 'logged',
}

/** The events of a call, one for each finding of its trace. The ids follow from the trace's, so making them again changes nothing. */
export function eventsOf(trace: TraceSummary): SafetyEvent[] {
  const { findings = [] } = trace
  return findings.map((found, n) => ({
    id: `${trace.id.replace(/^tr_/, 'se_')}.${n}`,
    event_type: found.type,
    severity: found.severity,
    category: found.label,
    detail: detailOf(found),
    count: found.count,
    direction: found.direction === 'reply' ? 'response' : 'request',
    action_taken: found.mode === 'shadow' ? 'shadow' : taken[found.action],
    module: found.module,
    rule_id: found.ruleId ?? null,
    user_id: trace.user_id ?? null,
    key_id: trace.key_id,
    project: trace.project,
    model: trace.model,
    source: trace.source,
    trace_id: trace.id,
    source_ip: trace.source_ip ?? null,
    ...(trace.tenant !== undefined && { tenant: trace.tenant }),
    created_at: new Date(trace.at).toISOString(),
  }))
}

/** `email: 2 times in the user's content; redacted`, or for a guard in shadow what it would have done. */
function detailOf({ label, count, spans, action, mode }: TraceFinding): string {
  const places = [...new Set(spans.map(({ role, kind }) => `${kind} of ${role}`))]
  const where = places.length === 0 ? '' : ` in ${places.join(', ')}`
  const wouldBe = mode === 'shadow' ? `; would be ${taken[action]}` : ''
  return `${label}: ${count === 1 ? 'once' : `${count} times`}${where}${wouldBe}`
}
