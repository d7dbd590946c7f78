import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { type Gateway, OWN_CHECKOUT, putModule, startGateway, switchModules } from '../gateway.ts'
import { measure, type Sample, warmUp } from '../measure.ts'
import type { Settings } from '../settings.ts'
import { median } from '../statistics.ts'
import type { Row, Table } from '../table.ts'
import { failures } from './plain.ts'

const CONNECTIONS = 32

/**
 * One gateway on which each module is switched on alone, first with its default settings and then with those of its
 * first example. What the gateway takes more than in the rounds without any module, right before and after, is the price.
 */
export async function measureEachModule(
  upstreamPort: number,
  settings: Settings,
  report: (line: string) => void,
): Promise<Table> {
  const gateway = await startGateway(upstreamPort)
  try {
    await switchModules(gateway, true)
    const { enabled, refused } = await switchModules(gateway, undefined)
    await switchModules(gateway, false)
    await warmUp([gateway], settings)
    const rows: Row[] = []
    for (const name of enabled) {
      const plain = await priceOf(gateway, name, {}, settings)
      const working = await priceOf(gateway, name, await exampleOf(name), settings)
      report(`${name}: ${plain.extra.toFixed(1)} µs by default, ${working.extra.toFixed(1)} µs at work`)
      rows.push({
        module: name,
        default_us: plain.extra,
        example_us: working.extra,
        example_failed: failures(working.sample),
      })
    }
    const notes = [
      `${CONNECTIONS} connections. \`default_us\` is the CPU that a call costs more with only this module on, and \`example_us\` with the settings of its first example. Both are medians of the differences of neighbouring rounds, so below a few microseconds they are noise.`,
      ...(refused.length > 0 ? [`Would not switch on: ${refused.join('; ')}.`] : []),
    ]
    return { title: 'Each module alone', notes, rows }
  } finally {
    await gateway.stop()
  }
}

async function priceOf(
  gateway: Gateway,
  name: string,
  config: object,
  { rounds, warmupMs, durationMs }: Settings,
): Promise<{ readonly extra: number; readonly sample: Sample }> {
  const round = { connections: CONNECTIONS, warmupMs: warmupMs / 2, durationMs: durationMs / 3 }
  const extras: number[] = []
  let without = await measure(gateway, round)
  let sample = without
  for (let index = 0; index < rounds; index += 1) {
    await putModule(gateway, name, { enabled: true, config })
    sample = await measure(gateway, round)
    await putModule(gateway, name, { enabled: false, config: null })
    const after = await measure(gateway, round)
    extras.push(sample.cpuMicros - (without.cpuMicros + after.cpuMicros) / 2)
    without = after
  }
  return { extra: median(extras), sample }
}

async function exampleOf(name: string): Promise<object> {
  const text = await readFile(`${OWN_CHECKOUT}modules/${name}/examples.json`, 'utf8')
  return z
    .array(z.looseObject({ config: z.looseObject({}) }))
    .min(1)
    .parse(JSON.parse(text))[0]!.config
}
