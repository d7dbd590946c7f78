import { type CallForm, chatCall, messagesCall, responsesCall } from '../call-form.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { compare, warmUp } from '../measure.ts'
import { CLAUDE } from '../request.ts'
import type { Settings } from '../settings.ts'
import type { Row, Table } from '../table.ts'
import type { Target } from '../target.ts'
import { failures } from './plain.ts'

const CONNECTIONS = 32

/** Which wire asks which provider, and the row that asks the same provider in its own words. */
const ROWS: readonly { name: string; call: CallForm; same: string }[] = [
  { name: 'chat to openai', call: chatCall(), same: 'chat to openai' },
  { name: 'messages to openai', call: messagesCall(), same: 'chat to openai' },
  { name: 'responses to openai', call: responsesCall(), same: 'chat to openai' },
  { name: 'messages to anthropic', call: messagesCall(CLAUDE), same: 'messages to anthropic' },
  { name: 'chat to anthropic', call: chatCall(CLAUDE), same: 'messages to anthropic' },
  { name: 'responses to anthropic', call: responsesCall(CLAUDE), same: 'messages to anthropic' },
]

/** One gateway, asked on each wire for each of two providers: what translation costs, plain and streamed at once. */
export async function measureWires(
  upstreamPort: number,
  settings: Settings,
  report: (line: string) => void,
): Promise<Table> {
  const gateway = await startGateway(upstreamPort)
  try {
    const rows: Row[] = []
    for (const pace of [undefined, 'burst'] as const) {
      const targets = ROWS.map(({ name, call }): Target => ({ ...asked(gateway, name), call }))
      await warmUp(targets, { warmupServerMs: settings.warmupServerMs / 2 }, pace)
      const { warmupMs, durationMs, rounds } = settings
      const round = { connections: CONNECTIONS, warmupMs, durationMs, ...(pace && { pace }) }
      const samples = [...(await compare(targets, round, rounds, report)).values()]
      for (const [i, { name, same }] of ROWS.entries()) {
        const sample = samples[i]!
        const own = samples[ROWS.findIndex((row) => row.name === same)]!
        rows.push({
          call: name,
          kind: pace === undefined ? 'plain' : 'stream',
          per_second: sample.perSecond,
          cpu_us: sample.cpuMicros,
          cpu_ratio: sample.cpuMicros / own.cpuMicros,
          p50_ms: sample.p50Ms,
          p99_ms: sample.p99Ms,
          broken: sample.broken,
          failed: failures(sample),
        })
      }
    }
    return {
      title: 'Wires and translation',
      notes: [
        `${CONNECTIONS} connections to one gateway. \`cpu_ratio\` is over the row that asks the same provider on its own wire.`,
      ],
      rows,
    }
  } finally {
    await gateway.stop()
  }
}

const asked = ({ port, process, headers, stop }: Gateway, name: string): Target => ({
  name,
  port,
  process,
  headers,
  stop,
})
