import { readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import type { Cell } from './cell.ts'
import { features } from './features/index.ts'
import { providers } from './providers/index.ts'
import type { Departure, TestProvider } from './providers/provider.ts'
import { startStand } from './stand.ts'
import { type Finding, markdown } from './table.ts'
import type { ClientWire } from './wires/client.ts'
import { wires } from './wires/index.ts'

const file = new URL('../../docs/conformance.md', import.meta.url)
const columns = Object.keys(features)

const rows = wires.flatMap((wire) =>
  providers.map((provider) => ({ wire, provider, name: `${wire.id} to ${provider.name}` })),
)
const findings = new Map<string, Finding>()
const stand = shared(() => startStand(providers))

describe.each(rows)('$name', ({ wire, provider }) => {
  beforeEach(() => stand.upstream(provider).reset())

  if (!provider.operations.includes(wire.operation)) {
    test('is refused before anything is sent', async () => {
      const refused = { as: 'refused', what: 'model' } as const
      await cellOf(wire, provider, refused).expectDeparture(cellOf(wire, provider, refused).ask())
      for (const feature of wire.features) findings.set(`${wire.id} ${provider.name} ${feature}`, 'refused')
    })
    return
  }

  test.each(columns.filter((feature) => isTested(wire, provider, feature)))('%s', async (feature) => {
    const at = `${wire.id} ${provider.name} ${feature}`
    findings.set(at, 'failed')
    const departure = departureOf(wire, provider, feature)
    await features[feature]!(cellOf(wire, provider, departure))
    findings.set(at, departure ? (departure.as as Finding) : 'yes')
  })
})

test('the table in docs is what was found', async ({ task }) => {
  const siblings = task.file.tasks.flatMap((one) => ('tasks' in one ? one.tasks : []))
  const written = markdown(rows.map(rowOf), columns)
  if (process.env.CONFORMANCE === 'write') await writeFile(file, written)
  // A run of some of the cells has not found what the others are.
  if (siblings.some(({ mode }) => mode === 'skip')) return
  expect(await readFile(file, 'utf8')).toBe(written)
})

const cellOf = (wire: ClientWire, provider: TestProvider, departure: Departure | undefined): Cell =>
  stand.cell(wire, provider, departure)

function departureOf(
  { id }: ClientWire,
  { departures }: TestProvider,
  feature: string,
): Departure | undefined {
  return [departures?.[feature] ?? []].flat().find(({ wires }) => wires?.includes(id) ?? true)
}

function isTested(wire: ClientWire, provider: TestProvider, feature: string): boolean {
  return wire.features.includes(feature) && departureOf(wire, provider, feature)?.as !== 'absent'
}

function rowOf({ wire, provider }: (typeof rows)[number]) {
  const found = columns.map((feature) => [
    feature,
    findings.get(`${wire.id} ${provider.name} ${feature}`) ?? 'none',
  ])
  const named = columns.flatMap((feature) => {
    const { what } = departureOf(wire, provider, feature) ?? {}
    return what !== undefined && wire.features.includes(feature) ? [[feature, what]] : []
  })
  return {
    wire: wire.id,
    path: wire.path,
    provider: provider.name,
    findings: Object.fromEntries(found) as Record<string, Finding>,
    named: Object.fromEntries(named) as Record<string, string>,
  }
}
