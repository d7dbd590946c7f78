import type { Call } from '../kernel/call/call.ts'
import { type Reply, StreamReply, WholeReply } from '../kernel/call/reply.ts'
import { runAround } from '../kernel/chain/around.ts'
import type { Entry } from '../kernel/chain/entry.ts'
import { inspectRequest } from '../kernel/chain/inspect.ts'
import { rewriteReply } from '../kernel/chain/rewrite.ts'
import { Chunk } from '../kit/canonical/chunk.ts'
import { over } from '../kit/work/cancel.ts'
import { callWith } from '../test/chain.ts'
import { writeDropins } from '../test/dropins.ts'
import { startGateway } from '../test/harness.ts'

/**
 * What a module in a worker costs: CPU of the whole process, all threads together, and the time until it has answered,
 * for a request, for a batch of a stream, for an `around` that passes an answer on, and for a batch of a stream that an
 * `around` reads; in the process and in a worker, one at a time and sixteen.
 */
const warmUp = 2_000
const rounds = 10_000
const batches = 50

const { folder, remove } = await writeDropins({
  tap: {
    setup: `return { async around(call, next) {
      const reply = await next(call)
      if (reply.kind === 'whole') return reply
      return reply.through((async function* () {
        for await (const batch of reply.chunks) yield batch
      })())
    } }`,
  },
})
const gateway = await startGateway({ config: { plugin_dirs: [folder] } })
for (const isolation of ['inproc', 'worker'] as const) {
  const limits = await running('outputcap', isolation, { default_max_tokens: 100_000 })
  const tap = await running('tap', isolation)
  for (const at of [1, 16]) {
    const measured = (what: string, run: () => Promise<void>, parts = 1): Promise<void> =>
      report(`${what}, ${isolation}, ${at} at a time`, at, rounds / parts, run, parts)
    await measured('request', () =>
      during(async (call) => void (await inspectRequest(limits, call, () => []))),
    )
    await measured('batch of a stream', () => during((call) => streamed(limits, call)), batches)
    await measured('around', () => during(async (call) => void (await runAround(tap, call, answered))))
    await measured('batch through an around', () => during((call) => readAround(tap, call)), batches)
  }
}
await gateway.close()
await remove()

async function report(
  name: string,
  at: number,
  count: number,
  run: () => Promise<void>,
  parts = 1,
): Promise<void> {
  await repeat(warmUp / parts, at, run)
  const cpu = process.cpuUsage()
  const started = performance.now()
  await repeat(count, at, run)
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  const perPart = (us: number): string => (us / count / parts).toFixed(1)
  console.log(
    `${name.padEnd(44)} ${perPart(user + system)} µs CPU, ${perPart(ms * 1000 * at)} µs until answered`,
  )
}

async function repeat(count: number, at: number, run: () => Promise<void>): Promise<void> {
  let left = count
  const one = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      await run()
    }
  }
  await Promise.all(Array.from({ length: at }, one))
}

async function running(id: string, isolation: 'inproc' | 'worker', config = {}): Promise<Entry> {
  await gateway.kernel.registry.change(id, { enabled: true, isolation, config })
  return gateway.kernel.registry.generation.entries.find((one) => one.id === id)!
}

async function during(run: (call: Call) => Promise<void>): Promise<void> {
  const call = callOf()
  await run(call)
  call.cancel.abort(over)
}

async function streamed(entry: Entry, call: Call): Promise<void> {
  await inspectRequest(entry, call, () => [])
  await read(await rewriteReply(new StreamReply('', chunks()), [entry], call))
}

async function readAround(entry: Entry, call: Call): Promise<void> {
  await read(await runAround(entry, call, async () => new StreamReply('', chunks())))
}

async function answered(): Promise<Reply> {
  const message = { role: 'assistant', content: 'Yes.' } as const
  return WholeReply.of({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
}

async function read(reply: Reply): Promise<void> {
  if (reply.kind === 'stream') for await (const _ of reply.chunks);
}

async function* chunks(): AsyncGenerator<readonly Chunk[]> {
  for (let n = 0; n < batches; n += 1)
    yield [Chunk.of({ choices: [{ index: 0, delta: { content: `word${n} ` }, finish_reason: null }] })]
}

function callOf(): Call {
  return callWith(
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me of the sea. '.repeat(40) }] },
    { id: `tr_${Math.random()}`, context: { headers: { 'user-agent': 'bench', accept: '*/*' } } },
  )
}
