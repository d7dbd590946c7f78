import { z } from 'zod'
import { anomalyKinds, anomalySeverities } from '#kernel'
import { messageOf } from './message.ts'
import { type AnomalyRow, dimension } from './row.ts'

const time = z.string().meta({ format: 'date-time' })
const name = z.string().nullable()

/** An anomaly as the API and its event show it. */
export const anomaly = z.object({
  id: z.string(),
  kind: z.enum(anomalyKinds).meta({
    description:
      'call: one call is unusual. rate: unusually many calls came, or failed, in a few minutes. drift: the answers of a model have changed.',
  }),
  metric: z.string().meta({ description: 'The most unusual one; dimensions lists all.' }),
  scope: z.object({ model: name, provider: name, user: name, project: name, template: name }),
  expected: z.number(),
  actual: z.number(),
  z_score: z.number(),
  method: dimension.shape.method,
  severity: z.enum(anomalySeverities),
  message: z.string(),
  dimensions: z.array(dimension),
  count: z.int().meta({ description: 'Calls that show it.' }),
  sample_trace_ids: z.array(z.string()).meta({ description: 'Ten of these calls at the most.' }),
  detected_at: time,
  updated_at: time,
  acknowledged_at: time.nullable(),
})

const isoOf = (at: number): string => new Date(at).toISOString()

/** What an admin sees of an anomaly. */
export function viewOf(row: AnomalyRow, dimensions = row.dimensions): z.infer<typeof anomaly> {
  const { scope, acknowledged } = row
  const [{ metric, expected, actual, score, method }] = dimensions
  return {
    id: row.id,
    kind: row.kind,
    metric,
    scope: {
      model: scope.model ?? null,
      provider: scope.provider ?? null,
      user: scope.user ?? null,
      project: scope.project ?? null,
      template: scope.template ?? null,
    },
    expected,
    actual,
    z_score: score,
    method,
    severity: row.severity,
    message: messageOf(scope, dimensions),
    dimensions,
    count: row.count,
    sample_trace_ids: row.traces,
    detected_at: isoOf(row.at),
    updated_at: isoOf(row.updated),
    acknowledged_at: acknowledged === undefined ? null : isoOf(acknowledged),
  }
}

/** What its user sees: nothing of what is usual for others. Undefined when none of it is the user's. */
export function ownViewOf(row: AnomalyRow): z.infer<typeof anomaly> | undefined {
  const [first, ...rest] = row.dimensions.filter(({ by }) => by === 'user')
  return first && viewOf(row, [first, ...rest])
}
