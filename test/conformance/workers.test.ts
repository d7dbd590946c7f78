import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { changed } from '../../config/setting.ts'
import { discover } from '../../gateway/discovery/read.ts'
import { bareChain } from '../bare.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'
import { checksFor } from './checks.ts'
import { Subject } from './subject.ts'

/** Why some of our own modules cannot run in a worker; all others do there, unchanged, what they do in the process. */
const bound: Readonly<Record<string, string>> = {
  abrouter: 'adds routes, and counts with a service',
  agentguard: 'adds routes, and asks the first thread',
  alertpulse: 'offers a service, which is asked without waiting',
  approvalgate: 'adds routes, and keeps calls with a service',
  anomalyradar: 'keeps what it finds with a service',
  batchqueue: 'adds routes, and keeps calls with a service',
  billsync: 'adds routes and keeps a ledger',
  cachelayer: 'is listed and cleared through a service',
  canarydeploy: 'adds routes and counts with a service',
  chatmem: 'adds routes, and sees what is shown',
  compliancelog: 'enters calls into the ledger with a service',
  contextpack: 'adds routes, and brings texts in',
  contextwindow: 'asks where calls would go',
  costcap: 'counts with a service, and asks where calls would go',
  chaosllm: 'offers a service, which is asked without waiting',
  devproxy: 'prices calls with a service',
  driftwatch: 'adds routes, and keeps what it finds with a service',
  embedcache: 'is listed and cleared through a service',
  encryptvault: 'offers a service, which is asked without waiting',
  guardrail: 'asks a service for its rules, without waiting',
  fallbackrouter: 'offers a service, which is asked without waiting',
  feedbackloop: 'adds routes',
  hallucicheck: 'sees what is shown',
  hedgerace: 'asks where calls would go',
  keypool: 'offers a service, which is asked without waiting',
  keyscope: 'adds routes and offers a service',
  leakguard: 'derives its mark with a service',
  llmtap: 'adds routes, and follows traces with a service',
  mirrortest: 'adds routes',
  localsync: 'adds routes and is asked where calls may go',
  modelalias: 'offers a service, which is asked without waiting',
  playback: 'gets its folder from a service',
  planquota: 'counts with a service, which it asks',
  modelswitch: 'counts tokens with a service',
  semanticcache: 'is listed and cleared through a service',
  structuredshield: 'has the guards look at schemas of a header',
  tokentrim: 'asks where calls would go',
  prefixcache: 'prices what it saves with a service',
  promptlint: 'adds a route',
  promptpad: 'asks a service for templates',
  promptguard: 'offers a service, which is asked without waiting',
  queuepriority: 'adds routes, and is told of the end of attempts',
  rateshield: 'counts with a service, which it asks',
  regionroute: 'is asked where calls may go, without waiting',
  retentionwipe: 'adds routes, and erases with a service',
  toxicfilter: 'asks for scores with a service',
  tenantwall: 'adds routes and offers a service',
  tierdrop: 'offers a service, which is asked without waiting',
  tracelink: 'reads the environment with a service',
  trainexport: 'adds routes, and builds sets with a service',
  trustenforce: 'asks a service for its policies, without waiting',
  usagepulse: 'adds routes',
  whitelabel: 'rewrites what is shown, without waiting',
}

/** A module in a worker: looks, whenever it was switched on with settings of an example, that this is where it runs. */
class InWorker extends Subject {
  override readonly cycles = 2

  override async switchOnAfresh(config: Record<string, unknown>): Promise<void> {
    await super.switchOnAfresh(config)
    const { body } = await this.gateway.api('GET', `/api/proxy/modules/${this.id}`)
    expect(body).toMatchObject({ isolation: 'worker', state: 'active' })
  }
}

/** A module of many examples starts many workers. */
vi.setConfig({ testTimeout: 120_000 })

const found = await discover(path.resolve('modules'), 'builtin')
const ids = found.map(({ id }) => id).filter((id) => !(id in bound))

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  await bareChain(gateway)
  const { registry } = gateway.kernel
  const moved = found.map(
    ({ id }) => [id, changed(registry.get(id).stored, { isolation: 'worker' })] as const,
  )
  await registry.apply(async () => ({ rows: new Map(moved), values: [] }))
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe.each(ids)('module %s in a worker', (id) => {
  test.each(checksFor('module'))('$name', ({ run }) => run(new InWorker(id, gateway, upstream)))
})

test.each(Object.entries(bound))('module %s says what keeps it in the process: it %s', async (id) => {
  const [example] = await new Subject(id, gateway, upstream).examples()
  const change = gateway.kernel.registry.change(id, { enabled: true, config: example!.config })
  await expect(change).rejects.toThrow(
    /runs in a worker, which does not support .*: set "isolation": "inproc"/,
  )
})
