import { expect, test } from 'vitest'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { badRequest, type GatewayError } from '../../kit/errors.ts'
import { callWith, entryOf as moduleOf } from '../../test/chain.ts'
import { type Reply, StreamReply, WholeReply } from '../call/reply.ts'
import { runAround } from './around.ts'
import type { Entry } from './entry.ts'
import type { Hooks, Next } from './hooks.ts'

const call = callWith()

const entryOf = (around: NonNullable<Hooks['around']>, failure: Entry['failure'] = 'open'): Entry =>
  moduleOf('test', { around }, { stage: 'deliver', failure })

const answer: Reply = WholeReply.of({ choices: [] })
const answers: Next = async () => answer

/** Fails with these, one after the other. */
function failing(...errors: Error[]): Next {
  return async () => {
    throw errors.shift()!
  }
}

test('an error from inside passes as it is, and is not the failure of the module', async () => {
  const first = badRequest('first')
  const entry = entryOf(async (call, next) => {
    const errors: unknown[] = []
    for (let n = 0; n < 2; n += 1) await next(call).catch((error) => errors.push(error))
    throw errors[0]
  }, 'closed')
  await expect(runAround(entry, call, failing(first, badRequest('second')))).rejects.toBe(first)
  expect(first.module).toBeUndefined()
  expect([entry.meter.errors, entry.meter.refusals]).toEqual([0, 0])
})

test('what a module that may fail breaks on leaves the answer that was there', async () => {
  const entry = entryOf(async (call, next) => {
    await next(call)
    throw new Error('broken')
  })
  expect(await runAround(entry, call, answers)).toBe(answer)
  expect(entry.meter.errors).toBe(1)
})

test('what it breaks on after it read some of a stream leaves the whole of the stream', async () => {
  const chunks = ['one', 'two', 'three'].map((content) =>
    Chunk.of({ choices: [{ index: 0, delta: { content } }] }),
  )
  let left = 0
  async function* source(): AsyncGenerator<readonly Chunk[]> {
    try {
      for (const chunk of chunks) yield [chunk]
    } finally {
      left += 1
    }
  }
  for (const enough of [0, 1, 2, 9]) {
    const entry = entryOf(async (call, next) => {
      const reply = await next(call)
      let seen = 0
      if (reply.kind === 'stream' && enough > 0)
        for await (const _ of reply.chunks) if (++seen === enough) break
      throw new Error('broken')
    })
    const reply = await runAround(entry, call, async () => new StreamReply('', source()))
    const came: Chunk[] = []
    if (reply.kind === 'stream') for await (const batch of reply.chunks) came.push(...batch)
    expect(came).toEqual(chunks)
  }
  expect(left).toBe(4)
})

test('an answer that was left is let go of when another is asked for, or when the module is done', async () => {
  const left: number[] = []
  async function* source(n: number): AsyncGenerator<readonly Chunk[]> {
    try {
      for (;;) yield [Chunk.of({ choices: [] })]
    } finally {
      left.push(n)
    }
  }
  let asked = 0
  const inside: Next = async () => {
    asked += 1
    return new StreamReply('', source(asked))
  }
  const entry = entryOf(async (call, next) => {
    for (let n = 0; n < 2; n += 1) {
      const reply = await next(call)
      if (reply.kind === 'stream') for await (const _ of reply.chunks) break
    }
    return answer
  })
  expect(await runAround(entry, call, inside)).toBe(answer)
  await expect.poll(() => left).toEqual([1, 2])
})

test('what it breaks on while an answer is on its way waits for that answer, and asks for no other', async () => {
  let asked = 0
  const slow: Next = async () => {
    asked += 1
    await new Promise((resolve) => setTimeout(resolve, 20))
    return answer
  }
  const entry = entryOf(async (call, next) => {
    void next(call)
    throw new Error('broken')
  })
  expect(await runAround(entry, call, slow)).toBe(answer)
  expect(asked).toBe(1)
})

test('what a module that may fail breaks on before it went inside is passed over', async () => {
  const entry = entryOf(async () => {
    throw new Error('broken')
  })
  expect(await runAround(entry, call, answers)).toBe(answer)
})

test('what it breaks on after a failure inside leaves that failure', async () => {
  const inside = badRequest('inside')
  const entry = entryOf(async (call, next) => {
    await next(call).catch(() => {})
    throw new Error('broken')
  })
  await expect(runAround(entry, call, failing(inside))).rejects.toBe(inside)
})

test('a module that must not fail refuses the call when it does', async () => {
  const entry = entryOf(async () => {
    throw new Error('broken')
  }, 'closed')
  await expect(runAround(entry, call, answers)).rejects.toMatchObject({
    code: 'internal_error',
    module: 'test',
  })
})

test('a refusal of its own goes out in the name of the module', async () => {
  const entry = entryOf(async () => {
    throw badRequest('no')
  })
  const error = (await runAround(entry, call, answers).catch((reason: unknown) => reason)) as GatewayError
  expect(error).toMatchObject({ code: 'bad_request', module: 'test' })
  expect(entry.meter.refusals).toBe(1)
})

test('a stream that it broke on is let go of when its reader leaves, and a whole answer needs no letting go', async () => {
  let left = 0
  async function* source(): AsyncGenerator<readonly Chunk[]> {
    try {
      for (;;) yield [Chunk.of({ choices: [] })]
    } finally {
      left += 1
    }
  }
  const breaking = entryOf(async (call, next) => {
    const reply = await next(call)
    if (reply.kind === 'stream') for await (const _ of reply.chunks) break
    throw new Error('broken')
  })
  const reply = await runAround(breaking, call, async () => new StreamReply('', source()))
  if (reply.kind === 'stream') for await (const _ of reply.chunks) break
  expect(left).toBe(1)
})

test('a stream that it gives back as it came is read from its source, and let go of once', async () => {
  const ended: string[] = []
  const chunks: AsyncIterable<readonly Chunk[]> = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false, value: [Chunk.of({ choices: [] })] }),
      async return() {
        ended.push('left')
        return { done: true, value: undefined }
      },
    }),
  }
  const passing = entryOf((call, next) => next(call))
  const reply = await runAround(passing, call, async () => new StreamReply('', chunks))
  if (reply.kind === 'stream') for await (const _ of reply.chunks) break
  expect(ended).toEqual(['left'])
})
