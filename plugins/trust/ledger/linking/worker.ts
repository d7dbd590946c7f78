import { parentPort } from 'node:worker_threads'
import { RpcPort } from '#kit'
import { ByteWriter } from '../byte-writer.ts'
import { link } from './link.ts'
import type { LinkingMethods } from './methods.ts'

/** Where lines are made: new memory for each batch would have to be collected. */
const lines = new ByteWriter(384 * 1024)

/** The thread in which hashes of many entries are made. */
new RpcPort<Record<never, never>, LinkingMethods>(parentPort!, {
  link: ({ drafts, end }) => link(drafts, end, lines),
})
