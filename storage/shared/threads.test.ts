import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { collect } from '../conformance/harness.ts'
import type { Engine } from '../index.ts'
import { openLevel } from '../level.ts'
import { shareEngine } from '../shared.ts'
import { Counter, Entry } from './threads-parts.ts'

/** A thread that does one thing after another with the store of this one. */
class Thread {
  readonly #worker: Worker
  readonly ended: Promise<unknown>

  constructor(name: string, port: MessageChannel['port1']) {
    this.#worker = new Worker(new URL('./threads-child.ts', import.meta.url), {
      workerData: { name, port },
      transferList: [port],
    })
    this.#worker.on('error', () => {})
    this.ended = new Promise((resolve) => this.#worker.once('exit', resolve))
  }

  do(job: string, times = 1): Promise<unknown> {
    const answer = new Promise((resolve) => this.#worker.once('message', resolve))
    this.#worker.postMessage({ job, times })
    return answer.then((said) => (said as { value?: unknown }).value)
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }
}

interface Fixture {
  readonly engine: Engine
  readonly threads: readonly [Thread, Thread]
  /** Resolves when what the threads had open is given back. */
  readonly served: readonly Promise<void>[]
}

async function withThreads(run: (fixture: Fixture) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'store-'))
  const engine = await openLevel(folder)
  const shared = shareEngine(engine)
  const served: Promise<void>[] = []
  const start = (name: string): Thread => {
    const { port1, port2 } = new MessageChannel()
    served.push(shared.serve(port1))
    return new Thread(name, port2)
  }
  const threads = [start('a'), start('b')] as const
  try {
    await run({ engine, threads, served })
  } finally {
    await Promise.all(threads.map((thread) => thread.end()))
    await engine.close()
    await rm(folder, { recursive: true })
  }
}

test('updates of one row from two threads are all there', () =>
  withThreads(async ({ engine, threads }) => {
    await Promise.all(threads.map((thread) => thread.do('add', 200)))
    expect(await engine.collection('rows', { schema: Counter }).get('one')).toEqual({ n: 400 })
  }))

test('transactions of two threads at the same rows are all there, each as a whole', () =>
  withThreads(async ({ engine, threads: [a, b] }) => {
    await Promise.all([a.do('move', 60), b.do('move', 60)])
    const rows = engine.collection('rows', { schema: Counter })
    expect([await rows.get('giver'), await rows.get('taker')]).toEqual([{ n: -120 }, { n: 120 }])
    expect(await engine.namespace('deep').collection('moves', { schema: Counter }).count()).toBe(120)
    const entries = await collect(engine.sequence('moved', Entry).scan())
    expect(entries).toEqual(Array.from({ length: 120 }, (_, n) => ({ seq: n + 1, after: n })))
  }))

test('a sequence that two threads append to has no gap and no fork', () =>
  withThreads(async ({ engine, threads }) => {
    await Promise.all(threads.map((thread) => thread.do('append', 150)))
    const entries = await collect(engine.sequence('ledger', Entry).scan())
    expect(entries).toEqual(Array.from({ length: 300 }, (_, n) => ({ seq: n + 1, after: n })))
  }))

test('a listing has the rows of all threads, also those that wait in another one', () =>
  withThreads(async ({ threads: [a, b] }) => {
    await Promise.all([a.do('log', 30), b.do('log', 40)])
    expect(await a.do('list')).toMatchObject({ total: 70 })
    await b.do('log', 5)
    expect(await a.do('list')).toMatchObject({ total: 75 })
  }))

test('counters have the sum of what all threads added, in each of them', () =>
  withThreads(async ({ engine, threads: [a, b] }) => {
    await Promise.all([a.do('counted'), b.do('counted')])
    await Promise.all([a.do('count', 1000), b.do('count', 500)])
    await expect.poll(() => a.do('counted')).toBe(1500)
    await expect.poll(() => b.do('counted')).toBe(1500)
    expect((await engine.counters('counters')).get('calls')).toBe(1500)
  }))

test('a write is acknowledged when those who watch in other threads have done with it', () =>
  withThreads(async ({ threads: [a, b] }) => {
    await b.do('watch')
    await a.do('add', 3)
    expect(await b.do('heard')).toEqual([1, 2, 3].map((n) => ({ id: 'one', row: { n } })))
  }))

test('a thread that dies leaves the others alone, and gives back what it had open', () =>
  withThreads(async ({ threads: [a, b], served }) => {
    await Promise.all([a.do('watch'), a.do('log', 5), a.do('counted'), b.do('add', 10)])
    void a.do('scanForEver')
    await a.do('throwNow')
    await a.ended
    await served[0]
    await b.do('add', 10)
    expect(await b.do('open')).toBeGreaterThanOrEqual(1)
    await b.do('log', 3)
    expect(await b.do('list')).toMatchObject({ total: 3 })
    await b.do('count', 2)
    expect(await b.do('counted')).toBe(2)
    expect(await b.do('close')).toBeUndefined()
    await served[1]
  }))
