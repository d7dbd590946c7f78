import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** One gateway of two threads, which is killed before anything is asked. */

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const teams = ['red', 'blue', '=1+1', 'a "b", c']
const calls = 24

interface Trace {
  readonly cost_usd: number | null
  readonly tokens_in: number
  readonly tokens_out: number
  readonly user_id: string
  readonly key_id: string
  readonly project: string
  readonly model: string
  readonly provider: string
  readonly tags: Record<string, string>
}

let folder: string
let upstream: Upstream
let gateway: GatewayProcess
let traces: Trace[]
const users: { user_id: string; api_key: string }[] = []

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
async function api(method: string, at: string, body?: object, key = adminKey): Promise<any> {
  const response = await fetch(gateway.url + at, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
}

async function call(n: number): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${users[n % 2]!.api_key}`,
      'content-type': 'application/json',
      connection: 'close',
      'x-project': n % 3 === 0 ? 'docs' : 'shop',
      ...(n % 5 > 0 && {
        'x-service-tags': `team=${encodeURIComponent(teams[n % 4]!)},env=${n % 2 ? 'prod' : 'test'}`,
      }),
    },
    body: JSON.stringify({
      model: n % 2 ? 'gpt-4o' : n % 7 === 0 ? 'openai/unpriced' : 'gpt-4o-mini',
      stream: n % 4 < 2,
      messages: [{ role: 'user', content: `Say ${n}` }],
    }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-usage-'))
  upstream = await startUpstream()
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    auth: { admin_rpm: 1_000_000 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
  for (const name of ['ada', 'bob'])
    users.push(await api('POST', '/api/auth/signup', { email: `${name}@example.com`, name }))
  await Promise.all(Array.from({ length: calls }, (_, n) => call(n)))
  const imported = { model: 'gpt-4o', usage: { input: 5, output: 5 }, cost_usd: 99 }
  await api('POST', '/api/observe/traces', imported, users[0]!.api_key)
  const listed = () => api('GET', '/api/observe/traces?limit=100&source=proxy')
  await vi.waitFor(async () => expect((await listed()).total).toBe(calls), 20_000)
  await gateway.end('SIGKILL')
  gateway = await startProcess({}, folder)
  traces = (await listed()).traces
}, 120_000)

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const nano = (usd: number | null): number => Math.round((usd ?? 0) * 1e9)

/** Calls, tokens, nano-dollars and calls without a price by value. */
type Lines = Record<string, number[]>

const linesOf = (
  usage: ({ value: string } & Record<
    'requests' | 'tokens_in' | 'tokens_out' | 'cost_usd' | 'unpriced',
    number
  >)[],
) =>
  Object.fromEntries(
    usage.map((one) => [
      one.value,
      [one.requests, one.tokens_in, one.tokens_out, nano(one.cost_usd), one.unpriced],
    ]),
  )

function expected(of: (trace: Trace) => readonly string[], all = traces): Lines {
  const lines: Lines = {}
  for (const trace of all)
    for (const value of of(trace)) {
      const [requests, input, output, cost, unpriced] = lines[value] ?? [0, 0, 0, 0, 0]
      lines[value] = [
        requests! + 1,
        input! + trace.tokens_in,
        output! + trace.tokens_out,
        cost! + nano(trace.cost_usd),
        unpriced! + Number(trace.cost_usd === null),
      ]
    }
  return lines
}

const usage = (query: string, key?: string) =>
  api('GET', `/api/modules/usagepulse/usage?limit=500&${query}`, undefined, key)

test('reports are what the traces add up to, by every dimension, day and hour, after a kill', async () => {
  expect(traces.length).toBeGreaterThan(calls / 2)
  for (const [group, of] of Object.entries({
    user: ({ user_id }: Trace) => [user_id],
    key: ({ key_id }: Trace) => [key_id],
    project: ({ project }: Trace) => [project],
    model: ({ model }: Trace) => [model],
    provider: ({ provider }: Trace) => [provider],
    tag: ({ tags }: Trace) => Object.entries(tags).map(([name, value]) => `${name}=${value}`),
    'tag:team': ({ tags }: Trace) => (tags.team === undefined ? [] : [tags.team]),
    total: () => [''],
  }))
    for (const every of ['total', 'day', 'hour']) {
      const report = await usage(
        `group_by=${group}&every=${every}${every === 'hour' ? `&from=${today()}` : ''}`,
      )
      const sums: Lines = {}
      for (const [value, line] of report.usage.map((one: { value: string }) => [
        one.value,
        linesOf([one as never])[one.value],
      ]))
        sums[value] = line.map((amount: number, i: number) => amount + (sums[value]?.[i] ?? 0))
      expect(sums, `${group} ${every}`).toEqual(expected(of))
      expect(report.sums.unpriced).toBe(traces.filter(({ cost_usd }) => cost_usd === null).length)
      expect(nano(report.sums.cost_usd)).toBe(traces.reduce((sum, { cost_usd }) => sum + nano(cost_usd), 0))
      for (const { from } of report.usage) expect(from === undefined).toBe(every === 'total')
    }
})

test('a time may begin before the first call and end in years to come', async () => {
  const all = expected(() => [''])
  for (const time of ['from=1990-01-01', 'from=0001-01-01&to=9999-12-31', `from=${today()}&to=2250-01-01`])
    expect(linesOf((await usage(`group_by=total&${time}`)).usage), time).toEqual(all)
  expect(linesOf((await usage(`group_by=total&every=hour&from=${today()}&to=9999-12-31`)).usage)).toEqual(all)
})

test('a time that lies before all calls, or in years to come, has none', async () => {
  for (const time of [
    'from=1980-01-01&to=1990-01-01',
    'from=1980-01-01&to=1999-12-31',
    'from=2250-01-01&to=2251-01-01',
  ])
    for (const every of ['total', 'day']) {
      const report = await usage(`group_by=total&every=${every}&${time}`)
      expect([time, report.usage, report.sums.requests]).toEqual([time, [], 0])
      const csv: string = await api('GET', `/api/modules/usagepulse/export.csv?every=${every}&${time}`)
      expect(csv.trimEnd().split('\r\n')).toHaveLength(1)
    }
})

/** Yesterday, as the hours of a run at midnight may be of two days. */
const today = (): string => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

test('a user sees the own usage without imported traces, and not by the hour', async () => {
  const [{ user_id, api_key }] = users as [{ user_id: string; api_key: string }]
  const own = traces.filter((trace) => trace.user_id === user_id)
  const report = await usage('group_by=model', api_key)
  expect(linesOf(report.usage)).toEqual(expected(({ model }) => [model], own))
  expect(report.sums.requests).toBe(own.length)
  expect(linesOf((await usage('group_by=tag:env&every=day', api_key)).usage)).toEqual(
    expected(({ tags }) => (tags.env === undefined ? [] : [tags.env]), own),
  )
  const byUser = linesOf((await usage('group_by=user', api_key)).usage)
  expect(byUser).toEqual(expected(() => [user_id], own))
  expect((await usage('every=hour', api_key)).error).toMatchObject({ code: 'forbidden', param: 'every' })
  const byTenant = await usage('group_by=tenant', api_key)
  expect(byTenant.error).toMatchObject({ code: 'forbidden', param: 'group_by' })
})

test('CSV has every line, exact dollars, and nothing that a spreadsheet would run', async () => {
  const text: string = await api('GET', '/api/modules/usagepulse/export.csv?group_by=tag:team')
  const [head, ...rows] = text.trimEnd().split('\r\n')
  expect(head).toBe(
    'from,value,requests,errors,tokens_in,tokens_out,tokens_cached,tokens_reasoning,cost_usd,own_key_usd,unpriced',
  )
  const cost = (value: string) => {
    const [, , , sum] = expected(({ tags }) => (tags.team === value ? [value] : []))[value]!
    return (sum! / 1e9).toFixed(9)
  }
  const unpriced = rows.reduce((sum, row) => sum + Number(row.split(',').at(-1)), 0)
  const ofTeams = traces.filter(({ tags }) => tags.team !== undefined)
  expect(unpriced).toBe(ofTeams.filter(({ cost_usd }) => cost_usd === null).length)
  expect(rows.find((row) => row.startsWith(`,'=1+1,`))).toContain(`,${cost('=1+1')},`)
  expect(rows.find((row) => row.startsWith(',"a ""b"", c",'))).toContain(`,${cost('a "b", c')},`)
  expect(rows).toHaveLength(teams.length)
})

test('settings say what may be asked for, and how many values a tag has', async () => {
  const set = (config: object) => api('PUT', '/api/proxy/modules/usagepulse', { config })
  await set({ max_tag_values: 1 })
  const { usage: lines } = await usage('group_by=tag:team')
  expect(lines.map(({ value }: { value: string }) => value)).toContain('(other)')
  expect(lines).toHaveLength(2)
  await set({ dimensions: ['model'], max_tag_values: null })
  expect((await usage('group_by=user')).error).toMatchObject({ code: 'bad_request', param: 'group_by' })
  expect((await usage('group_by=model')).usage).toHaveLength(3)
  await set({ dimensions: null })
  for (const wrong of ['from=2026-11-05&to=2026-11-01', 'every=hour&from=2020-01-01', 'from=never'])
    expect((await usage(wrong)).error).toMatchObject({ code: 'bad_request' })
})
