import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { TraceReader, type TraceSummary } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Calls of the proof; 10,000 by hand. */
const calls = Number(process.env.BILLSYNC_CALLS ?? 240)
const atOnce = 12
const months = ['2031-01', '2031-02', '2031-03'] as const
/** In hundredths of a percent. */
const markups = { acme: 1234, globex: 0, pro: 725, all: 1000 }

/** Whose users belong to which tenant. */
const organisations = `
const settings = { safeParse: (data) => ({ success: true, data }) }
export default {
  settings,
  setup({ provide, settings: { users = {} } }) {
    provide(Symbol.for('switchyard:tenants'), { tenantOf: (id) => users[id] })
  },
}`

/** Asks a model itself when an admin says so. */
const asker = `
const settings = { safeParse: (data) => ({ success: true, data }) }
export default {
  settings,
  setup({ route, complete }) {
    const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Is this good?' }] }
    const handle = async () => JSON.stringify(await complete(request))
    route({ method: 'post', path: '/api/asker', access: 'admin', summary: 'Ask', returns: 'text', handle })
  },
}`

let folder: string
let upstream: Upstream
let gateway: TestGateway
const users: { userId: string; key: string }[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-billsync-'))
  upstream = await startUpstream({ apiKey: ['sk-test', 'sk-own'] })
  const plugin = await writePlugin(folder, 'organisations', {
    manifest: { kind: 'area', provides: ['tenants'] },
    files: { 'index.ts': organisations },
  })
  const second = await writePlugin(folder, 'asker', {
    manifest: { kind: 'area', permissions: ['routes', 'models:1'] },
    files: { 'index.ts': asker },
  })
  gateway = await startGateway({ upstream, plugins: [plugin, second] })
  await gateway.module('idlekill', { enabled: false })
  for (const name of ['ada', 'bob', 'cat', 'dan']) users.push(await gateway.signUp(name))
  const [ada, bob, cat] = users
  await gateway.api('PUT', `/api/auth/users/${cat!.userId}`, { plan: 'pro' })
  await gateway.kernel.registry.change('organisations', {
    config: { users: { [ada!.userId]: 'acme', [bob!.userId]: 'globex' } },
  })
  await gateway.module('billsync', {
    enabled: true,
    config: {
      markup_pct: markups.all / 100,
      plans: { pro: { markup_pct: markups.pro / 100 } },
      tenants: { acme: { markup_pct: markups.acme / 100 }, globex: { markup_pct: markups.globex / 100 } },
      close: 'manual',
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

afterEach(() => {
  vi.useRealTimers()
  upstream.reset()
})

const messages = [{ role: 'user', content: 'Hello there' }]
/** The provider stops in the midst of the answer to it, and the client leaves. */
const farewell = [{ role: 'user', content: 'Farewell' }]

/** One of many kinds of calls, by its number. */
async function call(n: number): Promise<void> {
  const { key } = users[n % users.length]!
  const model = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'openai/model-without-a-price'][(n % 7) % 4]
  const stream = n % 2 === 0
  const leaves = n % 24 === 0
  const leaving = new AbortController()
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: leaves ? farewell : messages, stream, max_tokens: (n % 90) + 1 }),
    signal: leaving.signal,
  })
  if (leaves) {
    await response.body!.getReader().read()
    leaving.abort()
    return
  }
  await response.text()
}

const api = (at: string, key?: string) => gateway.api('GET', `/api/modules/billsync/${at}`, undefined, key)
const close = (month: string) => gateway.api('POST', '/api/modules/billsync/close', { month })

async function traces(): Promise<TraceSummary[]> {
  const reader = gateway.kernel.registry.get('observe').instance!.services.get(TraceReader) as TraceReader
  const all: TraceSummary[] = []
  for await (const trace of reader.scan({})) all.push(trace)
  return all
}

async function ledgerCalls(): Promise<{ trace_id: string; month: string }[]> {
  const response = await fetch(`${gateway.url}/api/modules/billsync/ledger.jsonl`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })
  const lines = (await response.text()).split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'call')
}

const nanoOf = (usd: number): bigint => BigInt(Math.round(usd * 1e9))

describe('invoices of many calls', () => {
  beforeAll(async () => {
    for (const [i, month] of months.entries()) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(`${month}-15T12:00:00Z`) })
      const cut = { content: 'This goes on for a while'.split(' '), hangAfter: 3 }
      upstream.reply({ text: 'Farewell' }, { ...cut, times: Number.POSITIVE_INFINITY })
      for (let n = 0; n < calls / months.length; n += 1) {
        const [prompt_tokens, completion_tokens] = [13 * (n % 97) + 7 * i + 1, 31 * (n % 89) + 3]
        const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
        upstream.reply(n % 40 === 5 ? { status: 500 } : { usage, content: 'All is well' })
      }
      for (let n = 0; n < calls / months.length; n += atOnce)
        await Promise.all(Array.from({ length: atOnce }, (_, k) => call(i + n + k)))
      const made = (i + 1) * Math.ceil(calls / months.length / atOnce) * atOnce
      await vi.waitFor(async () => expect((await traces()).length).toBe(made), { timeout: 30_000 })
    }
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-04-01T00:00:01Z') })
    for (const month of months) expect((await close(month)).status).toBe(200)
  }, 600_000)

  test('have the exact cost of their traces with its markup, and lines that add up', async () => {
    const all = await traces()
    let checked = 0
    for (const month of months) {
      const { body } = await api(`invoices?month=${month}&limit=500`)
      expect(body.total).toBe(users.length)
      for (const { id, payer } of body.invoices) {
        const { body: invoice } = await api(`invoices/${id}`)
        const own = all.filter(
          ({ at, tenant, user_id }) =>
            new Date(at).toISOString().startsWith(month) && (tenant ?? user_id) === payer.id,
        )
        const markup =
          markups[payer.id as 'acme'] ?? (payer.id === users[2]!.userId ? markups.pro : markups.all)
        const cost = own.reduce((sum, { cost }) => sum + BigInt(cost?.total_nano ?? 0), 0n)
        const exact = cost * BigInt(10_000 + markup)
        expect(nanoOf(invoice.cost_usd)).toBe(cost)
        expect(nanoOf(invoice.total)).toBe((exact + 5000n) / 10_000n)
        const sum = invoice.lines.reduce(
          (sum: bigint, { amount }: { amount: number }) => sum + nanoOf(amount),
          0n,
        )
        expect(sum).toBe(nanoOf(invoice.total))
        expect(cost).toBeGreaterThan(0n)
        checked += own.length
      }
    }
    expect(checked).toBe(all.length)
    expect(new Set(all.map(({ cost }) => cost?.total_nano)).size).toBeGreaterThan(20)
    const statuses = new Set(all.map(({ status }) => status))
    expect(statuses).toContain('ok')
    expect(statuses).toContain('client_abort')
  })

  test('show calls without a price as lines of their own, which cost nothing', async () => {
    const { body } = await api(`invoices?month=${months[0]}`)
    const { body: invoice } = await api(`invoices/${body.invoices[0].id}`)
    const lines = invoice.lines.filter(({ kind }: { kind: string }) => kind === 'unpriced')
    expect(lines).toMatchObject([{ model: 'model-without-a-price', cost_usd: 0, amount: 0 }])
    expect(lines[0].tokens_in).toBeGreaterThan(0)
  })

  test('are made once, with numbers without gaps', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-04-01T00:00:02Z') })
    expect((await close(months[0])).body).toEqual({ month: months[0], status: 'closed', invoices: 0 })
    const { body } = await api('invoices?limit=500')
    const numbers = body.invoices.map(({ number }: { number: number }) => number)
    const count = months.length * users.length
    expect(numbers).toEqual(Array.from({ length: count }, (_, i) => count - i))
  })

  test('rest on a ledger that has each billed trace once', async () => {
    const ids = (await ledgerCalls()).map(({ trace_id }) => trace_id)
    expect(new Set(ids).size).toBe(ids.length)
    const used = (await traces()).filter(({ cost, usage }) => cost || usage.input + usage.output > 0)
    expect(new Set(ids)).toEqual(new Set(used.map(({ id }) => id)))
  })

  test('are readable by their users, and of tenants by admins only', async () => {
    const [ada, , cat, dan] = users
    const { body } = await api('invoices', cat!.key)
    expect(body.invoices.map(({ payer }: { payer: object }) => payer)).toEqual(
      months.map(() => ({ kind: 'user', id: cat!.userId })),
    )
    const ofMonth = await api(`invoices?month=${months[1]}`, cat!.key)
    expect(ofMonth.body).toMatchObject({ total: 1, invoices: [{ month: months[1] }] })
    const [{ id }] = body.invoices
    const statusFor = async (key?: string) => (await api(`invoices/${id}`, key)).status
    expect([await statusFor(cat!.key), await statusFor(dan!.key), await statusFor()]).toEqual([200, 404, 200])
    expect((await api('invoices', ada!.key)).body.total).toBe(0)
    expect((await api('bills', ada!.key)).status).toBe(403)
    expect(
      (await gateway.api('POST', '/api/modules/billsync/close', { month: '2031-01' }, ada!.key)).status,
    ).toBe(403)
  })

  test('can be had as CSV, whose lines add up to the last digit', async () => {
    const { body } = await api('invoices')
    const { id, total } = body.invoices[0]
    const response = await fetch(`${gateway.url}/api/modules/billsync/invoices/${id}/csv`, {
      headers: { authorization: `Bearer ${gateway.adminKey}` },
    })
    expect(response.headers.get('content-type')).toContain('text/csv')
    const rows = (await response.text())
      .trim()
      .split('\r\n')
      .map((row) => row.split(','))
    const amounts = rows.slice(1).map((row) => BigInt(row.at(-2)!.replace('.', '')))
    expect(amounts.slice(0, -1).reduce((a, b) => a + b, 0n)).toBe(amounts.at(-1))
    expect(amounts.at(-1)).toBe(nanoOf(total))
  })

  test('cannot be made of a month that is not over', async () => {
    expect(await close('2031-04')).toMatchObject({ status: 400, body: { error: { param: 'month' } } })
    expect((await close('April')).status).toBe(400)
  })

  test('a call of a closed month that ends late is billed with the present one', async () => {
    const gate = Promise.withResolvers<void>()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2031-04-30T23:59:59Z') })
    upstream.reply({ gate: { opened: gate.promise } })
    const late = call(1)
    await upstream.received(1)
    vi.setSystemTime(Date.parse('2031-05-01T01:00:00Z'))
    await close('2031-04')
    gate.resolve()
    await late
    await expect.poll(async () => (await ledgerCalls()).at(-1)).toMatchObject({ month: '2031-05' })
    expect((await api('bills?month=2031-05')).body.bills).toMatchObject([{ calls: 1 }])
  })
})

describe('rates', () => {
  const configure = (config: object) => gateway.module('billsync', { config: { close: 'manual', ...config } })
  const ask = (key: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    }).then((response) => response.text())

  /** The invoice of a user for calls in a month that is then closed. */
  async function invoiceFor(month: string, work: (key: string) => Promise<unknown>) {
    const { userId, key } = await gateway.signUp(`user-${month}`)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(`${month}-10T00:00:00Z`) })
    await work(key)
    await expect.poll(async () => (await api('bills')).body.total).toBeGreaterThan(0)
    vi.setSystemTime(Date.parse(`${month}-28T00:00:00Z`) + 7 * 24 * 3_600_000)
    await close(month)
    const { body } = await api(`invoices?month=${month}`)
    const own = body.invoices.find(({ payer }: { payer: { id: string } }) => payer.id === userId)
    return (await api(`invoices/${own.id}`)).body
  }

  test('that were changed hold for the calls that follow', async () => {
    await configure({ markup_pct: 0 })
    const invoice = await invoiceFor('2032-01', async (key) => {
      await ask(key)
      await configure({ markup_pct: 50 })
      await ask(key)
    })
    expect(invoice.lines).toMatchObject([
      { markup_pct: 0, calls: 1 },
      { markup_pct: 50, calls: 1 },
    ])
    const [plain, marked] = invoice.lines
    expect(plain.amount).toBe(plain.cost_usd)
    expect(marked.amount).toBeCloseTo(marked.cost_usd * 1.5, 9)
  })

  test('of a binding hold for the calls that pass through it', async () => {
    await configure({ markup_pct: 0 })
    const binding = { name: 'docs', config: { markup_pct: 100 }, when: { projects: ['docs'] } }
    expect((await gateway.api('POST', '/api/proxy/modules/billsync/bindings', binding)).status).toBe(201)
    const invoice = await invoiceFor('2032-02', async (key) => {
      await ask(key)
      await ask(key, { 'x-project': 'docs' })
    })
    expect(invoice.lines.map((line: { markup_pct: number }) => line.markup_pct)).toEqual([0, 100])
    expect((await gateway.api('DELETE', '/api/proxy/modules/billsync/bindings/docs')).status).toBe(200)
  })

  test('have a least price of a call, a least invoice and a currency', async () => {
    await configure({ min_call_usd: 0.01, min_month_usd: 1, currency: 'EUR', exchange_rate: 0.5 })
    const invoice = await invoiceFor('2032-03', ask)
    expect(invoice).toMatchObject({ currency: 'EUR', exchange_rate: 0.5, total: 0.5 })
    expect(invoice.lines).toMatchObject([
      { kind: 'calls', amount: 0.005 },
      { kind: 'minimum', amount: 0.495 },
    ])
    await configure({ min_call_usd: null, min_month_usd: null, currency: null, exchange_rate: null })
  })

  test('leave out what users pay their provider themselves, unless they say otherwise', async () => {
    const withOwnKey = async (key: string) => {
      await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-own' }, key)
      await ask(key)
    }
    const invoice = await invoiceFor('2032-04', withOwnKey)
    expect(invoice).toMatchObject({ total: 0, lines: [{ kind: 'own_keys', calls: 1, amount: 0 }] })
    await configure({ own_keys: true })
    expect((await invoiceFor('2032-05', withOwnKey)).total).toBeGreaterThan(0)
    await configure({ own_keys: null })
  })

  test('have no least price for calls that failed, with whatever key', async () => {
    await configure({ min_call_usd: 0.01 })
    const invoice = await invoiceFor('2032-07', async (key) => {
      await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-own' }, key)
      upstream.reply({ status: 400 })
      await ask(key)
      await ask(key)
    })
    expect(invoice).toMatchObject({ total: 0.01, lines: [{ kind: 'own_keys', calls: 1 }] })
    await configure({ min_call_usd: null })
  })

  test('do not bill what passes by a module that is off', async () => {
    const before = (await ledgerCalls()).length
    await gateway.module('billsync', { enabled: false })
    await ask(users[3]!.key)
    await gateway.module('billsync', { enabled: true })
    await ask(users[3]!.key)
    await expect.poll(async () => (await ledgerCalls()).length).toBe(before + 1)
  })

  test('bill the questions of plugins to those who pay them', async () => {
    const before = (await ledgerCalls()).length
    const headers = { authorization: `Bearer ${gateway.adminKey}` }
    const asked = await fetch(`${gateway.url}/api/asker`, { method: 'POST', headers })
    expect([asked.status, await asked.text()]).toEqual([200, expect.stringContaining('choices')])
    await expect.poll(async () => (await ledgerCalls()).length).toBe(before + 1)
    expect((await ledgerCalls()).at(-1)).toMatchObject({ payer: { kind: 'operator' }, kind: 'calls' })
  })

  test('bill cached answers as lines of their own, which cost the least price of a call', async () => {
    await configure({ min_call_usd: 0.002 })
    await gateway.module('cachelayer', { enabled: true })
    const invoice = await invoiceFor('2032-06', async (key) => {
      await ask(key)
      await expect.poll(async () => (await traces())[0]?.status).toBe('ok')
      await ask(key)
    })
    await gateway.module('cachelayer', { enabled: false })
    expect(invoice.lines).toMatchObject([
      { kind: 'cached', calls: 1, cost_usd: 0, amount: 0.002 },
      { kind: 'calls', calls: 1, amount: 0.002 },
    ])
  })
})

test('a month closes itself an hour after its end', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2033-01-20T00:00:00Z') })
  await call(3)
  await expect.poll(async () => (await api('bills')).body.total).toBe(1)
  await gateway.module('billsync', { config: { close: 'automatic' } })
  vi.setSystemTime(Date.parse('2033-02-01T01:00:01Z'))
  await expect.poll(async () => (await api('invoices?month=2033-01')).body.total, { timeout: 10_000 }).toBe(1)
})
