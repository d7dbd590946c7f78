import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from '../index.ts'

export type OpenEngine = (folder: string) => Promise<Engine>

/** An engine in a folder of its own. `reopen` closes it and opens the same folder again. */
export interface Fixture {
  readonly engine: Engine
  readonly folder: string
  reopen(): Promise<Engine>
}

/** Runs a test with an engine that is closed, and whose folder is gone, when the test is over. */
export async function withEngine(open: OpenEngine, test: (fixture: Fixture) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'store-'))
  let engine = await open(folder)
  try {
    await test({
      engine,
      folder,
      async reopen() {
        await engine.close()
        engine = await open(folder)
        return engine
      },
    })
  } finally {
    await engine.close()
    await rm(folder, { recursive: true })
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

/** Text in the order of its UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
