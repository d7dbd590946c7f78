import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openLevel } from '../../storage/level.ts'
import { startGateway } from '../../test/harness.ts'
import { Owner, openJobs } from '../../test/jobs.ts'
import { writePlugin } from '../../test/plugin-folder.ts'

const settings = `const any = { safeParse: (data) => ({ success: true, data }), parse: (data) => data }`

/** Adds a job in its setup, which looks for what the other plugin offers. */
const early = `${settings}
export default {
  settings: any,
  setup(ctx) {
    const run = () => ctx.find(Symbol.for('switchyard:late')) ?? 'too early'
    const jobs = ctx.use(Symbol.for('switchyard:service:jobs')).define(ctx, 'look', { input: any, run })
    globalThis.lookAdded = jobs.add({}, { id: 'first' })
  },
}`

/** Takes as long as many writes in its setup, while the job could have begun after one. */
const late = `${settings}
export default {
  settings: any,
  async setup(ctx) {
    const rows = ctx.store.collection('rows', { schema: any })
    await globalThis.lookAdded
    for (let n = 0; n < 20; n += 1) await rows.put('row', { n })
    ctx.provide(Symbol.for('switchyard:late'), 'all stands ready')
  },
}`

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-jobs-live-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

test('a job that waits begins when every plugin stands ready, and not while the gateway starts', async () => {
  const folder = await newFolder()
  const plugins = [
    await writePlugin(folder, 'a-early', {
      manifest: { kind: 'area', requires: ['jobs'], permissions: ['service:jobs'] },
      files: { 'index.ts': early },
    }),
    await writePlugin(folder, 'b-late', {
      manifest: { kind: 'area', requires: ['a-early'], permissions: ['store'] },
      files: { 'index.ts': late },
    }),
  ]
  const gateway = await startGateway({ plugins })
  onTestFinished(async () => {
    await gateway.close()
    Reflect.deleteProperty(globalThis, 'lookAdded')
  })
  const job = async () => (await gateway.api('GET', '/api/jobs/a-early.look%3Afirst')).body
  await expect.poll(async () => (await job()).status).toBe('completed')
  expect((await job()).result).toBe('all stands ready')
})

test('what runs goes on until its successor is live, which then has all that waits', async () => {
  const engine = await openLevel(await newFolder())
  const { jobs, close } = await openJobs(engine)
  onTestFinished(async () => {
    await close()
    await engine.close()
  })
  const ran: string[] = []
  const define = (owner: Owner, name: string) =>
    jobs.define(owner, 'work', { input: z.string(), run: ({ input }) => void ran.push(`${name} ${input}`) })
  const next = new Owner('test', { isLive: false })
  const queue = define(new Owner(), 'old')
  define(next, 'new')
  await queue.add('1')
  await expect.poll(() => ran).toEqual(['old 1'])
  next.goLive()
  await queue.add('2')
  await expect.poll(() => ran).toEqual(['old 1', 'new 2'])
  const unborn = new Owner('test', { isLive: false })
  define(unborn, 'unborn')
  await unborn.release()
  await queue.add('3')
  await expect.poll(() => ran).toEqual(['old 1', 'new 2', 'new 3'])
})
