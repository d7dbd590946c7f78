import { z } from 'zod'
import { anomalyKinds, anomalySeverities } from '#kernel'

export const dimension = z.object({
  metric: z.string(),
  by: z.enum(['model', 'user', 'template']).meta({ description: 'Whose figures it is compared with.' }),
  expected: z.number(),
  actual: z.number(),
  score: z.number().meta({ description: 'In spreads away from the median, or the stability index (PSI).' }),
  method: z.enum(['median/MAD', 'seasonal median/MAD', 'PSI']),
})

const name = z.string().optional()

/** An anomaly as it is stored. */
export const anomalyRow = z.object({
  id: z.string(),
  kind: z.enum(anomalyKinds),
  severity: z.enum(anomalySeverities),
  scope: z.object({ model: name, provider: name, user: name, project: name, template: name }),
  dimensions: z.tuple([dimension]).rest(dimension),
  /** Calls that show it, those in `traces` included. */
  count: z.int(),
  traces: z.array(z.string()),
  /** Milliseconds since the epoch. */
  at: z.number(),
  updated: z.number(),
  acknowledged: z.number().optional(),
})

export type AnomalyRow = z.infer<typeof anomalyRow>

/** The user who may see it: the one whose own figures it is compared with. */
export const ownerOf = ({ scope, dimensions }: AnomalyRow): string | undefined =>
  dimensions.some(({ by }) => by === 'user') ? scope.user : undefined
