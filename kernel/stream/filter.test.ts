import { describe, expect, test } from 'vitest'
import { Chunk } from '../../kit/canonical/chunk.ts'
import { badRequest, providerError } from '../../kit/errors.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'
import { type Filter, filterStream } from './filter.ts'

const chunk = (content: string): Chunk =>
  Chunk.of({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })

/** A source that knows whether it was closed. */
function source(...batches: string[][]) {
  const state = { closed: false, read: 0 }
  async function* run(): AsyncGenerator<readonly Chunk[]> {
    try {
      for (const batch of batches) {
        state.read += 1
        yield batch.map(chunk)
      }
    } finally {
      state.closed = true
    }
  }
  return { state, chunks: run() }
}

const textOf = (chunks: readonly Chunk[]): string[] =>
  chunks.map(({ data }) => data.choices[0]?.finish_reason ?? data.choices[0]?.delta?.content ?? '')

async function read(chunks: AsyncIterable<readonly Chunk[]>): Promise<string[]> {
  return textOf((await Array.fromAsync(chunks)).flat())
}

/** Holds one chunk back, and lets go of it at the end. */
class Delay implements Filter {
  #held: Chunk | undefined

  push(...[next, out]: Parameters<Filter['push']>): void {
    if (this.#held) out.emit(this.#held)
    this.#held = next
  }

  end(...[out]: Parameters<NonNullable<Filter['end']>>): void {
    if (this.#held) out.emit(this.#held)
  }
}

const at = (content: string, act: (...args: Parameters<Filter['push']>) => void): Filter => ({
  push(next, out) {
    if (next.data.choices[0]?.delta?.content === content) act(next, out)
    else out.emit(next)
  },
})

const fault = (): never => {
  throw new TypeError('a fault')
}

describe('filters', () => {
  test('run in order, over batches as they come, and let go of what they held at the end', async () => {
    const { chunks, state } = source(['a', 'b'], ['c'])
    const mark = (what: string): Filter => ({
      push: (next, out) => out.emit(chunk(`${next.data.choices[0]?.delta?.content}${what}`)),
    })
    expect(await read(filterStream(chunks, [mark('1'), new Delay(), mark('2')]))).toEqual([
      'a12',
      'b12',
      'c12',
    ])
    expect(state.closed).toBe(true)
  })

  test('may drop and multiply chunks, and never give an empty batch', async () => {
    const { chunks } = source(['a', 'b'], ['c'])
    const filter: Filter = {
      push(next, out) {
        if (next.data.choices[0]?.delta?.content === 'c') for (const what of ['x', 'y']) out.emit(chunk(what))
      },
    }
    const batches = await Array.fromAsync(filterStream(chunks, [filter]))
    expect(batches.map(textOf)).toEqual([['x', 'y']])
  })

  test('end the answer early: what comes after is not read, those further on let go of what they held', async () => {
    const { chunks, state } = source(['a', 'b', 'never'], ['never'])
    const cut = at('b', (next, out) => {
      out.emit(next)
      out.finish('length')
      out.emit(chunk('too late'))
    })
    expect(await read(filterStream(chunks, [cut, new Delay()]))).toEqual(['a', 'b', 'length'])
    expect(state).toEqual({ closed: true, read: 1 })
  })

  test('are told of the end, also those before the one that ended the answer; what they held is dropped', async () => {
    const { chunks } = source(['a', 'b', 'c'])
    const ended: string[] = []
    const before: Filter = { push: (next, out) => out.emit(next), end: () => void ended.push('before') }
    const cut = at('b', (_, out) => out.finish('length'))
    expect(await read(filterStream(chunks, [before, new Delay(), cut]))).toEqual(['a', 'length'])
    expect(ended).toEqual(['before'])
  })

  test('fail the answer after what has passed, and the source is closed', async () => {
    const { chunks, state } = source(['a', 'b'], ['never'])
    const refuse = at('b', (_, out) => out.fail(badRequest('no')))
    const seen: Chunk[] = []
    const reading = (async () => {
      for await (const batch of filterStream(chunks, [refuse])) seen.push(...batch)
    })()
    await expect(reading).rejects.toThrow('no')
    expect(textOf(seen)).toEqual(['a'])
    expect(state).toEqual({ closed: true, read: 1 })
  })

  test('can still fail an answer that one before them has ended', async () => {
    const { chunks } = source(['a', 'b'])
    const cut = at('b', (_, out) => out.finish('stop'))
    const late: Filter = {
      push: (next, out) => out.emit(next),
      end: (out) => out.fail(badRequest('held a secret')),
    }
    await expect(read(filterStream(chunks, [cut, late]))).rejects.toThrow('held a secret')
  })

  test('keep the first failure', async () => {
    const { chunks } = source(['a'])
    const first = at('a', (_, out) => out.fail(badRequest('first')))
    const late: Filter = { push: (next, out) => out.emit(next), end: (out) => out.fail(badRequest('second')) }
    await expect(read(filterStream(chunks, [late, first]))).rejects.toThrow('first')
  })

  test('pass on the failure of the source', async () => {
    async function* broken(): AsyncGenerator<readonly Chunk[]> {
      yield [chunk('a')]
      throw providerError('gone')
    }
    await expect(read(filterStream(broken(), [new Delay()]))).rejects.toThrow('gone')
  })

  test.each([
    ['in the middle', { push: () => fault() }],
    ['at the end', { push: (next, out) => out.emit(next), end: () => fault() }],
  ] satisfies [string, Filter][])('close the source when one of them throws %s', async (_, filter) => {
    const { chunks, state } = source(['a'], ['b'])
    const open = { returned: false }
    const watched = {
      [Symbol.asyncIterator]: () => ({
        next: () => chunks.next(),
        return: () => {
          open.returned = true
          return chunks.return(undefined)
        },
      }),
    }
    // Not by `Array.fromAsync`, which closes what fails.
    const reading = (async () => {
      for await (const _ of filterStream(watched, [filter]));
    })()
    await expect(reading).rejects.toThrow('a fault')
    expect([state.closed, open.returned]).toEqual([true, true])
  })

  test('close the source when the reader leaves', async () => {
    const { chunks, state } = source(['a'], ['b'])
    for await (const batch of filterStream(chunks, [])) {
      expect(textOf(batch)).toEqual(['a'])
      break
    }
    expect(state.closed).toBe(true)
  })
})

describe('a filter that ended the answer', () => {
  const finish = (...[, out]: Parameters<Filter['push']>): void => out.finish('stop')

  test('gets nothing more, also of what those before it let go of then', async () => {
    const seen: string[] = []
    const watching: Filter = {
      push(next, out) {
        seen.push(...textOf([next]))
        if (seen.at(-1) === 'x') out.finish('stop')
        else out.emit(next)
      },
    }
    const { chunks } = source(['a', 'x', 'b', 'c'], ['d'])
    expect(await read(filterStream(chunks, [new Delay(), watching]))).toEqual(['a', 'stop'])
    expect(seen).toEqual(['a', 'x'])
  })

  test('has those before it and after it ended once each', async () => {
    const ends = [0, 0, 0]
    const counting = (place: number): Filter => ({
      push: (next, out) => out.emit(next),
      end: () => {
        ends[place]! += 1
      },
    })
    const stopping = { ...at('x', finish), end: counting(1).end! }
    const { chunks } = source(['a', 'x', 'b'])
    expect(await read(filterStream(chunks, [counting(0), stopping, counting(2)]))).toEqual(['a', 'stop'])
    expect(ends).toEqual([1, 1, 1])
  })

  test('is not overruled by one before it that fails at its end', async () => {
    const failing: Filter = {
      push: (next, out) => out.emit(next),
      end: (out) => out.fail(badRequest('too late')),
    }
    const { chunks } = source(['a', 'x', 'b'])
    expect(await read(filterStream(chunks, [failing, at('x', finish)]))).toEqual(['a', 'stop'])
  })
})

test('who has left a stream gets nothing that filters still held', async () => {
  const { chunks, state } = source(['a', 'b'], ['c'])
  const filtered = filterStream(chunks, [new Delay()])[Symbol.asyncIterator]()
  expect(textOf((await filtered.next()).value!)).toEqual(['a'])
  await filtered.return!()
  expect(state.closed).toBe(true)
  expect(await filtered.next()).toEqual({ done: true, value: undefined })
})

test('a filter that emits what is no chunk is at fault', async () => {
  const odd: Filter = { push: (next, out) => out.emit({ data: next.data } as Chunk) }
  await expect(read(filterStream(source(['a']).chunks, [odd]))).rejects.toBeInstanceOf(HookFault)
})

test('a filter that finishes does so in the likeness of what it was handed last, and without that in none', async () => {
  const like = { id: 'c1', model: 'm', object: 'chat.completion.chunk' }
  async function* one(): AsyncGenerator<readonly Chunk[]> {
    yield [Chunk.of({ ...like, choices: [{ index: 0, delta: { content: 'a' } }] })]
  }
  const finishing = (): Filter => ({ push: (_, out) => out.finish('length') })
  const [chunk] = (await Array.fromAsync(filterStream(one(), [finishing()]))).flat()
  expect(chunk!.data).toEqual({ ...like, choices: [{ index: 0, delta: {}, finish_reason: 'length' }] })

  async function* none(): AsyncGenerator<readonly Chunk[]> {}
  const atEnd = (): Filter => ({ push: (next, out) => out.emit(next), end: (out) => out.finish('stop') })
  const [last] = (await Array.fromAsync(filterStream(none(), [atEnd()]))).flat()
  expect(last!.data.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'stop' }])
})
