import path from 'node:path'
import { z } from 'zod'
import { type Context, kernelServices, Ledger, Sealing, Signing } from '#kernel'
import { enterChanges } from './audit.ts'
import { Chain } from './chain.ts'
import { type Checkpoint, CheckpointFile } from './checkpoint-file.ts'
import { Checkpoints } from './checkpoints.ts'
import { Listing } from './listing.ts'
import { addProofRoutes } from './proof-routes.ts'
import { addLedgerRoutes } from './routes.ts'
import { Verifier } from './verify.ts'

const tickMs = 10_000
const minuteMs = 60_000
const postMs = 10_000
/** Entries that are indexed in a tick, so that it takes a hundredth of a core at the most. */
const indexedInTick = 10_000

export const ledgerSettings = {
  checkpoint_file: z
    .string()
    .max(1000)
    .regex(/\.jsonl$/, 'must end with .jsonl')
    .optional()
    .meta({
      title: 'File of checkpoints',
      description:
        'Where signed checkpoints of the ledger are added; ledger-checkpoints.jsonl of the data folder without it.',
    }),
  checkpoint_url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      title: 'Address for checkpoints',
      description: 'Each checkpoint is posted here as JSON, to be kept by others.',
    }),
  checkpoint_entries: z.int().min(1).max(1_000_000).default(1000).meta({
    title: 'Entries between checkpoints',
    description: 'A checkpoint is made after so many entries; at most one in ten seconds.',
  }),
  checkpoint_minutes: z.int().min(1).max(10_080).default(60).meta({
    title: 'Minutes between checkpoints',
    description: 'A checkpoint is made after so long if there are new entries.',
  }),
}

type Settings = z.infer<z.ZodObject<typeof ledgerSettings>>

/** The ledger: returns it, offers it to other plugins, enters changes, and shows and proves it to admins. */
export function keepLedger(context: Context<Settings>): Chain {
  const { store, use, own, provide, every, settings, log, post } = context
  const chain = new Chain(store, () => use(Sealing))
  own(() => chain.close())
  provide(Ledger, chain)

  const { checkpoint_file, checkpoint_url: url, checkpoint_entries: entries, checkpoint_minutes } = settings
  const { dataDir } = use(kernelServices.config)
  const publish = async (checkpoint: Checkpoint): Promise<void> => {
    const { status } = await post(url!, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(checkpoint),
      timeoutMs: postMs,
    })
    if (status < 200 || status > 299) throw new Error(`it was answered with ${status}`)
  }
  const checkpoints = new Checkpoints({
    segments: chain.segments,
    flush: () => chain.flush(),
    file: new CheckpointFile(path.resolve(dataDir, checkpoint_file ?? 'ledger-checkpoints.jsonl')),
    signing: () => use(Signing),
    post: url === undefined ? undefined : publish,
    log,
  })
  const listing = new Listing(store, chain.segments)
  const verifier = new Verifier({ segments: chain.segments, checkpoints, signing: () => use(Signing) })

  enterChanges(context, chain)
  every(tickMs, () => checkpoints.makeDue({ entries, ms: checkpoint_minutes * minuteMs }))
  every(tickMs, () => listing.catchUp(indexedInTick))
  addLedgerRoutes(context, { chain, listing, checkpoints })
  addProofRoutes(context, verifier, checkpoints)
  return chain
}
