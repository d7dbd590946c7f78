import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import type { Engine } from '../index.ts'
import { openLevel } from '../level.ts'
import { openShared, type SharedOptions, shareEngine } from '../shared.ts'

/** Two engines on one store, both in this thread; `store` is the store itself. */
export async function withEnds(
  run: (a: Engine, b: Engine, store: { engine: Engine; folder: string }) => Promise<void>,
  options?: SharedOptions,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'store-'))
  const engine = await openLevel(folder)
  const shared = shareEngine(engine)
  const open = (): Engine => {
    const { port1, port2 } = new MessageChannel()
    void shared.serve(port1)
    return openShared(port2, options)
  }
  const [a, b] = [open(), open()]
  try {
    await run(a, b, { engine, folder })
  } finally {
    await Promise.all([a.close(), b.close()])
    await engine.close()
    await rm(folder, { recursive: true })
  }
}
