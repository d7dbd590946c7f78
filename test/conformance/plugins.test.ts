import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { discover } from '../../gateway/discovery/read.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'
import { checksFor } from './checks.ts'
import { Subject } from './subject.ts'

const found = await discover(path.resolve('plugins'), 'builtin')

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe.each(found)('plugin $id', ({ id, manifest }) => {
  test('is an area or a provider', () => {
    expect(['area', 'provider']).toContain(manifest?.kind)
  })

  test('runs, or says why not', () => {
    const plugin = gateway.kernel.registry.get(id)
    expect({ state: gateway.kernel.registry.stateOf(plugin), problem: plugin.problem }).toEqual({
      state: manifest?.enabled ? 'active' : 'disabled',
      problem: undefined,
    })
  })

  test.each(checksFor(manifest?.kind))('$name', ({ run }) => run(new Subject(id, gateway, upstream)))
})
