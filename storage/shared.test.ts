import { MessageChannel } from 'node:worker_threads'
import { describe } from 'vitest'
import { storeConformance } from './conformance.ts'
import type { Engine } from './index.ts'
import { openLevel } from './level.ts'
import { openShared, shareEngine } from './shared.ts'

/** An engine at the other end of a port. */
async function openFar(folder: string): Promise<Engine> {
  const engine = await openLevel(folder)
  const { port1, port2 } = new MessageChannel()
  const served = shareEngine(engine).serve(port1)
  const shared = openShared(port2)
  let closed: Promise<void> | undefined
  return {
    ...shared,
    close() {
      closed ??= shared
        .close()
        .then(() => served)
        .then(() => engine.close())
      return closed
    },
  }
}

describe('the level engine at the other end of a port', () => {
  storeConformance(openFar)
})
