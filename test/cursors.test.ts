import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from './harness.ts'

/** A list of the API, where its rows are, and what comes and goes while it is walked; all of it begins with `goes`. */
interface List {
  readonly path: string
  readonly plural: string
  readonly nameOf: (item: Record<string, unknown>) => unknown
  /** Adds rows and deletes some; called after each page with its number. */
  readonly change: (page: number) => Promise<void>
}

let gateway: TestGateway
let hook: string
let run: string
let batch: string
let session: string
let experiment: string
let benchmark: { readonly id: string; readonly run: string }
let ada: { userId: string; key: string }
const added: string[] = []

beforeAll(async () => {
  gateway = await startGateway()
  ada = await gateway.signUp('ada')
  const webhook = { name: 'hook', url: 'http://127.0.0.1:9/', events: ['webhook.test'] }
  hook = (await made('POST', '/api/webhooks', webhook)).id!
  await made('POST', '/api/studio/templates', { slug: 'stays', content: 'Version 0' })
  run = await runOfSevenItems()
  batch = await answered('/api/forge/batch', { model: 'mock/echo', input: batchInput }, 'id')
  session = (await made('POST', '/api/forge/sessions', { model: 'mock/echo' })).id!
  experiment = await experimentOfSevenAnswers()
  benchmark = await benchmarkOfSevenAnswers()
  for (let n = 0; n < 7; n += 1) {
    await gateway.api('POST', '/api/webhooks/test', { webhook_id: hook })
    if (n < 3)
      await gateway.api('POST', `/api/forge/sessions/${session}/messages`, { content: `Message ${n}` })
    await made('POST', '/api/auth/users', { email: `stays${n}@example.com`, name: `stays ${n}` })
    await made('POST', `/api/auth/users/${ada.userId}/keys`, { name: `stays ${n}` })
    await made('POST', '/api/observe/traces', traceOf(`stays ${n}`))
    await made('POST', '/api/proxy/modules/rateshield/bindings', { name: `stays-${n}` })
    await made('POST', '/api/studio/templates/stays/versions', { content: `Version ${n + 1}` })
  }
})

afterAll(() => gateway.close())

async function made(method: string, path: string, body: object): Promise<Record<string, string>> {
  const answer = await gateway.api(method, path, body)
  expect([answer.status, answer.body]).toEqual([201, answer.body])
  return answer.body
}

async function runOfSevenItems(): Promise<string> {
  const step = { type: 'transform', config: { value: '{{item}}' } }
  const steps = [{ id: 'each', type: 'map', config: { over: '{{input}}', step } }]
  await made('POST', '/api/forge/workflows', { name: 'stays', steps })
  const { body } = await gateway.api('POST', '/api/forge/workflows/stays/run', {
    input: [1, 2, 3, 4, 5, 6, 7],
  })
  return body.id
}

const questions = [1, 2, 3, 4, 5, 6, 7].map((n) => `Question ${n}`)
const batchInput = questions.map((content) => ({ messages: [{ role: 'user', content }] }))

/** Resolves with the id under this name, once all is answered. */
async function answered(path: string, body: object, id: string): Promise<string> {
  const ran = await gateway.api('POST', path, { wait_ms: 60_000, ...body })
  expect([ran.status, ran.body]).toEqual([200, expect.objectContaining({ status: 'completed' })])
  return ran.body[id]
}

function experimentOfSevenAnswers(): Promise<string> {
  const variants = ['one', 'two'].map((id) => ({ id, model: 'mock/echo' }))
  const evaluators = [{ type: 'contains', text: 'Question' }]
  const body = { name: 'stays', variants, dataset: { test_inputs: questions }, evaluators }
  return answered('/api/studio/experiments/run', body, 'experiment_id')
}

async function benchmarkOfSevenAnswers() {
  const prompts = questions.map((prompt) => ({
    name: prompt,
    prompt,
    eval: 'contains',
    eval_arg: 'Question',
  }))
  const { id = '' } = await made('POST', '/api/studio/benchmarks', {
    name: 'stays',
    models: ['mock/echo'],
    prompts,
  })
  return { id, run: await answered('/api/studio/benchmarks/run', { benchmark_id: id }, 'run_id') }
}

const traceOf = (project: string) => ({
  model: 'gpt-4o',
  provider: 'elsewhere',
  project,
  request: { messages: [{ role: 'user', content: `A question of ${project}` }] },
})

const named = ({ name }: Record<string, unknown>) => name
const ofProject = ({ project }: Record<string, unknown>) => project

const lists: Readonly<Record<string, () => List>> = {
  users: () => ({
    path: '/api/auth/users',
    plural: 'users',
    nameOf: named,
    async change(page) {
      const user = await made('POST', '/api/auth/users', {
        email: `goes${page}@example.com`,
        name: `goes ${page}`,
      })
      added.push(user.user_id!)
      if (page % 2 === 1) await gateway.api('DELETE', `/api/auth/users/${added.shift()}`)
    },
  }),
  keys: () => ({
    path: `/api/auth/users/${ada.userId}/keys`,
    plural: 'keys',
    nameOf: named,
    async change(page) {
      const path = `/api/auth/users/${ada.userId}/keys`
      const { id } = await made('POST', path, { name: `goes ${page}` })
      if (page % 2 === 1) await gateway.api('POST', `${path}/${id}/rotate`, {})
    },
  }),
  traces: () => ({
    path: '/api/observe/traces',
    plural: 'traces',
    nameOf: ofProject,
    change: async (page) => void (await made('POST', '/api/observe/traces', traceOf(`goes ${page}`))),
  }),
  'traces that are searched': () => ({
    path: '/api/observe/traces?q=question',
    plural: 'traces',
    nameOf: ofProject,
    change: async (page) => void (await made('POST', '/api/observe/traces', traceOf(`goes ${page}`))),
  }),
  bindings: () => ({
    path: '/api/proxy/modules/rateshield/bindings',
    plural: 'bindings',
    nameOf: named,
    async change(page) {
      const path = '/api/proxy/modules/rateshield/bindings'
      await made('POST', path, { name: `goes-${page}` })
      if (page > 0) expect((await gateway.api('DELETE', `${path}/goes-${page - 1}`)).status).toBe(200)
    },
  }),
}

describe.each(Object.entries(lists))('a walk over the pages of %s', (_, listOf) => {
  test('gives each row that stays once, while others come and go', async () => {
    const { path, plural, nameOf, change } = listOf()
    const names = async (query: string) => {
      const { status, body } = await gateway.api('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`)
      expect([status, body]).toEqual([200, body])
      return { ...body, names: body[plural].map(nameOf) }
    }
    const isStaying = (name: unknown) => String(name).startsWith('stays')
    const whole = (await names('limit=500')).names.filter(isStaying)
    expect(whole).toHaveLength(7)
    const found: unknown[] = []
    let cursor = ''
    for (let page = 0; page === 0 || cursor !== ''; page += 1) {
      const answer = await names(`limit=2${cursor && `&cursor=${cursor}`}`)
      expect(answer.has_more).toBe(answer.next_cursor !== undefined)
      found.push(...answer.names)
      cursor = answer.next_cursor ?? ''
      if (page < 6) await change(page)
    }
    expect(found.filter(isStaying)).toEqual(whole)
  })
})

/** A path of a listing with what stands for its parameters. */
function placed(path: string): string {
  const ids = Object.entries({
    '/api/webhooks/': hook,
    '/api/forge/runs/': run,
    '/api/forge/batch/': batch,
    '/api/forge/sessions/': session,
    '/api/studio/experiments/': experiment,
    '/api/studio/benchmarks/': benchmark.id,
  })
  const id = ids.find(([prefix]) => path.startsWith(prefix))?.[1] ?? ada.userId
  const places: Readonly<Record<string, string>> = {
    id,
    name: 'rateshield',
    binding: 'stays-0',
    slug: 'stays',
    run_id: benchmark.run,
  }
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => places[name]!)
}

const listings = () =>
  gateway.kernel.registry.generation.routes.filter(
    ({ query, method }) => method === 'get' && query && 'cursor' in (query as { shape?: object }).shape!,
  )

test('every list has a cursor, and refuses one that is none of its own, naming it', async () => {
  const withLimit = gateway.kernel.registry.generation.routes.filter(
    ({ query }) => query && 'offset' in ((query as { shape?: object }).shape ?? {}),
  )
  expect(listings().length).toBeGreaterThan(15)
  expect(withLimit.map(({ path }) => path)).toEqual(listings().map(({ path }) => path))
  for (const { path } of listings()) {
    const at = placed(path)
    const key = path.startsWith('/api/auth/me') ? ada.key : gateway.adminKey
    const { status, body } = await gateway.api('GET', `${at}?cursor=nonsense!`, undefined, key)
    expect([path, status, body.error?.param]).toEqual([path, 400, 'cursor'])
  }
})

test('all pages by cursor are the whole list, on every list', async () => {
  for (const { path } of listings()) {
    const at = placed(path)
    const key = path.startsWith('/api/auth/me') ? ada.key : gateway.adminKey
    const page = async (query: string) => (await gateway.api('GET', `${at}?${query}`, undefined, key)).body
    const whole = await page('limit=500')
    const [plural] = Object.keys(whole).filter((name) => Array.isArray(whole[name]))
    const limit = Math.max(1, Math.ceil(whole.total / 3))
    const found: unknown[] = []
    let cursor = ''
    do {
      const body = await page(`limit=${limit}${cursor && `&cursor=${cursor}`}`)
      found.push(...body[plural!])
      cursor = body.next_cursor ?? ''
    } while (cursor !== '')
    expect([path, found.length]).toEqual([path, whole.total])
    const idsOf = (items: unknown[]) =>
      items.map((item) => Object.values(item as object).find((value) => typeof value === 'string'))
    expect([path, idsOf(found)]).toEqual([path, idsOf(whole[plural!])])
  }
})
