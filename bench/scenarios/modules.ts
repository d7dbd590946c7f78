import { type Gateway, type ModuleSwitch, putModule, startGateway, switchModules } from '../gateway.ts'
import { compare, warmUp } from '../measure.ts'
import type { NodeProcess } from '../process.ts'
import type { Settings } from '../settings.ts'
import type { Row, Table } from '../table.ts'
import { failures } from './plain.ts'

const CONNECTIONS = 32

/**
 * The same load on three gateways: all modules off, those that are on by default, all that are present on. What
 * the others take more than the first is the price of their modules.
 */
export async function measureModules(
  upstream: NodeProcess,
  upstreamPort: number,
  settings: Settings,
  report: (line: string) => void,
): Promise<Table> {
  const gateways: Gateway[] = []
  try {
    for (const name of ['no modules', 'default modules', 'all modules']) {
      gateways.push(await startGateway(upstreamPort, name))
    }
    const [none, standard, all] = gateways
    if (!none || !standard || !all) throw new Error('three gateways were to start')
    const off = await switchModules(none, false)
    const untouched = await switchModules(standard, undefined)
    const on = await switchModules(all, true)
    // The load fills the server's core, which is an overload, and refusals would hide what calls cost.
    await putModule(all, 'loadshed', { config: { min: 1000 } })
    await warmUp(gateways, settings)
    const { warmupMs, durationMs, rounds } = settings
    const before = await upstream.ask('answered')
    const samples = await compare(
      gateways,
      { connections: CONNECTIONS, warmupMs, durationMs },
      rounds,
      report,
    )
    const reached = (await upstream.ask('answered')) - before
    const floor = samples.get(none)?.cpuMicros ?? Number.NaN
    const rows = [...samples].map(([gateway, sample], index): Row => {
      const modules = [off, untouched, on][index]?.enabled.length ?? 0
      const extra = sample.cpuMicros - floor
      return {
        server: gateway.name,
        modules_on: modules,
        per_second: sample.perSecond,
        cpu_us: sample.cpuMicros,
        chain_us: extra,
        us_per_module: modules > 0 ? extra / modules : Number.NaN,
        p50_ms: sample.p50Ms,
        p99_ms: sample.p99Ms,
        rss_mb: Math.round(sample.rssMb),
        failed: failures(sample),
      }
    })
    const ended = [...samples.values()].reduce((sum, sample) => sum + sample.ended, 0)
    return { title: 'Module chain', notes: notesOn(reached, ended, on), rows }
  } finally {
    for (const gateway of gateways) await gateway.stop()
  }
}

function notesOn(reached: number, ended: number, on: ModuleSwitch): string[] {
  const notes = [
    `${CONNECTIONS} connections; each call is a new question, and \`chain_us\` is CPU over the gateway with all modules off. Of ${ended} calls, warm-up included, ${reached} reached the upstream; what modules answer, refuse or repeat makes the difference.`,
  ]
  if (on.refused.length > 0) notes.push(`Would not switch on: ${on.refused.join('; ')}.`)
  return notes
}
