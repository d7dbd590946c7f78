import { isGatewayError, type Signing } from '#kernel'
import type { Checkpoint } from './checkpoint-file.ts'
import { type Checkpoints, signedBytes } from './checkpoints.ts'
import { type End, idOf, noHash } from './end.ts'
import type { Segments } from './segments.ts'
import { Broken, beginning, entryAt, type Place, walk } from './walk.ts'

export interface Range {
  readonly from_seq?: number | undefined
  readonly to_seq?: number | undefined
  /** Reads also what this process has verified before. */
  readonly full?: boolean | undefined
}

export interface Verdict {
  readonly valid: boolean
  /** Entries of the range that are as they were written. */
  readonly events_checked: number
  /** Those of them that were read now; the others this process has verified before. */
  readonly events_read: number
  readonly first_seq: number | null
  readonly last_seq: number | null
  readonly head_hash: string
  readonly broken_at_id: string | null
  readonly broken_at_seq: number | null
  readonly reason: string | null
  readonly checkpoints_checked: number
  readonly verified_at: string
}

interface VerifyParts {
  readonly segments: Segments
  readonly checkpoints: Checkpoints
  readonly signing: () => Signing
}

/** Verifies the chain, and compares it with the checkpoints. */
export class Verifier {
  readonly #parts: VerifyParts
  /** The end of what was found good. It is in memory alone: after a restart, when files may be others, all is read again. */
  #good: Place = beginning
  /** Signatures of checkpoints up to there that were found good. */
  readonly #confirmed = new Set<string>()
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: VerifyParts) {
    this.#parts = parts
  }

  /** One at a time. */
  verify(range: Range): Promise<Verdict> {
    const turn = this.#turn.then(() => this.#verify(range))
    this.#turn = turn.catch(() => {})
    return turn
  }

  async #verify({ from_seq: first = 1, to_seq, full = false }: Range): Promise<Verdict> {
    if (full) this.#forget()
    const end = await this.#parts.segments.end()
    const last = Math.min(to_seq ?? end?.seq ?? 0, end?.seq ?? 0)
    let read = 0
    let compared = 0
    let broken: Broken | undefined
    try {
      const start = await this.#startOf(first)
      let place = start
      for await (const entry of walk(this.#parts.segments, start, last)) {
        place = entry
        read += 1
      }
      if (start === this.#good) this.#good = place
      const all = await this.#parts.checkpoints.all()
      // Some may be of what has come since the walk began.
      const now = await this.#parts.segments.end()
      const within = all.filter(({ seq }) => seq >= first && seq <= (to_seq ?? seq))
      for (const checkpoint of within) await this.#compare(checkpoint, now)
      compared = within.length
    } catch (error) {
      broken = brokenBy(error)
      this.#forget()
    }
    const good = Math.min(last, (broken?.seq ?? last + 1) - 1)
    return {
      valid: broken === undefined,
      events_checked: Math.max(0, good - first + 1),
      events_read: read,
      first_seq: first <= last ? first : null,
      last_seq: first <= last ? last : null,
      head_hash: end?.hash ?? noHash,
      broken_at_id: broken && end ? idOf(end.ledger, broken.seq) : null,
      broken_at_seq: broken?.seq ?? null,
      reason: broken?.message ?? null,
      checkpoints_checked: compared,
      verified_at: new Date().toISOString(),
    }
  }

  #forget(): void {
    this.#good = beginning
    this.#confirmed.clear()
  }

  /** The end of what was found good if the range goes on from there, else the entry before the range. */
  async #startOf(first: number): Promise<Place> {
    const { segments } = this.#parts
    if (first > this.#good.seq + 1) return (await entryAt(segments, first - 1)) ?? beginning
    const known = this.#good.seq > 0 ? await entryAt(segments, this.#good.seq) : undefined
    if (known?.hash !== this.#good.hash) this.#forget()
    return this.#good
  }

  async #compare(checkpoint: Checkpoint, end: End | undefined): Promise<void> {
    const { signing, segments } = this.#parts
    const { ledger, seq, head_hash, created_at, key_id, signature } = checkpoint
    if (this.#confirmed.has(signature)) return
    if (!(await signing().verify(signedBytes(checkpoint), { key_id, signature })))
      throw new Broken(seq, 'The checkpoint of this entry is not signed by a key of this gateway.')
    if (end && ledger !== end.ledger)
      throw new Broken(1, `The ledger was replaced: a checkpoint of ${created_at} is of another, ${ledger}.`)
    if (seq > (end?.seq ?? 0))
      throw new Broken(
        (end?.seq ?? 0) + 1,
        `The end was cut off: a checkpoint of ${created_at} confirms entry ${seq}, and the ledger ends before it.`,
      )
    if ((await entryAt(segments, seq))?.hash !== head_hash)
      throw new Broken(seq, `This entry was replaced: a checkpoint of ${created_at} confirms another hash.`)
    this.#confirmed.add(signature)
  }
}

function brokenBy(error: unknown): Broken {
  if (error instanceof Broken) return error
  // The file of checkpoints is not what it was.
  if (isGatewayError(error)) return new Broken(1, error.message)
  throw error
}
