import { afterEach, describe, expect, test } from 'vitest'
import { streamsAsWhole } from '../test/cuts.ts'
import { contentOf, type Isolated, places, shareGateways, textOf } from '../test/isolated.ts'

/** What an `around` does: the same in the process and in a worker. */

const startIsolated = shareGateways()
let far: Isolated

afterEach(() => far?.close())

describe.each(places)('an around, %s', (place) => {
  test('passes answers on as they are, answers by itself, and asks several times', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        const { user } = call.request
        if (user === 'own') return { kind: 'whole', body: { choices: [{ index: 0, message: { role: 'assistant', content: 'mine' }, finish_reason: 'stop' }] } }
        if (user === 'twice') {
          call.trace.header('x-before', 'yes')
          const first = await next(call.withRequest({ temperature: 0.1 }))
          call.trace.header('x-said', first.body.choices[0].message.content)
          return next(call.withRequest({ temperature: 0.2 }).with({ timeouts: { idleMs: 5_000 } }))
        }
        return next(call)
      } }`,
    )
    far.upstream.reply({ content: 'passed' })
    expect(await textOf(await far.call())).toBe('passed')
    expect(await textOf(await far.call({ user: 'own' }))).toBe('mine')
    expect(far.upstream.requests).toHaveLength(1)
    far.upstream.reply({ content: 'a' })
    far.upstream.reply({ content: 'b' })
    const twice = await far.call({ user: 'twice' })
    expect(await textOf(twice)).toBe('b')
    expect([twice.headers.get('x-before'), twice.headers.get('x-said')]).toEqual(['yes', 'a'])
    expect(
      far.upstream.requests.slice(1).map(({ body }) => (body as { temperature: number }).temperature),
    ).toEqual([0.1, 0.2])
  })

  test('is passed by when `wraps` declines a call', async () => {
    far = await startIsolated(
      place,
      `return {
        wraps: (call) => call.request.user === 'wrapped',
        async around(call, next) { return next(call.withRequest({ temperature: 0.1 })) },
      }`,
    )
    far.upstream.reply({ content: 'passed', times: 4 })
    for (const user of ['wrapped', 'other']) expect(await textOf(await far.call({ user }))).toBe('passed')
    for (const user of ['wrapped', 'other'])
      expect(await contentOf(await (await far.call({ user, stream: true })).text())).toBe('passed')
    const sent = far.upstream.requests.map(({ body }) => (body as { temperature?: number }).temperature)
    expect(sent).toEqual([0.1, undefined, 0.1, undefined])
  })

  test('gets the failures of providers as they are, may recover from them, and lets them pass unchanged', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        try {
          return await next(call)
        } catch (error) {
          const { attempts } = call.trace
          ctx.report('caught', [error.constructor.name, error.name, error.code, error.status, error.providerStatus,
            error.provider, error.retryable, attempts.length, attempts.at(-1).error === error].join(' '))
          attempts.at(-1).reasonNext = 'for fun'
          if (call.request.user === 'again') {
            const reply = await next(call)
            ctx.report('served', [call.trace.served.n, call.trace.served.status].join(' '))
            return reply
          }
          if (call.request.user === 'other') throw Object.assign(new Error('mine'), { cause: error })
          throw error
        }
      } }`,
      { failure: 'closed' },
      { modules: { retrypilot: { enabled: false } } },
    )
    far.upstream.reply({ status: 503 })
    far.upstream.reply({ content: 'recovered' })
    const again = await far.call({ user: 'again' })
    expect(await textOf(again)).toBe('recovered')
    const trace = await far.traceOf(again)
    expect(trace).toMatchObject({ attempts: [{ status: 503, reason_next: 'for fun' }, { status: 200 }] })
    far.upstream.reply({ status: 503 })
    const other = await far.call({ user: 'other' })
    expect(other.status).toBe(500)
    expect(await other.json()).toMatchObject({ error: { module: 'far' } })
    far.upstream.reply({ status: 429, retryAfter: 7 })
    const limited = await far.call()
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '7'])
    expect((await limited.json()) as object).not.toMatchObject({ error: { module: 'far' } })
    const caught = (await far.reported()).filter(([kind]) => kind === 'caught').map(([, detail]) => detail)
    expect(await far.reported()).toContainEqual(['served', '2 200'])
    expect(caught).toEqual([
      'UpstreamError UpstreamError provider_error 502 503 openai true 1 true',
      'UpstreamError UpstreamError provider_error 502 503 openai true 1 true',
      'UpstreamError UpstreamError rate_limited 429 429 openai true 1 true',
    ])
    expect(await far.shown()).toMatchObject({ stats: { errors: 1 } })
  })

  test('knows which names are providers, and what modules inside of it say that answers vary by', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        const { chain } = call.trace
        ctx.report('told', ['openai', 'a'].map((name) => chain.isProvider(name)).join(' ') + ' ' + chain.variesIn(call, 'cache'))
        return next(call)
      } }`,
      { stage: 'cache' },
    )
    const ask = (model: string, schema: string) =>
      far.call(
        { model },
        { headers: { authorization: `Bearer ${far.gateway.adminKey}`, 'x-schema': schema } },
      )
    for (const schema of ['s', 't']) await ask('openai/a/B', schema)
    await ask('a/b', '')
    expect(await far.reported()).toEqual([
      ['told', 'true false [["structuredshield","s"]]'],
      ['told', 'true false [["structuredshield","t"]]'],
      ['told', `${place === 'inproc'} false undefined`],
    ])
  })

  test('passes a stream on batch by batch, as it comes, changed or not', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        const reply = await next(call)
        if (!call.request.user) return reply
        const upper = (chunk) => chunk.data.choices[0]?.delta?.content
          ? { ...chunk.data, choices: [{ ...chunk.data.choices[0], delta: { content: chunk.data.choices[0].delta.content.toUpperCase() } }] }
          : undefined
        return reply.through((async function* () {
          for await (const batch of reply.chunks) yield batch.map((chunk) => {
            const data = call.request.user === 'upper' && upper(chunk)
            return data ? chunk.constructor.of(data) : chunk
          })
        })())
      } }`,
    )
    for (const [user, said] of [
      [undefined, 'one two three'],
      ['same', 'one two three'],
      ['upper', 'ONE TWO THREE'],
    ]) {
      const rest = Promise.withResolvers<void>()
      far.upstream.reply({ content: ['one ', 'two ', 'three'], gate: { opened: rest.promise, after: 2 } })
      const response = await far.call({ stream: true, ...(user && { user }) })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      while (!/one|ONE/.test(text)) text += (await reader.read()).value
      expect(text).not.toMatch(/three/i)
      rest.resolve()
      for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value
      expect(contentOf(text)).toBe(said)
      expect(text).toContain('[DONE]')
    }
  })

  test('that reads a stream to its end answers with what it makes of it', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        const reply = await next(call)
        let text = ''
        for await (const batch of reply.chunks) for (const { data } of batch) text += data.choices[0]?.delta?.content ?? ''
        const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: text.length + ' characters' }, finish_reason: 'stop' }] }
        return { kind: 'whole', body: { choices: [{ index: 0, message: { role: 'assistant', content: text + '!' }, finish_reason: 'stop' }] } }
      } }`,
    )
    far.upstream.reply({ content: ['one ', 'two'] })
    const { choices } = (await (await far.call({ stream: true })).json()) as {
      choices: { message: object }[]
    }
    expect(choices[0]!.message).toMatchObject({ content: 'one two!' })
  })

  test('whose client leaves ends what it waits for, and the provider is told', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        call.cancel.onAbort((reason) => ctx.report('left', reason.name))
        const reply = await next(call)
        return reply.through((async function* () {
          try {
            yield* reply.chunks
          } finally {
            ctx.report('stream', 'ended')
          }
        })())
      } }`,
    )
    far.upstream.reply({ content: Array.from({ length: 50 }, (_, n) => `${n} `), gapMs: 100 })
    const leaving = new AbortController()
    const response = await far.call({ stream: true }, { signal: leaving.signal })
    await response.body!.getReader().read()
    leaving.abort()
    await expect
      .poll(() => far.reported())
      .toEqual(
        expect.arrayContaining([
          ['left', 'ClientGone'],
          ['stream', 'ended'],
        ]),
      )
    await expect.poll(() => far.upstream.last().aborted).toBe(true)
  })

  test('gives up a part of the call without the rest', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        const { cancel, release } = call.cancel.child()
        const slow = next(call.with({ cancel })).catch((error) => error)
        await new Promise((resolve) => setTimeout(resolve, 100))
        cancel.abort(Object.assign(new Error('too slow'), { name: 'TooSlow' }))
        call.trace.header('x-slow', (await slow).name)
        release()
        return next(call)
      } }`,
    )
    far.upstream.reply({ content: 'late', delayMs: 2_000 })
    far.upstream.reply({ content: 'soon' })
    const response = await far.call()
    expect(await textOf(response)).toBe('soon')
    expect(response.headers.get('x-slow')).toBe('TooSlow')
  })

  test('reads two streams at once, and gives on what came from each', async () => {
    far = await startIsolated(
      place,
      `return { async around(call, next) {
        const replies = await Promise.all(['a', 'b'].map((user) => next(call.withRequest({ user }))))
        const sources = replies.map(({ chunks }) => chunks[Symbol.asyncIterator]())
        return replies[0].through((async function* () {
          for (;;) {
            const steps = await Promise.all(sources.map((source) => source.next()))
            if (steps.every(({ done }) => done)) return
            yield steps.flatMap(({ done, value }) => done ? [] : [...value])
          }
        })())
      } }`,
    )
    const words = (name: string) => Array.from({ length: 20 }, (_, n) => `${name}${n} `)
    for (const name of ['a', 'b']) far.upstream.reply({ content: words(name), gapMs: 1, splitBytes: 64 })
    const text = contentOf(await (await far.call({ stream: true })).text())
    for (const name of ['a', 'b']) {
      const said = text.split(' ').filter((word) => word.startsWith(name))
      expect(said.map((word) => `${word} `)).toEqual(words(name))
    }
  })

  test('changes streams, however they are cut, as it changes whole answers', async () => {
    far = await startIsolated(
      place,
      `const say = (data, content) => ({ ...data, choices: [{ ...data.choices[0], delta: { content } }] })
      return { async around(call, next) {
        const reply = await next(call)
        if (reply.kind === 'whole') {
          const [choice] = reply.body.choices
          const content = choice.message.content.replaceAll('ab', 'X')
          return { kind: 'whole', body: { ...reply.body, choices: [{ ...choice, message: { ...choice.message, content } }] } }
        }
        return reply.through((async function* () {
          let held = ''
          for await (const batch of reply.chunks) {
            const out = []
            for (const chunk of batch) {
              const content = chunk.data.choices[0]?.delta?.content
              if (!content) {
                if (held && chunk.data.choices[0]?.finish_reason) out.push(chunk.constructor.of(say({ ...chunk.data, choices: [{ index: 0, finish_reason: null }] }, held)))
                out.push(chunk)
                continue
              }
              const text = (held + content).replaceAll('ab', 'X')
              held = text.endsWith('a') ? 'a' : ''
              const said = held ? text.slice(0, -1) : text
              if (said === content) out.push(chunk)
              else if (said) out.push(chunk.constructor.of(say(chunk.data, said)))
            }
            yield out
          }
        })())
      } }`,
    )
    expect(await streamsAsWhole(far.gateway, far.upstream, 'aab, ab and a b: caba')).toBe(
      'aX, X and a b: cXa',
    )
  })
})
