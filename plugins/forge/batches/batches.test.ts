import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { llm, mostAtOnce, questionOf, startForge } from '../../../test/forge.ts'
import { startReceiver } from '../../../test/receiver.ts'

const forge = startForge({ egress: { allow: ['127.0.0.1'] } })
const { api, said } = forge
const at = '/api/forge/batch'
const model = 'gpt-4o-mini'

const chat = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more })
const begin = (body: object, key?: string) => api('POST', at, { model, wait_ms: 60_000, ...body }, key)
const show = async (id: string, key?: string) => (await api('GET', `${at}/${id}`, undefined, key)).body
const itemsOf = async (id: string, query = '') =>
  (await api('GET', `${at}/${id}/items?limit=500${query}`)).body

async function linesOf(url: string) {
  const headers = { authorization: `Bearer ${forge.parts.gateway.adminKey}` }
  const response = await fetch(forge.parts.gateway.url + url, { headers })
  expect(response.headers.get('content-type')).toBe('application/jsonl')
  const text = await response.text()
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
}

/** Sends a file of items, and returns the status and the body of the answer. */
async function send(lines: string, query = '') {
  const headers = {
    authorization: `Bearer ${forge.parts.gateway.adminKey}`,
    'content-type': 'application/jsonl',
  }
  const url = `${forge.parts.gateway.url}${at}/file?${query}`
  const response = await fetch(url, { method: 'POST', headers, body: lines })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

test('what admins share is read by all and listed among their own, and ended by admins alone', async () => {
  const { key } = await forge.parts.gateway.signUp('ada-shares')
  const input = [chat('one')]
  const refused = await begin({ input, visibility: 'shared' }, key)
  expect([refused.status, refused.body.error.param]).toEqual([403, 'visibility'])
  expect((await begin({ input })).body.visibility).toBe('private')
  const { body: shared } = await begin({ input, visibility: 'shared' })
  const { body: own } = await begin({ input }, key)
  expect([shared.visibility, await show(shared.id, key)]).toEqual(['shared', shared])
  const read = (at: string) => api('GET', `${at}`, undefined, key)
  expect((await read(`${at}/${shared.id}/items`)).body.total).toBe(1)
  expect((await read(at)).body.batches.map(({ id }: { id: string }) => id)).toEqual([own.id, shared.id])
  expect((await read(`${at}?status=completed`)).body.total).toBe(2)
  expect((await read(`${at}?status=failed`)).body.total).toBe(0)
  for (const verb of ['pause', 'resume', 'retry', 'cancel'])
    expect((await api('POST', `${at}/${shared.id}/${verb}`, undefined, key)).status).toBe(403)
  expect((await api('DELETE', `${at}/${shared.id}`, undefined, key)).status).toBe(403)
  expect((await api('DELETE', `${at}/${shared.id}`)).status).toBe(200)
  expect((await read(at)).body.total).toBe(1)
})

test('a batch makes a call of each item as its caller, and has the results in the order of the inputs', async () => {
  const { gateway, upstream } = forge.parts
  const receiver = await startReceiver()
  const hook = { name: 'Batches', url: `${receiver.url}/`, events: ['batch.ended'] }
  expect((await api('POST', '/api/webhooks', hook)).status).toBe(201)
  const { key, userId } = await gateway.signUp('ada')
  // The first one is answered after the second.
  const gate = Promise.withResolvers<void>()
  upstream.reply((asked) => questionOf(asked) === 'one', {
    content: 'First.',
    gate: { opened: gate.promise },
  })
  upstream.reply((asked) => questionOf(asked) === 'two', { content: 'Second.' })
  const input = [chat('one'), { custom_id: 'b', body: chat('two', { model: 'gpt-4o', temperature: 0 }) }]
  const begun = begin({ input, concurrency: 2, name: 'Labels', project: 'labels' }, key)
  const isAnswered = () => upstream.requests.find((asked) => questionOf(asked) === 'two')?.closedAfterMs
  await expect.poll(isAnswered, { timeout: 20_000 }).toBeDefined()
  gate.resolve()
  const { status, body } = await begun
  expect([status, body]).toEqual([200, expect.objectContaining({ status: 'completed', error: null })])
  expect(body).toMatchObject({
    id: expect.stringMatching(/^batch_/),
    ...{ type: 'chat', name: 'Labels', user_id: userId, progress: 1, attempts: 2, max_attempts: 3 },
    counts: { total: 2, succeeded: 2, failed: 0, pending: 0 },
    results_url: `${at}/${body.id}/results`,
  })
  expect(body.cost_usd).toBeGreaterThan(0)
  const [first, second, ...none] = await linesOf(body.results_url)
  expect(none).toEqual([])
  expect([first.index, first.custom_id, second.index, second.custom_id]).toEqual([0, null, 1, 'b'])
  const texts = [first, second].map(({ response }) => response.choices[0].message.content)
  expect(texts).toEqual(['First.', 'Second.'])
  expect(await linesOf(body.errors_url)).toEqual([])
  const { items, total } = await itemsOf(body.id)
  expect([total, items[1].input.temperature, items[1].attempts]).toEqual([2, 0, 1])
  expect(items[0].cost_usd + items[1].cost_usd).toBeCloseTo(body.cost_usd, 9)
  await expect
    .poll(async () => (await api('GET', `/api/observe/traces/${first.trace_id}`)).body)
    .toMatchObject({ source: 'batch', project: 'labels', user_id: userId, tags: { batch: body.id } })
  await expect.poll(() => receiver.on('/').length, { timeout: 20_000 }).toBe(1)
  const { event, data } = JSON.parse(receiver.on('/')[0]!.body)
  expect([event, data.id, data.counts.succeeded]).toEqual(['batch.ended', body.id, 2])
  expect(receiver.on('/')[0]!.body).not.toContain('First.')
  await receiver.close()
})

test('completions and embeddings are answered in the form of their kind, as the official client reads it', async () => {
  const client = new OpenAI({
    baseURL: `${forge.parts.gateway.url}/v1`,
    apiKey: forge.parts.gateway.adminKey,
  })
  const asked = await client.embeddings.create({
    model: 'text-embedding-3-small',
    input: 'tea',
    encoding_format: 'float',
  })
  const { body } = await begin({
    type: 'embedding',
    model: 'text-embedding-3-small',
    input: [{ input: 'tea' }],
  })
  const [line] = await linesOf(body.results_url)
  expect(line.response).toMatchObject({ object: asked.object, data: asked.data, usage: asked.usage })
  const { body: second } = await begin({ type: 'completion', input: [{ prompt: 'Say it.' }] })
  expect((await linesOf(second.results_url))[0].response.choices[0].text).toBeTypeOf('string')
})

test('a file has the form of files for the batches of OpenAI, and what is wrong in it is named', async () => {
  forge.parts.upstream.reply({ content: 'Yes.', times: 2 })
  const line = (custom_id: string, more: object = {}) =>
    JSON.stringify({
      custom_id,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model, ...chat(custom_id) },
      ...more,
    })
  const { status, body } = await send(`${line('a')}\n\n${line('b')}\n`, 'wait_ms=60000&concurrency=1')
  expect([status, body.counts]).toEqual([200, { total: 2, succeeded: 2, failed: 0, pending: 0 }])
  expect((await linesOf(body.results_url)).map(({ custom_id }) => custom_id)).toEqual(['a', 'b'])
  const refusalOf = async (lines: string, query = '') => {
    const answer = await send(lines, query)
    return [answer.status, answer.body.error?.param]
  }
  expect(await refusalOf('{"a": ')).toEqual([400, 'line 1'])
  expect(await refusalOf('')).toEqual([400, 'file'])
  expect(await refusalOf(`${line('a')}\n${line('a')}`)).toEqual([400, 'line 2.custom_id'])
  expect(await refusalOf(line('a'), 'type=embedding')).toEqual([400, 'line 1.url'])
  expect(await refusalOf(line('a'), 'concurrency=0')).toEqual([400, 'concurrency'])
  const bare = await send(JSON.stringify(chat('a')))
  expect(bare.body.error.message).toBe('line 1.model: it is missing: expected string.')
})

test('what cannot be made is refused before anything is, by the name of its field', async () => {
  await forge.make('typed', [llm('a', 'A')], { input_schema: { type: 'object', required: ['n'] } })
  const refusalOf = async (body: object) => {
    const answer = await api('POST', at, { model, ...body })
    return [answer.status, answer.body.error?.param]
  }
  expect(await refusalOf({ input: [] })).toEqual([400, 'input'])
  expect(await refusalOf({ input: [chat('a'), { messages: [] }] })).toEqual([400, 'input.1.messages'])
  expect(await refusalOf({ input: [chat('a', { stream: true })] })).toEqual([400, 'input.0.stream'])
  expect(await refusalOf({ model: undefined, input: [chat('a')] })).toEqual([400, 'input.0.model'])
  expect(await refusalOf({ input: ['a'] })).toEqual([400, 'input.0'])
  expect(await refusalOf({ input: [{ body: chat('a'), more: 1 }] })).toEqual([400, 'input.0'])
  expect(await refusalOf({ workflow: 'typed', input: [chat('a')] })).toEqual([400, 'workflow'])
  expect(await refusalOf({ type: 'workflow', workflow: 'typed', input: [{}] })).toEqual([400, 'model'])
  const typed = { type: 'workflow', model: undefined, workflow: 'typed' }
  expect(await refusalOf({ ...typed, input: [{ n: 1 }, {}] })).toEqual([400, 'input.1'])
  expect(await refusalOf({ ...typed, input: [{ n: 'x'.repeat(100_000) }] })).toEqual([413, 'input.0'])
  expect(await refusalOf({ ...typed, workflow: 'other', input: [1] })).toEqual([404, 'slug'])
  expect(await refusalOf({ input: [chat('a')], use_provider_batch: 'always' })).toEqual([
    400,
    'use_provider_batch',
  ])
  const { registry } = forge.parts.gateway.kernel
  await registry.change('forge', { config: { batch_items: 2, batch_bytes: 200 } })
  expect(await refusalOf({ input: Array(3).fill(chat('a')) })).toEqual([413, 'input'])
  const files = ['{}\n'.repeat(3), 'x'.repeat(300)]
  for (const lines of files)
    expect((await send(lines)).body.error).toMatchObject({ status: 413, param: 'file' })
  await registry.change('forge', { config: { batch_items: 10_000, batch_bytes: 20_000_000 } })
  expect(said()).toEqual([])
})

test('each item of a batch of a workflow is a run of it, in the version of when the batch was made', async () => {
  const { upstream } = forge.parts
  await forge.make('label', [llm('ask', 'Label {{input.text}}')], { output: { label: '{{ask.output}}' } })
  upstream.reply({ content: 'ok', times: 2 })
  upstream.reply({ status: 400, error: { message: 'words' } })
  const input = ['a', 'b', 'c'].map((text) => ({ text }))
  const { body } = await begin({
    type: 'workflow',
    model: undefined,
    workflow: 'label',
    input,
    concurrency: 1,
  })
  expect(body).toMatchObject({
    ...{ status: 'completed', workflow_slug: 'label', workflow_version: 1 },
    counts: { succeeded: 2, failed: 1 },
  })
  const [first, second, third] = await linesOf(body.results_url)
  expect([first.response, second.response]).toEqual([{ label: 'ok' }, { label: 'ok' }])
  expect(third).toMatchObject({ response: null, error: { code: 'bad_request' } })
  const { body: run } = await api('GET', `/api/forge/runs/${first.run_id}`)
  expect(run).toMatchObject({ trigger: 'batch', batch_id: body.id, input: { text: 'a' } })
  expect(body.cost_usd).toBeGreaterThanOrEqual(run.cost_usd)
  // It fails in its first version, and is made again in it.
  await api('PUT', '/api/forge/workflows/label', { output: 'other' })
  upstream.reply({ content: 'late' })
  expect((await api('POST', `${at}/${body.id}/retry`)).status).toBe(200)
  await expect.poll(async () => (await show(body.id)).status, { timeout: 20_000 }).toBe('completed')
  expect((await linesOf(body.results_url))[2]).toMatchObject({ response: { label: 'late' }, error: null })
  expect(said()).toEqual(['Label a', 'Label b', 'Label c', 'Label c'])
  expect((await api('POST', `${at}/${body.id}/retry`)).status).toBe(409)
})

test('a failure that may pass is tried again, and one that does not is the result of its item', async () => {
  const { gateway, upstream } = forge.parts
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: false })
  upstream.reply({ status: 429, error: { message: 'slow' } })
  upstream.reply({ content: 'At last.' })
  const { body } = await begin({ input: [chat('a')] })
  expect(body).toMatchObject({ counts: { succeeded: 1 }, attempts: 2 })
  upstream.reply({ status: 500, error: { message: 'words' }, times: 2 })
  upstream.reply({ status: 400, error: { message: 'words of the prompt' } })
  const { body: failed } = await begin({ input: [chat('b'), chat('c')], max_attempts: 2, concurrency: 1 })
  expect(failed).toMatchObject({ status: 'completed', counts: { failed: 2 }, attempts: 3 })
  const lines = await linesOf(failed.errors_url)
  expect(lines.map(({ error }) => error.code)).toEqual(['provider_error', 'bad_request'])
  expect(JSON.stringify(lines)).not.toContain('words')
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: true })
})

test('so many items are made at a time, and no more than the settings allow', async () => {
  const { upstream } = forge.parts
  const input = Array.from({ length: 30 }, (_, n) => chat(`n${n}`))
  upstream.reply({ content: 'ok', delayMs: 5, times: 60 })
  await begin({ input, concurrency: 3 })
  expect([2, 3]).toContain(mostAtOnce(upstream.requests))
  upstream.reset()
  upstream.reply({ content: 'ok', delayMs: 5, times: 60 })
  await begin({ input, concurrency: 100 })
  expect(mostAtOnce(upstream.requests)).toBeLessThanOrEqual(10)
})

test('a batch pauses when it has cost what it may, one item above it at the most, and goes on with more', async () => {
  const { upstream } = forge.parts
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  upstream.reply({ content: 'ok', usage, times: 100 })
  const input = Array.from({ length: 30 }, (_, n) => chat(`n${n}`))
  const { status, body } = await begin({ model: 'gpt-4o', input, concurrency: 10, max_cost_usd: 0.01 })
  expect([status, body.status, body.error.code]).toEqual([200, 'paused', 'budget_exceeded'])
  const one = body.cost_usd / upstream.requests.length
  expect(body.cost_usd).toBeGreaterThanOrEqual(0.01)
  expect(body.cost_usd).toBeLessThan(0.01 + one)
  const resumed = await api('POST', `${at}/${body.id}/resume`, { max_cost_usd: 1 })
  expect([resumed.status, resumed.body.error]).toEqual([200, null])
  await expect.poll(async () => (await show(body.id)).status, { timeout: 20_000 }).toBe('completed')
  expect(new Set(said()).size).toBe(30)
  expect(said()).toHaveLength(30)
})

test('a batch is paused, goes on, and is cancelled; the connections of its calls are closed', async () => {
  const { upstream } = forge.parts
  upstream.reply({ content: 'ok' })
  upstream.reply({ hang: true, times: 2 })
  const { status, body } = await begin({ input: [chat('a'), chat('b')], concurrency: 1, wait_ms: 0 })
  expect([status, body.status]).toEqual([202, expect.stringMatching(/^(queued|running)$/)])
  const second = await upstream.received(2)
  expect((await api('POST', `${at}/${body.id}/pause`)).body.status).toBe('paused')
  await second.closed
  expect((await api('POST', `${at}/${body.id}/pause`)).status).toBe(409)
  expect((await api('POST', `${at}/${body.id}/resume`)).body.status).toBe('queued')
  const third = await upstream.received(3)
  expect((await api('DELETE', `${at}/${body.id}`)).status).toBe(409)
  expect((await api('POST', `${at}/${body.id}/cancel`)).body).toMatchObject({
    status: 'cancelled',
    counts: { succeeded: 1, pending: 1 },
  })
  await third.closed
  expect((await api('POST', `${at}/${body.id}/cancel`)).status).toBe(409)
  expect((await linesOf(body.results_url)).map(({ index }) => index)).toEqual([0])
  expect((await itemsOf(body.id, '&status=pending')).items).toMatchObject([{ index: 1, response: null }])
  expect((await api('DELETE', `${at}/${body.id}`)).status).toBe(200)
  expect((await api('GET', `${at}/${body.id}`)).status).toBe(404)
  expect(said()).toEqual(['a', 'b', 'b'])
})

test('an admin who cancels the job of a batch or of a run ends what it belongs to, also of a paused kind', async () => {
  const { upstream } = forge.parts
  upstream.reply({ hang: true, times: 2 })
  const { body } = await begin({ input: [chat('a'), chat('b')], concurrency: 1, wait_ms: 0 })
  const asked = await upstream.received(1)
  const job = `/api/jobs/${encodeURIComponent(`forge.batch:${body.id}.1`)}`
  expect((await api('POST', `${job}/cancel`)).body.status).toBe('cancelled')
  await asked.closed
  const cancelled = { status: 'cancelled', counts: { pending: 2 }, finished_at: expect.any(String) }
  await expect.poll(() => show(body.id)).toMatchObject(cancelled)
  expect((await api('POST', `${at}/${body.id}/cancel`)).status).toBe(409)
  expect((await api('POST', `${job}/retry`)).body.status).toBe('waiting')
  await expect.poll(async () => (await api('GET', job)).body.status).toBe('completed')
  expect(await show(body.id)).toMatchObject(cancelled)

  await api('POST', '/api/jobs/pause', { kind: 'forge.batch' })
  const { body: waits } = await begin({ input: [chat('c')], wait_ms: 0 })
  await api('POST', `/api/jobs/${encodeURIComponent(`forge.batch:${waits.id}.1`)}/cancel`)
  await expect.poll(async () => (await show(waits.id)).status).toBe('cancelled')
  await api('POST', '/api/jobs/resume', { kind: 'forge.batch' })

  await forge.make('slow', [llm('ask', 'Slow')])
  const input = { type: 'workflow', model: undefined, workflow: 'slow', input: [1] }
  const { body: many } = await begin({ ...input, wait_ms: 0 })
  await upstream.received(2)
  const [run] = (await api('GET', '/api/forge/runs?workflow=slow')).body.runs
  await api('POST', `/api/jobs/${encodeURIComponent(`forge.batch:${many.id}.1`)}/cancel`)
  await expect.poll(async () => (await forge.read(run.id)).status).toBe('cancelled')
  expect((await show(many.id)).status).toBe('cancelled')
})

test('a batch whose job is cancelled while forge is off is cancelled when it is on again', async () => {
  const { upstream, gateway } = forge.parts
  upstream.reply({ hang: true, times: 2 })
  const { body } = await begin({ input: [chat('a')], wait_ms: 0 })
  await upstream.received(1)
  const turn = (enabled: boolean) => gateway.kernel.registry.change('forge', { enabled })
  await turn(false)
  await api('POST', `/api/jobs/${encodeURIComponent(`forge.batch:${body.id}.1`)}/cancel`)
  await turn(true)
  await expect.poll(async () => (await show(body.id)).status).toBe('cancelled')
  expect(upstream.requests).toHaveLength(1)
})

test('a batch whose time is over ends, and a retry makes what was not made', async () => {
  const { upstream } = forge.parts
  upstream.reply({ content: 'ok' })
  upstream.reply({ hang: true })
  upstream.reply({ content: 'late' })
  const input = [chat('a'), chat('b')]
  const { status, body } = await begin({ input, concurrency: 1, completion_window: '1s' })
  expect([status, body.status, body.counts]).toEqual([
    200,
    'expired',
    { total: 2, succeeded: 1, failed: 0, pending: 1 },
  ])
  expect(upstream.requests.at(-1)!.aborted).toBe(true)
  expect((await api('POST', `${at}/${body.id}/resume`)).status).toBe(409)
  expect((await api('POST', `${at}/${body.id}/retry`)).body.finished_at).toBe(null)
  await expect.poll(async () => (await show(body.id)).status, { timeout: 20_000 }).toBe('completed')
  expect(said()).toEqual(['a', 'b', 'b'])
  const wrong = await api('POST', at, { model, input, completion_window: '15d' })
  expect([wrong.status, wrong.body.error.param]).toEqual([400, 'completion_window'])
})

test('deleting a batch by force ends it and its runs', async () => {
  const { upstream } = forge.parts
  await forge.make('hangs', [llm('ask', 'Hang')])
  upstream.reply({ hang: true, times: 2 })
  const { body } = await begin({
    type: 'workflow',
    model: undefined,
    workflow: 'hangs',
    input: [1],
    wait_ms: 0,
  })
  const asked = await upstream.received(1)
  const [run] = (await api('GET', '/api/forge/runs?workflow=hangs')).body.runs
  expect((await api('DELETE', `${at}/${body.id}?force=true`)).status).toBe(200)
  await asked.closed
  await expect.poll(async () => (await forge.read(run.id)).status).toBe('cancelled')
})

test('a batch belongs to its user: others see none of it', async () => {
  const { gateway, upstream } = forge.parts
  upstream.reply({ content: 'Secret.', times: 2 })
  const [eve, bob] = [await gateway.signUp('eve'), await gateway.signUp('bob')]
  const { body } = await begin({ input: [chat('a')] }, eve.key)
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/items'],
    ['GET', '/results'],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/retry'],
    ['POST', '/cancel'],
    ['DELETE', '?force=true'],
  ] as const) {
    const { status } = await api(method, `${at}/${body.id}${path}`, undefined, bob.key)
    expect([method, path, status]).toEqual([method, path, 404])
  }
  expect((await api('GET', at, undefined, bob.key)).body.total).toBe(0)
  expect((await api('GET', `${at}?status=completed`, undefined, eve.key)).body.batches).toMatchObject([
    { id: body.id },
  ])
  expect((await api('GET', `${at}?status=failed`, undefined, eve.key)).body.total).toBe(0)
  expect((await api('GET', '/api/forge/status', undefined, eve.key)).body.batches).toMatchObject({
    completed: 1,
  })
  expect((await show(body.id)).user_id).toBe(eve.userId)
})

test('a batch whose key was revoked pauses, and its owner has it go on with another', async () => {
  const { gateway, upstream } = forge.parts
  const { key } = await gateway.signUp('ida')
  const { body: second } = await api('POST', '/api/auth/me/keys', { name: 'second' }, key)
  upstream.reply({ hang: true })
  upstream.reply({ content: 'ok', times: 3 })
  const { body } = await begin({ input: [chat('a'), chat('b')], concurrency: 1, wait_ms: 0 }, second.api_key)
  const asked = await upstream.received(1)
  await api('POST', `${at}/${body.id}/pause`, undefined, second.api_key)
  await asked.closed
  expect((await api('DELETE', `/api/auth/me/keys/${second.id}`, undefined, key)).status).toBe(200)
  // An admin resumes it at its owner's expense, by the owner's key.
  await api('POST', `${at}/${body.id}/resume`)
  await expect
    .poll(async () => show(body.id), { timeout: 20_000 })
    .toMatchObject({ status: 'paused', error: { code: 'unauthorized' }, counts: { pending: 2 } })
  expect((await api('POST', `${at}/${body.id}/resume`, {}, key)).status).toBe(200)
  await expect.poll(async () => (await show(body.id)).counts.succeeded, { timeout: 20_000 }).toBe(2)
})

test('two requests with one key are one batch', async () => {
  const { gateway, upstream } = forge.parts
  upstream.reply({ content: 'ok', times: 4 })
  const send = async (content: string) => {
    const headers = {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'k1',
    }
    const body = JSON.stringify({ model, input: [chat(content)], wait_ms: 60_000 })
    const answer = await fetch(gateway.url + at, { method: 'POST', headers, body })
    return { status: answer.status, body: (await answer.json()) as { id: string } }
  }
  const [a, b] = await Promise.all([send('once'), send('once')])
  expect(a.body.id).toBe(b.body.id)
  expect((await send('other')).status).toBe(409)
  expect(upstream.requests.map(questionOf)).toEqual(['once'])
})

test('calls of a batch are made at once where batchqueue puts such calls off', async () => {
  const { gateway, upstream } = forge.parts
  await gateway.module('batchqueue', { enabled: true, config: { models: [model] } })
  upstream.reply({ content: 'Now.' })
  const { body } = await begin({ input: [chat('a')] })
  expect(body.counts.succeeded).toBe(1)
  await gateway.module('batchqueue', { enabled: false })
})
