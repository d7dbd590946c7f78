import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { discover } from '../../gateway/discovery/read.ts'
import { bareChain } from '../bare.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'
import { checksFor } from './checks.ts'
import { Subject } from './subject.ts'

const found = await discover(path.resolve('modules'), 'builtin')

/** A provider with two keys, of which the first is used first; for examples of what a pool of keys does. */
const pool = (upstream: Upstream): object => ({
  type: 'openai',
  base_url: upstream.baseUrl(),
  models: ['pooled-*'],
  keys: [
    { api_key: 'sk-first', weight: 2 },
    { api_key: 'sk-second', weight: 1 },
  ],
})

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream({ apiKey: ['sk-test', 'sk-first', 'sk-second'] })
  gateway = await startGateway({ upstream, freezeAll: true, config: { providers: { pool: pool(upstream) } } })
  await bareChain(gateway)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe.each(found)('module $id', ({ id, manifest }) => {
  test('is a module', () => {
    expect(manifest?.kind).toBe('module')
  })

  test.each(checksFor('module'))('$name', ({ run }) => run(new Subject(id, gateway, upstream)))
})
