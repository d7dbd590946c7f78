import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminKey } from './harness.ts'
import { type GatewayProcess, startProcess } from './process.ts'
import { runs } from './suite/runs.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-rollback-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const start = (): Promise<GatewayProcess> =>
  startProcess({
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_ADMIN_KEY: adminKey,
    OPENAI_API_KEY: 'sk-test',
  })

async function api(url: string, method: string, at: string, body?: object) {
  const response = await fetch(url + at, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  return { status: response.status, body: (await response.json()) as any }
}

const bindings = '/api/proxy/modules/outputcap/bindings'

/** Settings of two modules, a binding and a route, all of which say which configuration it is. */
async function configure(url: string, mark: number): Promise<number> {
  const config = { default_max_tokens: mark }
  await api(url, 'PUT', '/api/proxy/modules/outputcap', { enabled: true, config })
  await api(url, 'PUT', '/api/proxy/modules/idlekill', { order: mark })
  if (mark % 2 === 0) await api(url, 'DELETE', `${bindings}/even`)
  else await api(url, 'POST', bindings, { name: 'even', config })
  await api(url, 'PUT', '/api/proxy/routes', { routes: [{ match: `m${mark}`, provider: 'openai' }] })
  return (await api(url, 'GET', '/api/config/history?limit=1')).body.generations[0].generation
}

async function marks(url: string) {
  const [cap, idle, bound, routes] = await Promise.all(
    ['/api/proxy/modules/outputcap', '/api/proxy/modules/idlekill', bindings, '/api/proxy/routes'].map((at) =>
      api(url, 'GET', at),
    ),
  )
  return {
    cap: cap!.body.config.default_max_tokens,
    idle: idle!.body.order,
    bound: bound!.body.total,
    route: routes!.body.routes[0].match,
  }
}

const whole = (mark: number) => ({ cap: mark, idle: mark, bound: mark % 2, route: `m${mark}` })

test('killed during rollbacks, it comes back with all of one generation', async () => {
  let gateway = await start()
  const bases = [await configure(gateway.url, 1), await configure(gateway.url, 2)]
  for (let round = 0; round < runs(2).numRuns; round += 1) {
    const { url } = gateway
    let isEnded = false
    let done = 0
    const rolling = (async () => {
      for (let n = 0; !isEnded; n += 1) {
        const answer = await api(url, 'POST', '/api/config/rollback', {
          generation: bases[n % 2],
        }).catch(() => undefined)
        if (answer) expect(answer.status).toBe(200)
        done += 1
      }
    })()
    await expect.poll(() => done, { interval: 1 }).toBeGreaterThan(3)
    await pause(Math.random() * 30)
    await gateway.end('SIGKILL')
    isEnded = true
    await rolling

    gateway = await start()
    const found = await marks(gateway.url)
    expect([whole(1), whole(2)]).toContainEqual(found)
    const { generations } = (await api(gateway.url, 'GET', '/api/config/history?limit=2')).body
    expect(generations[0].kind).toBe('start')
    expect(whole(bases.indexOf(generations[1].to) + 1)).toEqual(found)
  }
  expect(await gateway.end('SIGTERM')).toBe(0)
}, 900_000)
