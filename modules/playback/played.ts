import { type Call, type Chunk, type Reply, StreamReply, WholeReply } from '#kernel'
import { pause } from '#kit'
import { type Due, scheduled } from './pace.ts'
import type { Recording } from './recording.ts'

/** Gives a recorded answer to a call, in the form that the call asks for: at the pace of the recording, or at once. */
export async function played(
  call: Call,
  { answer, steps }: Recording,
  pace: 'recorded' | 'none',
): Promise<Reply> {
  const until = awaiting(call, pace)
  if (!call.stream) {
    await until(steps.at(-1)?.[0] ?? 0)
    return WholeReply.of(answer)
  }
  const chunks = scheduled(answer, steps)
  await until(chunks[0]?.ms ?? 0)
  return new StreamReply('', inTime(chunks, until))
}

/** Waits until so many milliseconds have passed since now; rejects when the call ends before. */
function awaiting({ cancel }: Call, pace: 'recorded' | 'none'): (ms: number) => Promise<void> | undefined {
  const began = performance.now()
  return (ms) => {
    const rest = began + ms - performance.now()
    return pace === 'none' || rest <= 0 ? undefined : pause(rest, cancel)
  }
}

async function* inTime(
  chunks: readonly Due[],
  until: (ms: number) => Promise<void> | undefined,
): AsyncGenerator<readonly Chunk[]> {
  for (const { chunk, ms } of chunks) {
    await until(ms)
    yield [chunk]
  }
}
