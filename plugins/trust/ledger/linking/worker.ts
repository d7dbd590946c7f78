import { parentPort } from 'node:worker_threads'
import { RpcPort } from '#kit'
import { link } from './link.ts'
import type { LinkingMethods } from './methods.ts'

/** The thread in which hashes of many entries are made. */
new RpcPort<Record<never, never>, LinkingMethods>(parentPort!, {
  link: ({ drafts, end }) => link(drafts, end),
})
