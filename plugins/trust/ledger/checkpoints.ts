import { conflict, type Log, type Signing } from '#kernel'
import { canonicalJson } from '#kit'
import type { Checkpoint, CheckpointFile } from './checkpoint-file.ts'
import type { Segments } from './segments.ts'

/** When a checkpoint is due by itself. */
export interface Schedule {
  readonly entries: number
  readonly ms: number
}

interface CheckpointParts {
  readonly segments: Segments
  /** Resolves when all that the segments have is fsynced. */
  readonly flush: () => Promise<void>
  readonly file: CheckpointFile
  readonly signing: () => Signing
  /** Sends it to another place, where there is one; rejects when it did not arrive. */
  readonly post: ((checkpoint: Checkpoint) => Promise<void>) | undefined
  readonly log: Log
}

/** What a signature of a checkpoint is made of. */
export const signedBytes = ({
  created_at,
  head_hash,
  ledger,
  seq,
}: Omit<Checkpoint, 'key_id' | 'signature'>) =>
  Buffer.from(canonicalJson({ created_at, head_hash, ledger, seq }))

/** Makes checkpoints: signed statements of where the chain was, kept outside of it. */
export class Checkpoints {
  readonly #parts: CheckpointParts
  #turn: Promise<unknown> = Promise.resolve()
  /** The last one that has not arrived at the other place. */
  #unposted: Checkpoint | undefined

  constructor(parts: CheckpointParts) {
    this.#parts = parts
  }

  all(): Promise<Checkpoint[]> {
    return this.#parts.file.read()
  }

  /** One of the end of the ledger; the last one again while nothing has come since. Refuses an empty ledger with a conflict. */
  make(): Promise<Checkpoint> {
    return this.#inTurn(async () => {
      const checkpoint = await this.#madeSince(await this.#parts.file.last())
      if (!checkpoint) throw conflict('The ledger is empty: there is nothing to make a checkpoint of.')
      return checkpoint
    })
  }

  /** Makes one if it is due, and posts what has not arrived yet. */
  async makeDue({ entries, ms }: Schedule): Promise<void> {
    await this.#inTurn(async () => {
      const last = await this.#parts.file.last()
      const { seq } = await this.#parts.segments.head()
      const since = seq - (last?.seq ?? 0)
      const isDue =
        since >= entries || (since > 0 && Date.now() - Date.parse(last?.created_at ?? '1970') >= ms)
      if (isDue) await this.#madeSince(last)
      else if (this.#unposted) await this.#post(this.#unposted)
    })
  }

  async #madeSince(last: Checkpoint | undefined): Promise<Checkpoint | undefined> {
    const end = await this.#parts.segments.end()
    if (!end || end.hash === last?.head_hash) return last
    // What it states outlives the gateway: an entry that a power loss takes along would be one that was cut off.
    await this.#parts.flush()
    const { ledger, seq, hash: head_hash } = end
    const fields = { ledger, seq, head_hash, created_at: new Date().toISOString() }
    const checkpoint = { ...fields, ...(await this.#parts.signing().sign(signedBytes(fields))) }
    await this.#parts.file.add(checkpoint)
    await this.#post(checkpoint)
    return checkpoint
  }

  /** A later checkpoint stands for an earlier one, so only the last one is tried again. */
  async #post(checkpoint: Checkpoint): Promise<void> {
    const { post, log } = this.#parts
    if (!post) return
    try {
      await post(checkpoint)
      this.#unposted = undefined
    } catch (err) {
      this.#unposted = checkpoint
      log.warn(
        { err, seq: checkpoint.seq },
        'a checkpoint of the ledger could not be posted; it is tried again',
      )
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }
}
