import { z } from 'zod'
import { redactText } from '../../kit/detection/log-redaction.ts'
import type { GatewayError } from '../../kit/errors.ts'
import type { Principal } from '../call/call.ts'
import { defineEvent, type Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { LiveRoute } from '../route.ts'

export const ManagementAudited = defineEvent(
  'management.audited',
  z.object({
    method: z.string(),
    route: z
      .string()
      .nullable()
      .meta({ description: 'Path of the route, with {name} for parameters; null when there was none yet.' }),
    plugin: z.string().nullable().meta({ description: 'The plugin that the route belongs to.' }),
    params: z
      .record(z.string(), z.string())
      .meta({ description: "The path's parameters, cut at 128 characters." }),
    outcome: z.enum(['changed', 'refused', 'failed']),
    status: z.int(),
    code: z.string().nullable().meta({ description: 'Code of the error; null if the request succeeded.' }),
    request_id: z.string(),
    ip: z.string(),
  }),
  {
    description:
      'A management request changed something, was refused, or failed. It contains neither the request nor the answer.',
  },
)

type Audited = z.infer<typeof ManagementAudited.schema>

/** The facts of a request that are known while it is answered. */
export interface AuditedState {
  readonly requestId: string
  readonly ip: string
  readonly route?: LiveRoute
  readonly params?: Readonly<Record<string, string>>
  readonly principal?: Principal
}

/** A management request with its answer. */
interface Answered extends AuditedState {
  readonly method: string
  readonly status: number
  readonly error: GatewayError | undefined
}

interface AuditParts {
  readonly events: Pick<Events, 'emit' | 'emitDurably'>
  readonly log: Log
}

/** Tells of a request before its answer leaves; of a change it is on disk then, where anything listens. */
export async function audit(answered: Answered, { events, log }: AuditParts): Promise<void> {
  const audited = auditOf(answered)
  const { requestId, principal, ip } = answered
  const cause = { requestId, principal, ip }
  if (audited?.outcome !== 'changed') return audited && events.emit(ManagementAudited, audited, { cause })
  try {
    await events.emitDurably(ManagementAudited, audited, { cause })
  } catch (err) {
    log.error({ err, request_id: requestId }, 'the audit event of a change could not be stored')
  }
}

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Characters of a parameter that the audit event shows. */
const most = 128

/**
 * The audit event of a request; undefined for a request that has only read, or whose target does not exist. A read is reported
 * where it was refused for want of a key or a right.
 */
function auditOf({
  method,
  route,
  params = {},
  status,
  error,
  requestId,
  ip,
}: Answered): Audited | undefined {
  const isDenied = status === 401 || status === 403
  const mayChange = route !== undefined && !route.reads && !reading.has(method)
  if (!isDenied && !mayChange) return undefined
  const safe = Object.entries(params).map(([name, value]) => [name, redactText(value).slice(0, most)])
  return {
    method,
    route: route?.path ?? null,
    plugin: route?.plugin ?? null,
    params: Object.fromEntries(safe),
    outcome: status >= 500 ? 'failed' : status >= 400 ? 'refused' : 'changed',
    status,
    code: error?.code ?? null,
    request_id: requestId,
    ip,
  }
}
