import { Call } from '../kernel/call/call.ts'
import { over } from '../kernel/call/cancel.ts'
import { StreamReply } from '../kernel/call/reply.ts'
import type { Entry } from '../kernel/chain/entry.ts'
import { inspected } from '../kernel/chain/inspect.ts'
import { rewritten } from '../kernel/chain/rewrite.ts'
import { Chunk } from '../kernel/stream/chunk.ts'
import { startGateway } from '../test/harness.ts'

/**
 * What a module in a worker costs: CPU of the whole process, all threads together, and the time until it has answered,
 * for a request and for a batch of a stream, in the process and in a worker, one at a time and sixteen.
 */
const warmUp = 2_000
const rounds = 10_000
const batches = 50
const id = 'outputcap'

const gateway = await startGateway()
for (const isolation of ['inproc', 'worker'] as const) {
  await gateway.kernel.registry.change(id, {
    enabled: true,
    isolation,
    config: { default_max_tokens: 100_000 },
  })
  const entry = gateway.kernel.registry.generation.entries.find((one) => one.id === id)!
  for (const at of [1, 16]) {
    await report(`request, ${isolation}, ${at} at a time`, at, rounds, async () => {
      const call = callOf()
      await inspected(entry, call, () => [])
      call.cancel.abort(over)
    })
    const perStream = `batch of a stream, ${isolation}, ${at} at a time`
    await report(perStream, at, rounds / batches, () => streamed(entry), batches)
  }
}
await gateway.close()

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

async function streamed(entry: Entry): Promise<void> {
  const call = callOf()
  await inspected(entry, call, () => [])
  const reply = await rewritten(new StreamReply('', chunks()), [entry], call)
  if (reply.kind === 'stream') for await (const _ of reply.chunks);
  call.cancel.abort(over)
}

async function* chunks(): AsyncGenerator<readonly Chunk[]> {
  for (let n = 0; n < batches; n += 1)
    yield [Chunk.of({ choices: [{ index: 0, delta: { content: `word${n} ` }, finish_reason: null }] })]
}

function callOf(): Call {
  return new Call({
    id: `tr_${Math.random()}`,
    operation: 'chat',
    wire: 'chat',
    principal: { type: 'user', keyId: 'key_1', userId: 'usr_1', plan: 'free' },
    request: {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Tell me of the sea. '.repeat(40) }],
    },
    context: {
      project: 'default',
      tags: {},
      sessionId: undefined,
      ip: '127.0.0.1',
      provider: undefined,
      headers: { 'user-agent': 'bench', accept: '*/*' },
      source: 'proxy',
      generation: 1,
    },
  })
}
