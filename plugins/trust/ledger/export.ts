import type { SigningKey } from '#kernel'
import type { Checkpoint } from './checkpoint-file.ts'
import type { Segments } from './segments.ts'

interface ExportParts {
  readonly segments: Segments
  readonly checkpoints: readonly Checkpoint[]
  readonly keys: readonly SigningKey[]
  readonly from: number
  readonly to: number
}

/** Bytes that are sent at a time. */
const partBytes = 65_536

/**
 * Entries with their checkpoints as JSON lines: first `{"export": …}` with the public keys, then `{"entry": …}` for each entry in their
 * order, then `{"checkpoint": …}` for each within.
 */
export async function* exported({
  segments,
  checkpoints,
  keys,
  from,
  to,
}: ExportParts): AsyncGenerator<Uint8Array> {
  const ledger = (await segments.end())?.ledger ?? null
  let text = lineOf({ export: { ledger, from_seq: from, to_seq: to, keys } })
  for await (const entry of segments.scan(from, to)) {
    text += lineOf({ entry })
    if (text.length < partBytes) continue
    yield Buffer.from(text)
    text = ''
  }
  for (const checkpoint of checkpoints)
    if (checkpoint.seq >= from && checkpoint.seq <= to) text += lineOf({ checkpoint })
  yield Buffer.from(text)
}

const lineOf = (line: object): string => `${JSON.stringify(line)}\n`
