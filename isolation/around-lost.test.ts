import { afterEach, describe, expect, test } from 'vitest'
import { contentOf, type Isolated, shareGateways, textOf } from '../test/isolated.ts'

/** An `around` whose worker is lost, while what is inside it runs and after: the call ends by the module's policy. */

const startIsolated = shareGateways()
let far: Isolated

afterEach(() => far?.close())

const ways = {
  'an endless loop': 'for (;;);',
  'a leak': 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length))',
  'an exit': 'process.exit(3); await new Promise(() => {})',
} as const
const limits = {
  workers: { hang: '600ms', memory: '64mb' },
  module_circuit: { open: '1h', timeout: '5s', failures: 1 },
}

describe.each(Object.entries(ways))('%s', (_, harm) => {
  test('before the answer has come, in a module whose policy is to let pass: the call is made once', async () => {
    const setup = `return { async around(call, next) {
      next(call).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 100))
      ${harm}
    } }`
    far = await startIsolated('worker', setup, {}, limits)
    const lost = Promise.withResolvers<void>()
    far.upstream.reply({ content: 'late', gate: { opened: lost.promise } })
    const answer = far.call()
    await expect.poll(async () => (await far.shown()).state).toBe('tripped')
    lost.resolve()
    expect(await textOf(await answer)).toBe('late')
    expect(far.upstream.requests).toHaveLength(1)
  })

  test('after the answer has come, and before it is the answer', async () => {
    const setup = `return { async around(call, next) {
      const reply = await next(call)
      if (reply.kind === 'stream') for await (const batch of reply.chunks) if (batch.some(({ data }) => data.choices[0]?.delta?.content)) break
      ${harm}
    } }`
    far = await startIsolated('worker', setup, {}, limits)
    far.upstream.reply({ content: ['one ', 'two ', 'three'], gapMs: 20 })
    const text = await (await far.call({ stream: true })).text()
    expect(contentOf(text)).toBe('one two three')
    expect(text).toContain('[DONE]')
    expect(far.upstream.requests).toHaveLength(1)
    expect(far.upstream.last().aborted).toBe(false)
  })

  test('while what is inside runs, in a module whose policy is to refuse: the provider is left alone', async () => {
    const setup = `return { async around(call, next) {
      next(call).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 100))
      ${harm}
    } }`
    far = await startIsolated('worker', setup, { failure: 'closed' }, limits)
    far.upstream.reply({ content: 'never', delayMs: 20_000 })
    const refused = await far.call()
    expect(refused.status).toBe(500)
    expect(await refused.json()).toMatchObject({ error: { module: 'far', code: 'internal_error' } })
    await expect.poll(() => far.upstream.last().aborted).toBe(true)
    expect((await far.gateway.api('GET', '/health')).status).toBe(200)
  })
})

describe('in the middle of a stream that it answers with', () => {
  const setup = (made: string) => `return { async around(call, next) {
    const reply = await next(call)
    return reply.through((async function* () {
      for await (const batch of reply.chunks) {
        if (batch.some(({ data }) => data.choices[0]?.delta?.content === 'two ')) process.exit(1)
        ${made}
      }
    })())
  } }`

  test('which it let pass, the rest follows as it comes', async () => {
    far = await startIsolated('worker', setup('yield batch'), {}, limits)
    far.upstream.reply({ content: ['one ', 'two ', 'three'], gapMs: 50 })
    const text = await (await far.call({ stream: true })).text()
    expect(contentOf(text)).toBe('one two three')
    expect(text).toContain('[DONE]')
    expect((await far.shown()).state).toBe('tripped')
  })

  test.each([
    [
      'which it changed',
      `if (!batch.some(({ data }) => data.choices[0]?.delta?.content === 'one ')) yield batch`,
      {},
    ],
    ['which it let pass, and its policy is to refuse', 'yield batch', { failure: 'closed' }],
  ])('%s, the stream ends with an error, and the provider is left alone', async (_, made, manifest) => {
    far = await startIsolated('worker', setup(made), manifest)
    far.upstream.reply({
      content: ['one ', 'more ', 'two ', ...Array.from({ length: 50 }, () => 'x ')],
      gapMs: 50,
    })
    const text = await (await far.call({ stream: true })).text()
    expect(text).toContain('"module":"far"')
    expect(text).not.toContain('[DONE]')
    await expect.poll(() => far.upstream.last().aborted).toBe(true)
  })
})

test('after many losses nothing is left of them, and the module comes back', async () => {
  const setup = `return {
    async around(call, next) {
      if (call.request.user === 'harm') process.exit(1)
      call.trace.header('x-far', 'yes')
      return next(call)
    },
  }`
  far = await startIsolated('worker', setup, {}, { module_circuit: { open: '50ms', timeout: '5s' } })
  const threads = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort' || name === 'Worker').length
  expect((await far.call()).headers.get('x-far')).toBe('yes')
  const before = threads()
  for (let n = 0; n < 6; n += 1) {
    expect((await far.call({ user: 'harm' })).status).toBe(200)
    await expect.poll(async () => (await far.call()).headers.get('x-far')).toBe('yes')
  }
  expect(threads()).toBeLessThanOrEqual(before)
})
