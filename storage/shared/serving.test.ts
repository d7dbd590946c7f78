import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { expect, test, vi } from 'vitest'
import { withEngine } from '../conformance/harness.ts'
import { openLevel } from '../level.ts'
import { openShared, shareEngine } from '../shared.ts'
import { withEnds } from './ends-parts.ts'
import { Counter, Entry, next, rowOptions } from './threads-parts.ts'

test('a thread that closes its end writes what waits there, once, and is served no more', () =>
  withEngine(openLevel, async ({ engine }) => {
    const { port1, port2 } = new MessageChannel()
    const served = shareEngine(engine).serve(port1)
    const far = openShared(port2)
    expect(far.name).toBe('shared')
    const rows = far.collection('rows', { schema: Counter })
    far.log('calls', rowOptions).append({ id: '1', by: 'far' })
    const closed = far.close()
    expect(far.close()).toBe(closed)
    await closed
    await served
    await expect(rows.get('one')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect((await engine.log('calls', rowOptions).list()).items).toEqual([{ id: '1', by: 'far' }])
  }))

test('the thread that has the store uses it as the others do', () =>
  withEngine(openLevel, async ({ engine }) => {
    const here = shareEngine(engine).open()
    await here.collection('rows', { schema: Counter }).put('one', { n: 1 })
    expect(await engine.contents('')).toEqual([{ kind: 'collection', path: 'rows', entries: 1 }])
    await here.close()
  }))

test('a copy that a thread asks for has what waits in the others', () =>
  withEnds(async (a, b, { folder }) => {
    a.log('calls', rowOptions).append({ id: '1', by: 'a' })
    const at = path.join(folder, 'copy')
    await b.copyTo(at)
    const copy = await openLevel(at)
    expect((await copy.log('calls', rowOptions).list()).total).toBe(1)
    await copy.close()
  }))

test('what a thread has flushed is written by all threads', () =>
  withEnds(async (a, b, { engine }) => {
    const theirs = a.namespace('x').namespace('y').sequence('ledger', Entry)
    await theirs.append(next)
    theirs.queue(next)
    await b.namespace('x').namespace('y').flush()
    expect(await engine.contents('')).toEqual([{ kind: 'sequence', path: 'x/y/ledger', entries: 2 }])
  }))

test('the store is compacted for any thread', () =>
  withEnds(async (a, _, { engine }) => {
    const compact = vi.spyOn(engine, 'compact')
    expect(await a.compact()).toBeUndefined()
    expect(compact).toHaveBeenCalledOnce()
  }))
