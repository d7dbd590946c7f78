import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { openShared } from '../shared.ts'
import { Counter, Entry, next, rowOptions } from './threads-parts.ts'

/** A thread that uses a store without having it; it carries out commands, and reports their results. */
const { name, port } = workerData as { name: string; port: MessagePort }
const engine = openShared(port)
const collection = engine.collection('rows', { schema: Counter })
const heard: unknown[] = []

const jobs: Record<string, (times: number) => Promise<unknown>> = {
  async add(times) {
    const add = () => collection.update('one', (row) => ({ n: (row?.n ?? 0) + 1 }))
    await Promise.all(Array.from({ length: times }, add))
  },
  async move(times) {
    const moves = engine.namespace('deep').collection('moves', { schema: Counter })
    const ledger = engine.sequence('moved', Entry)
    const move = (n: number) =>
      engine.transaction((tx) => {
        tx.update(collection, 'giver', (row) => ({ n: (row?.n ?? 0) - 1 }))
        tx.update(collection, 'taker', (row) => ({ n: (row?.n ?? 0) + 1 }))
        tx.create(moves, `${name}${n}`, { n })
        tx.append(ledger, next)
      })
    await Promise.all(Array.from({ length: times }, (_, n) => move(n)))
  },
  async append(times) {
    const ledger = engine.sequence('ledger', Entry)
    await Promise.all(Array.from({ length: times }, () => ledger.append(next)))
  },
  async log(times) {
    const log = engine.log('calls', rowOptions)
    for (let n = 0; n < times; n++) log.append({ id: `${name}${n}`, by: name })
  },
  async list() {
    return engine.log('calls', rowOptions).list({ where: { by: ['a', 'b'] } })
  },
  async count(times) {
    const counters = await engine.counters('counters')
    for (let n = 0; n < times; n++) counters.add('calls', 1)
  },
  async counted() {
    return (await engine.counters('counters')).get('calls')
  },
  async watch() {
    collection.watch(async (change) => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      heard.push(change)
    })
    await collection.get('one')
  },
  heard: async () => heard,
  async scanForEver() {
    for (;;) for await (const _ of collection.scan()) await collection.put(name, { n: 1 })
  },
  async throwNow() {
    setImmediate(() => {
      throw new Error('this thread dies')
    })
  },
  async open() {
    return z.array(z.unknown()).parse((await collection.list()).items).length
  },
  close: () => engine.close(),
}

parentPort!.on('message', async ({ job, times }: { job: string; times: number }) => {
  const answer = await jobs[job]!(times).then(
    (value) => ({ value }),
    (error: Error) => ({ error: error.message }),
  )
  parentPort!.postMessage(answer)
})
